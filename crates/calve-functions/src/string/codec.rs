//! Texts and bytes in other notations: hexadecimal, base64, character sets, hashes, code points.

use std::fmt::Write as _;
use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryArray, BinaryBuilder};
use arrow::datatypes::{DataType as ArrowType, Int32Type, Int64Type};
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use calve_types::{DataType, Error, LogicalType, Value};
use datafusion_common::Result as DfResult;
use sha2::Digest;

use super::{build, check_batch, is_text, map, nullable, signature, types};
use crate::args::{Args, Values, failure, mistyped};
use crate::function::{Arg, Call, Inferred, Refusal, ScalarFunction, Signature};
use crate::operator::nullable_by;

pub(crate) static TABLE: &[ScalarFunction] = &[
    ScalarFunction::kernel("HEX", infer_hex, hex).forms(&["HEX(<INTEGER>)", "HEX(<CHARACTER>)"]),
    ScalarFunction::kernel("UNHEX", infer_unhex, unhex),
    ScalarFunction::kernel("BIN", infer_bin, bin).forms(&["BIN(<INTEGER>)"]),
    ScalarFunction::kernel("CHR", infer_chr, chr).forms(&["CHR(<INTEGER>)"]),
    ScalarFunction::kernel("TO_BASE64", infer_base64, to_base64).forms(&["TO_BASE64(<STRING>)"]),
    ScalarFunction::kernel("FROM_BASE64", infer_base64, from_base64).forms(&["FROM_BASE64(<STRING>)"]),
    ScalarFunction::kernel("ENCODE", infer_encode, encode).forms(&["ENCODE(<CHARACTER>, <CHARACTER>)"]),
    ScalarFunction::kernel("DECODE", infer_decode, decode).forms(&["DECODE(<BINARY>, <CHARACTER>)"]),
    ScalarFunction::kernel("MD5", infer_digest::<32>, digest::<md5::Md5>).forms(&["MD5(<STRING>)"]),
    ScalarFunction::kernel("SHA1", infer_digest::<40>, digest::<sha1::Sha1>).forms(&["SHA1(<STRING>)"]),
    ScalarFunction::kernel("SHA224", infer_digest::<56>, digest::<sha2::Sha224>).forms(&["SHA224(<STRING>)"]),
    ScalarFunction::kernel("SHA256", infer_digest::<64>, digest::<sha2::Sha256>).forms(&["SHA256(<STRING>)"]),
    ScalarFunction::kernel("SHA384", infer_digest::<96>, digest::<sha2::Sha384>).forms(&["SHA384(<STRING>)"]),
    ScalarFunction::kernel("SHA512", infer_digest::<128>, digest::<sha2::Sha512>).forms(&["SHA512(<STRING>)"]),
    ScalarFunction::kernel("SHA2", infer_sha2, sha2_of).forms(&["SHA2(<STRING>, <INTEGER>)"]),
];

/// Padding may be left out when decoding, as Java's decoder has it.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

fn infer_hex(args: &[Arg]) -> Inferred {
    let [value] = args else { return Err(Refusal::Count("1 arguments")) };
    let to = if value.logical().is_integer() {
        LogicalType::BigInt.with_nullable(value.data_type.nullable)
    } else if is_text(value) {
        value.data_type.clone()
    } else {
        return Err(Refusal::Types);
    };
    Ok(Signature { args: vec![to], returns: nullable_by(args, LogicalType::STRING) })
}

/// Integers as the 64 bits of a BIGINT; texts byte by byte.
fn hex(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    if args.raw(0)?.0.data_type() == &ArrowType::Int64 {
        let numbers = args.numbers::<Int64Type>(0)?;
        return build(args, |row, out| write!(out, "{:X}", numbers.get(row)?).ok());
    }
    map(args, |text, out| {
        for byte in text.bytes() {
            push_hex(byte, b"0123456789ABCDEF", out);
        }
    })
}

fn push_hex(byte: u8, digits: &[u8; 16], out: &mut String) {
    for nibble in [byte >> 4, byte & 15] {
        out.push(char::from(digits.get(usize::from(nibble)).copied().unwrap_or(b'0')));
    }
}

fn infer_unhex(args: &[Arg]) -> Inferred {
    if args.len() == 1 { nullable(signature(args, 1, LogicalType::BYTES)) } else { Err(Refusal::Count("1 arguments")) }
}

/// NULL where a character is no hexadecimal digit; of an odd number of digits the first counts as zero.
fn unhex(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let texts = args.texts(0)?;
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|d| d as u8);
    bytes(args, |row, out| {
        let text = texts.get(row)?.as_bytes();
        let (odd, pairs) = text.split_at(text.len() % 2);
        out.extend(odd.iter().map(|_| 0));
        for pair in pairs.chunks_exact(2) {
            let (high, low) = (pair.first().copied()?, pair.last().copied()?);
            out.push(digit(high)? << 4 | digit(low)?);
        }
        Some(())
    })
}

/// Builds bytes for each row; `None` is NULL.
fn bytes(args: &Args, mut row_bytes: impl FnMut(usize, &mut Vec<u8>) -> Option<()>) -> DfResult<ArrayRef> {
    let mut builder = BinaryBuilder::with_capacity(args.rows, args.rows * 8);
    let mut value = vec![];
    for row in 0..args.rows {
        value.clear();
        match row_bytes(row, &mut value) {
            Some(()) => {
                check_batch(builder.values_slice().len(), value.len())?;
                builder.append_value(&value);
            }
            None => builder.append_null(),
        }
    }
    Ok(Arc::new(builder.finish()))
}

fn whole_number(args: &[Arg]) -> Result<DataType, Refusal> {
    match args {
        [n] if n.logical().is_integer() => Ok(LogicalType::BigInt.with_nullable(n.data_type.nullable)),
        [_] => Err(Refusal::Types),
        _ => Err(Refusal::Count("1 arguments")),
    }
}

fn infer_bin(args: &[Arg]) -> Inferred {
    Ok(Signature { args: vec![whole_number(args)?], returns: nullable_by(args, LogicalType::STRING) })
}

fn bin(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let numbers = args.numbers::<Int64Type>(0)?;
    build(args, |row, out| write!(out, "{:b}", numbers.get(row)?).ok())
}

fn infer_chr(args: &[Arg]) -> Inferred {
    Ok(Signature { args: vec![whole_number(args)?], returns: LogicalType::STRING.nullable() })
}

/// The character of a number, modulo 256; nothing for negative ones.
fn chr(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let numbers = args.numbers::<Int64Type>(0)?;
    build(args, |row, out| {
        if let Ok(number) = u64::try_from(numbers.get(row)?) {
            out.push(char::from((number % 256) as u8));
        }
        Some(())
    })
}

fn infer_base64(args: &[Arg]) -> Inferred {
    let [value] = args else { return Err(Refusal::Count("1 arguments")) };
    if !is_text(value) && !value.logical().is_binary() {
        return Err(Refusal::Types);
    }
    Ok(Signature { args: types(args), returns: nullable_by(args, LogicalType::STRING) })
}

/// The bytes of texts or of bytes.
enum Octets<'a> {
    Texts(Values<'a, arrow::array::StringArray>),
    Bytes(Values<'a, BinaryArray>),
}

impl<'a> Octets<'a> {
    fn of(args: &'a Args, index: usize) -> DfResult<Self> {
        let (array, _) = args.raw(index)?;
        match array.data_type() {
            ArrowType::Utf8 => Ok(Self::Texts(args.texts(index)?)),
            ArrowType::Binary => Ok(Self::Bytes(args.bytes(index)?)),
            _ => Err(mistyped("Utf8 or Binary", array)),
        }
    }

    fn get(&self, row: usize) -> Option<&'a [u8]> {
        match self {
            Self::Texts(texts) => texts.get(row).map(str::as_bytes),
            Self::Bytes(bytes) => bytes.get(row),
        }
    }
}

fn to_base64(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let values = Octets::of(args, 0)?;
    build(args, |row, out| {
        BASE64.encode_string(values.get(row)?, out);
        Some(())
    })
}

fn from_base64(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let values = Octets::of(args, 0)?;
    let mut invalid = None;
    let mut decoded = vec![];
    let result = build(args, |row, out| {
        decoded.clear();
        if let Err(error) = BASE64.decode_vec(values.get(row)?, &mut decoded) {
            invalid.get_or_insert(error);
            return None;
        }
        out.push_str(&String::from_utf8_lossy(&decoded));
        Some(())
    });
    match invalid {
        None => result,
        Some(error) => Err(failure(
            Error::new("invalid-argument", "'FROM_BASE64' of a text that is not base64").with_detail(match error {
                base64::DecodeError::InvalidByte(_, byte) => format!("Illegal base64 character {byte:x}"),
                _ => "Input byte array has incorrect ending byte".to_owned(),
            }),
        )),
    }
}

/// The character sets every Java has.
#[derive(Clone, Copy)]
enum Charset {
    Ascii,
    Latin1,
    Utf8,
    /// With a byte order mark; big endian without one.
    Utf16,
    Utf16Be,
    Utf16Le,
}

impl Charset {
    fn of(name: &str) -> DfResult<Self> {
        Ok(match name.to_ascii_uppercase().as_str() {
            "US-ASCII" | "ASCII" | "ISO646-US" => Self::Ascii,
            "ISO-8859-1" | "ISO8859_1" | "ISO8859-1" | "LATIN1" | "L1" => Self::Latin1,
            "UTF-8" | "UTF8" => Self::Utf8,
            "UTF-16" | "UTF16" | "UTF_16" => Self::Utf16,
            "UTF-16BE" | "UTF_16BE" => Self::Utf16Be,
            "UTF-16LE" | "UTF_16LE" => Self::Utf16Le,
            _ => {
                return Err(failure(
                    Error::new("invalid-argument", format!("unknown character set '{name}'"))
                        .with_detail(name)
                        .with_hint("US-ASCII, ISO-8859-1, UTF-8, UTF-16, UTF-16BE and UTF-16LE are known"),
                ));
            }
        })
    }

    /// What the set does not have becomes `?`.
    fn encode(self, text: &str, out: &mut Vec<u8>) {
        let single =
            |limit: u32| text.chars().map(move |c| if u32::from(c) < limit { u32::from(c) as u8 } else { b'?' });
        match self {
            Self::Ascii => out.extend(single(0x80)),
            Self::Latin1 => out.extend(single(0x100)),
            Self::Utf8 => out.extend_from_slice(text.as_bytes()),
            Self::Utf16 => {
                if !text.is_empty() {
                    out.extend([0xFE, 0xFF]);
                }
                out.extend(text.encode_utf16().flat_map(u16::to_be_bytes));
            }
            Self::Utf16Be => out.extend(text.encode_utf16().flat_map(u16::to_be_bytes)),
            Self::Utf16Le => out.extend(text.encode_utf16().flat_map(u16::to_le_bytes)),
        }
    }

    /// What is no character of the set becomes U+FFFD.
    fn decode(self, bytes: &[u8], out: &mut String) {
        match self {
            Self::Ascii => out.extend(bytes.iter().map(|b| if b.is_ascii() { char::from(*b) } else { '\u{FFFD}' })),
            Self::Latin1 => out.extend(bytes.iter().map(|b| char::from(*b))),
            Self::Utf8 => out.push_str(&String::from_utf8_lossy(bytes)),
            Self::Utf16 => match bytes {
                [0xFE, 0xFF, rest @ ..] => decode_utf16(rest, u16::from_be_bytes, out),
                [0xFF, 0xFE, rest @ ..] => decode_utf16(rest, u16::from_le_bytes, out),
                _ => decode_utf16(bytes, u16::from_be_bytes, out),
            },
            Self::Utf16Be => decode_utf16(bytes, u16::from_be_bytes, out),
            Self::Utf16Le => decode_utf16(bytes, u16::from_le_bytes, out),
        }
    }
}

fn decode_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16, out: &mut String) {
    let pairs = bytes.chunks_exact(2);
    let torn = !pairs.remainder().is_empty();
    let units = pairs.filter_map(|pair| <[u8; 2]>::try_from(pair).ok()).map(unit);
    out.extend(char::decode_utf16(units).map(|c| c.unwrap_or('\u{FFFD}')));
    if torn {
        out.push('\u{FFFD}');
    }
}

fn charset_of(arg: &Arg) -> Result<(), Refusal> {
    if is_text(arg) { Ok(()) } else { Err(Refusal::Types) }
}

/// BYTES, where Flink has BINARY(1) and cuts the bytes of a literal to one.
fn infer_encode(args: &[Arg]) -> Inferred {
    let [text, charset] = args else { return Err(Refusal::Count("2 arguments")) };
    charset_of(charset)?;
    if !is_text(text) {
        return Err(Refusal::Types);
    }
    Ok(Signature { args: types(args), returns: LogicalType::BYTES.nullable() })
}

fn infer_decode(args: &[Arg]) -> Inferred {
    let [bytes, charset] = args else { return Err(Refusal::Count("2 arguments")) };
    charset_of(charset)?;
    if !bytes.logical().is_binary() {
        return Err(Refusal::Types);
    }
    Ok(Signature { args: types(args), returns: LogicalType::STRING.nullable() })
}

/// The character set of each row; an unknown one fails the statement.
fn charsets(args: &Args) -> DfResult<impl Fn(usize) -> Option<Charset>> {
    let names = args.texts(1)?;
    let rows = if names.constant { args.rows.min(1) } else { args.rows };
    let sets = (0..rows).map(|row| names.get(row).map(Charset::of).transpose()).collect::<DfResult<Vec<_>>>()?;
    let constant = names.constant;
    Ok(move |row: usize| sets.get(if constant { 0 } else { row }).copied().flatten())
}

fn encode(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (texts, charsets) = (args.texts(0)?, charsets(args)?);
    bytes(args, |row, out| {
        charsets(row)?.encode(texts.get(row)?, out);
        Some(())
    })
}

fn decode(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (values, charsets) = (args.bytes(0)?, charsets(args)?);
    build(args, |row, out| {
        charsets(row)?.decode(values.get(row)?, out);
        Some(())
    })
}

/// A hash of so many hexadecimal digits.
fn infer_digest<const DIGITS: u32>(args: &[Arg]) -> Inferred {
    let [value] = args else { return Err(Refusal::Count("1 arguments")) };
    if !is_text(value) && !value.logical().is_binary() {
        return Err(Refusal::Types);
    }
    Ok(Signature { args: types(args), returns: nullable_by(args, LogicalType::Char(DIGITS)) })
}

fn push_digest<D: Digest>(value: &[u8], out: &mut String) {
    for byte in D::digest(value) {
        push_hex(byte, b"0123456789abcdef", out);
    }
}

fn digest<D: Digest>(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let values = Octets::of(args, 0)?;
    build(args, |row, out| {
        push_digest::<D>(values.get(row)?, out);
        Some(())
    })
}

fn unknown_algorithm(bits: i64) -> Error {
    Error::new("invalid-argument", format!("'SHA2' of {bits} bits"))
        .with_detail("Unsupported algorithm.")
        .with_hint("224, 256, 384 and 512 bits are known")
}

fn infer_sha2(args: &[Arg]) -> Inferred {
    let [text, bits] = args else { return Err(Refusal::Count("2 arguments")) };
    if !is_text(text) && !text.logical().is_binary() || !bits.logical().is_integer() {
        return Err(Refusal::Types);
    }
    if let Some(Value::Int(bits)) = bits.literal
        && !matches!(bits, 224 | 256 | 384 | 512)
    {
        return Err(unknown_algorithm(bits).into());
    }
    let bits = LogicalType::Int.with_nullable(bits.data_type.nullable);
    Ok(Signature { args: vec![text.data_type.clone(), bits], returns: nullable_by(args, LogicalType::Varchar(128)) })
}

fn sha2_of(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (texts, bits) = (Octets::of(args, 0)?, args.numbers::<Int32Type>(1)?);
    let mut unknown = None;
    let result = build(args, |row, out| {
        let (text, bits) = (texts.get(row)?, bits.get(row)?);
        match bits {
            224 => push_digest::<sha2::Sha224>(text, out),
            256 => push_digest::<sha2::Sha256>(text, out),
            384 => push_digest::<sha2::Sha384>(text, out),
            512 => push_digest::<sha2::Sha512>(text, out),
            other => {
                unknown.get_or_insert(other);
            }
        }
        Some(())
    });
    match unknown {
        None => result,
        Some(bits) => Err(failure(unknown_algorithm(i64::from(bits)))),
    }
}

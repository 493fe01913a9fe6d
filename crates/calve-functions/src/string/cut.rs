//! Texts cut, padded and measured.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array};
use arrow::datatypes::Int32Type;
use calve_types::Error;
use datafusion_common::Result as DfResult;

use super::{LONGEST, build};
use crate::args::{Args, failure};
use crate::function::Call;

/// The first of the ASCII letters and digits in a row upper case, the others lower case; other characters stay, as
/// Flink has it.
pub(super) fn initcap(text: &str, out: &mut String) {
    let mut starts = true;
    for c in text.chars() {
        out.push(if starts { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() });
        starts = !c.is_ascii_alphanumeric();
    }
}

/// UTF-16 units, as Java counts.
pub(super) fn units(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

pub(super) fn characters(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

/// The code points from `start` to `end`, counted from 0.
pub(super) fn cut(text: &str, start: usize, end: usize) -> &str {
    if start >= end {
        return "";
    }
    if text.is_ascii() {
        return text.get(start.min(text.len())..end.min(text.len())).unwrap_or("");
    }
    let mut places = text.char_indices().map(|(i, _)| i).skip(start);
    let Some(from) = places.next() else { return "" };
    let to = places.nth(end - start - 1).unwrap_or(text.len());
    text.get(from..to).unwrap_or("")
}

pub(super) fn length(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let texts = args.texts(0)?;
    let lengths = (0..args.rows).map(|row| texts.get(row).and_then(|t| i32::try_from(characters(t)).ok()));
    Ok(Arc::new(lengths.collect::<Int32Array>()))
}

/// The first byte, signed as in Java.
pub(super) fn ascii(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let texts = args.texts(0)?;
    let codes = (0..args.rows).map(|row| texts.get(row).map(|t| t.bytes().next().map_or(0, |b| i32::from(b as i8))));
    Ok(Arc::new(codes.collect::<Int32Array>()))
}

pub(super) fn trim(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (side, characters, texts) = match (args.count(), call.name.as_str()) {
        (3, _) => {
            let side = args.texts(0)?.get(0).unwrap_or("BOTH").to_owned();
            (side, Some(args.texts(1)?), args.texts(2)?)
        }
        (n, name) => {
            let side = match name {
                "LTRIM" => "LEADING",
                "RTRIM" => "TRAILING",
                _ => "BOTH",
            };
            (side.to_owned(), if n == 2 { Some(args.texts(1)?) } else { None }, args.texts(0)?)
        }
    };
    build(args, |row, out| {
        let text = texts.get(row)?;
        let set = match &characters {
            None => " ",
            Some(characters) => characters.get(row)?,
        };
        let in_set = |c: char| set.contains(c);
        out.push_str(match side.as_str() {
            "LEADING" => text.trim_start_matches(in_set),
            "TRAILING" => text.trim_end_matches(in_set),
            _ => text.trim_matches(in_set),
        });
        Some(())
    })
}

/// From 1; 0 is 1, negative ones count from the end. A negative length gives NULL.
pub(super) fn substring(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (texts, starts) = (args.texts(0)?, args.numbers::<Int32Type>(1)?);
    let lengths = if args.count() > 2 { Some(args.numbers::<Int32Type>(2)?) } else { None };
    build(args, |row, out| {
        let (text, start) = (texts.get(row)?, starts.get(row)?);
        let length = match &lengths {
            None => usize::MAX,
            Some(lengths) => usize::try_from(lengths.get(row)?).ok()?,
        };
        let from = if start > 0 {
            start as usize - 1
        } else if start == 0 {
            0
        } else {
            match characters(text).checked_sub(start.unsigned_abs() as usize) {
                Some(from) => from,
                None => return Some(()),
            }
        };
        out.push_str(cut(text, from, from.saturating_add(length)));
        Some(())
    })
}

/// LEFT and RIGHT; a negative length gives the empty text.
pub(super) fn left(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (texts, lengths) = (args.texts(0)?, args.numbers::<Int32Type>(1)?);
    let is_left = call.name == "LEFT";
    build(args, |row, out| {
        let (text, length) = (texts.get(row)?, lengths.get(row)?.max(0) as usize);
        out.push_str(if is_left {
            cut(text, 0, length)
        } else {
            cut(text, characters(text).saturating_sub(length), usize::MAX)
        });
        Some(())
    })
}

pub(super) fn too_long(call: &Call) -> Error {
    Error::new("out-of-range", format!("'{}' would give a text of more than {LONGEST} bytes", call.name))
}

pub(super) fn repeat(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (texts, counts) = (args.texts(0)?, args.numbers::<Int32Type>(1)?);
    let is_too_long = (0..args.rows).any(|row| match (texts.get(row), counts.get(row)) {
        (Some(text), Some(count)) => text.len().saturating_mul(count.max(0) as usize) > LONGEST,
        _ => false,
    });
    if is_too_long {
        return Err(failure(too_long(call)));
    }
    build(args, |row, out| {
        let (text, count) = (texts.get(row)?, counts.get(row)?.max(0));
        out.extend(std::iter::repeat_n(text, count as usize));
        Some(())
    })
}

/// LPAD and RPAD; NULL for a negative length or nothing to pad with.
pub(super) fn pad(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (texts, lengths, pads) = (args.texts(0)?, args.numbers::<Int32Type>(1)?, args.texts(2)?);
    if (0..args.rows).any(|row| lengths.get(row).is_some_and(|n| n as i64 > LONGEST as i64 / 4)) {
        return Err(failure(too_long(call)));
    }
    let is_left = call.name == "LPAD";
    build(args, |row, out| {
        let (text, pad) = (texts.get(row)?, pads.get(row)?);
        let length = usize::try_from(lengths.get(row)?).ok()?;
        if pad.is_empty() {
            return None;
        }
        // As in Java a character beyond the first 65536 counts twice.
        let missing = length.saturating_sub(units(text));
        let text = cut(text, 0, length);
        let mut padded = 0;
        let padding = pad.chars().cycle().take_while(|c| {
            padded += c.len_utf16();
            padded <= missing
        });
        if is_left {
            out.extend(padding);
            out.push_str(text);
        } else {
            out.push_str(text);
            out.extend(padding);
        }
        Some(())
    })
}

/// `OVERLAY(text PLACING new FROM start [FOR length])`, from 1. Outside of the text nothing happens; without a length it
/// is that of the new part; with a length that is not above 0 the rest is gone, as in Flink.
pub(super) fn overlay(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (texts, parts, starts) = (args.texts(0)?, args.texts(1)?, args.numbers::<Int32Type>(2)?);
    let lengths = if args.count() > 3 { Some(args.numbers::<Int32Type>(3)?) } else { None };
    build(args, |row, out| {
        let (text, part, start) = (texts.get(row)?, parts.get(row)?, starts.get(row)?);
        let length = match &lengths {
            None => characters(part),
            Some(lengths) => usize::try_from(lengths.get(row)?).unwrap_or(0),
        };
        let start = usize::try_from(start).unwrap_or(0);
        if start == 0 || start > characters(text) {
            out.push_str(text);
            return Some(());
        }
        out.push_str(cut(text, 0, start - 1));
        out.push_str(part);
        if length > 0 {
            out.push_str(cut(text, (start - 1).saturating_add(length), usize::MAX));
        }
        Some(())
    })
}

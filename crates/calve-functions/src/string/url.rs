//! URLs, as Java's `java.net` reads and writes them.

use std::fmt::Write as _;

use arrow::array::ArrayRef;
use calve_types::LogicalType;
use datafusion_common::Result as DfResult;

use super::{build, map, nullable, signature};
use crate::args::Args;
use crate::function::{Arg, Call, Inferred, Refusal, ScalarFunction};

pub(crate) static TABLE: &[ScalarFunction] = &[
    ScalarFunction::kernel("URL_ENCODE", infer_one, |_, args| map(args, encode)),
    ScalarFunction::kernel("URL_DECODE", infer_one, decode_all),
    ScalarFunction::kernel("PARSE_URL", infer_parse, parse)
        .forms(&["PARSE_URL(<CHARACTER>, <CHARACTER>)", "PARSE_URL(<CHARACTER>, <CHARACTER>, <CHARACTER>)"]),
];

fn infer_one(args: &[Arg]) -> Inferred {
    if args.len() == 1 { nullable(signature(args, 1, LogicalType::STRING)) } else { Err(Refusal::Count("1 arguments")) }
}

fn infer_parse(args: &[Arg]) -> Inferred {
    if matches!(args.len(), 2 | 3) {
        nullable(signature(args, 3, LogicalType::STRING))
    } else {
        Err(Refusal::Count("2 arguments"))
    }
}

/// `application/x-www-form-urlencoded`
fn encode(text: &str, out: &mut String) {
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'*' | b'_' => out.push(char::from(byte)),
            b' ' => out.push('+'),
            // Writing to a String cannot fail.
            _ => drop(write!(out, "%{byte:02X}")),
        }
    }
}

/// NULL where a `%` is not followed by two hexadecimal digits.
fn decode_all(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let texts = args.texts(0)?;
    let mut bytes = vec![];
    build(args, |row, out| {
        bytes.clear();
        let mut rest = texts.get(row)?.bytes();
        while let Some(byte) = rest.next() {
            bytes.push(match byte {
                b'+' => b' ',
                b'%' => {
                    let mut digit = || char::from(rest.next()?).to_digit(16);
                    (digit()? * 16 + digit()?) as u8
                }
                other => other,
            });
        }
        out.push_str(&String::from_utf8_lossy(&bytes));
        Some(())
    })
}

/// The parts of a URL.
struct Url<'a> {
    protocol: String,
    authority: Option<&'a str>,
    user: Option<&'a str>,
    host: &'a str,
    path: &'a str,
    query: Option<&'a str>,
    reference: Option<&'a str>,
}

impl<'a> Url<'a> {
    /// `None` for what Java's `URL` refuses: no protocol, one without a handler, a port that is no number.
    fn parse(text: &'a str) -> Option<Self> {
        let text = text.trim_matches(|c| c <= ' ');
        let text = text.strip_prefix("url:").unwrap_or(text);
        let (protocol, rest) = text.split_once(':')?;
        let protocol = protocol.to_ascii_lowercase();
        if !matches!(protocol.as_str(), "http" | "https" | "ftp" | "file" | "mailto" | "jar") {
            return None;
        }
        let (rest, reference) = match rest.split_once('#') {
            Some((rest, reference)) => (rest, Some(reference)),
            None => (rest, None),
        };
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, Some(query)),
            None => (rest, None),
        };
        let mut url = Self { protocol, authority: None, user: None, host: "", path: rest, query, reference };
        if let Some(rest) = rest.strip_prefix("//") {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            url.authority = Some(authority);
            url.path = path;
            let address = match authority.split_once('@') {
                Some((_, rest)) if rest.contains('@') => "",
                Some((user, rest)) => {
                    url.user = Some(user);
                    rest
                }
                None => authority,
            };
            let (host, port) = if address.starts_with('[') {
                let (host, port) = address.split_at(address.find(']')? + 1);
                (host, if port.is_empty() { "" } else { port.strip_prefix(':')? })
            } else {
                address.split_once(':').unwrap_or((address, ""))
            };
            if !port.is_empty() && port.parse::<u32>().is_err() {
                return None;
            }
            url.host = host;
        }
        Some(url)
    }
}

/// `PARSE_URL(url, part [, key])`; a key picks the value of a parameter of the query.
fn parse(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (urls, parts) = (args.texts(0)?, args.texts(1)?);
    let keys = if args.count() > 2 { Some(args.texts(2)?) } else { None };
    build(args, |row, out| {
        let (url, part) = (Url::parse(urls.get(row)?)?, parts.get(row)?);
        if let Some(keys) = &keys {
            let key = keys.get(row)?;
            if part != "QUERY" {
                return None;
            }
            let value = url.query?.split('&').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='))?;
            out.push_str(value);
            return Some(());
        }
        out.push_str(match part {
            "PROTOCOL" => &url.protocol,
            "AUTHORITY" => url.authority?,
            "USERINFO" => url.user?,
            "HOST" => url.host,
            "PATH" => url.path,
            "QUERY" => url.query?,
            "REF" => url.reference?,
            "FILE" => {
                out.push_str(url.path);
                if let Some(query) = url.query {
                    out.push('?');
                    out.push_str(query);
                }
                return Some(());
            }
            _ => return None,
        });
        Some(())
    })
}

//! Texts searched, put together and taken apart.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray, Int32Array, PrimitiveArray, StringBuilder, new_null_array};
use arrow::compute::interleave;
use arrow::datatypes::{DataType as ArrowType, Int32Type, Int64Type};
use calve_types::Error;
use datafusion_common::Result as DfResult;

use super::cut::{characters, cut, too_long};
use super::regexp::{self, Patterns};
use super::{LONGEST, build};
use crate::args::{Args, Values, failure};
use crate::collection::{list_of_texts, map_of};
use crate::function::Call;

pub(super) fn concat(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let texts = (0..args.count()).map(|i| args.texts(i)).collect::<DfResult<Vec<_>>>()?;
    build(args, |row, out| {
        for text in &texts {
            out.push_str(text.get(row)?);
        }
        Some(())
    })
}

/// NULLs are left out; a NULL separator gives NULL.
pub(super) fn concat_ws(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let separators = args.texts(0)?;
    let texts = (1..args.count()).map(|i| args.texts(i)).collect::<DfResult<Vec<_>>>()?;
    build(args, |row, out| {
        let separator = separators.get(row)?;
        for (n, text) in texts.iter().filter_map(|t| t.get(row)).enumerate() {
            if n > 0 {
                out.push_str(separator);
            }
            out.push_str(text);
        }
        Some(())
    })
}

pub(super) fn replace(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (texts, from, to) = (args.texts(0)?, args.texts(1)?, args.texts(2)?);
    let is_too_long = (0..args.rows).any(|row| match (texts.get(row), from.get(row), to.get(row)) {
        (Some(text), Some(from), Some(to)) => {
            let length = |places: usize| places.saturating_mul(to.len());
            // counting takes time, and is hardly ever needed
            length(text.len() + 1) > LONGEST && length(text.matches(from).count()) > LONGEST
        }
        _ => false,
    });
    if is_too_long {
        return Err(failure(too_long(call)));
    }
    build(args, |row, out| {
        out.push_str(&texts.get(row)?.replace(from.get(row)?, to.get(row)?));
        Some(())
    })
}

/// From 1, and 0 if it is not there. The search begins at `start`, at the beginning if that is below 1.
pub(super) fn position(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (parts, texts) = (args.texts(0)?, args.texts(1)?);
    let starts = if args.count() > 2 { Some(args.numbers::<Int32Type>(2)?) } else { None };
    let places = (0..args.rows).map(|row| {
        let (part, text) = (parts.get(row)?, texts.get(row)?);
        let start = match &starts {
            None => 1,
            Some(starts) => starts.get(row)?,
        };
        if part.is_empty() {
            return Some(1);
        }
        let skipped = usize::try_from(i64::from(start) - 1).unwrap_or(0);
        let rest = cut(text, skipped, usize::MAX);
        let place = rest.find(part).map_or(0, |at| skipped + characters(rest.get(..at).unwrap_or("")) + 1);
        i32::try_from(place).ok()
    });
    Ok(Arc::new(places.collect::<Int32Array>()))
}

/// The place of an occurrence, from 1; 0 if there is none. A negative start searches backwards from the end.
pub(super) fn instr(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (texts, parts) = (args.texts(0)?, args.texts(1)?);
    let optional = |i| if args.count() > i { args.numbers::<Int32Type>(i).map(Some) } else { Ok(None) };
    let (starts, occurrences) = (optional(2)?, optional(3)?);
    let mut places = Vec::with_capacity(args.rows);
    for row in 0..args.rows {
        let number = |numbers: &Option<Values<'_, PrimitiveArray<Int32Type>>>| match numbers {
            None => Some(1),
            Some(numbers) => numbers.get(row),
        };
        let (Some(text), Some(part), Some(start), Some(occurrence)) =
            (texts.get(row), parts.get(row), number(&starts), number(&occurrences))
        else {
            places.push(None);
            continue;
        };
        if occurrence <= 0 {
            return Err(failure(
                Error::new("invalid-argument", format!("occurrence {occurrence} of 'INSTR'"))
                    .with_detail("nthAppearance must be positive!"),
            ));
        }
        places.push(i32::try_from(occurrence_of(text, part, start, occurrence)).ok());
    }
    Ok(Arc::new(Int32Array::from(places)))
}

fn occurrence_of(text: &str, part: &str, start: i32, occurrence: i32) -> usize {
    if start == 0 {
        return 0;
    }
    let length = characters(text);
    let wanted = usize::try_from(occurrence).unwrap_or(1);
    let distance = usize::try_from(start.unsigned_abs()).unwrap_or(usize::MAX);
    if start > 0 {
        let mut from = distance - 1;
        for _ in 1..wanted {
            match find_from(text, part, from) {
                Some(at) => from = at + 1,
                None => return 0,
            }
        }
        return if from > length { 0 } else { find_from(text, part, from).map_or(0, |at| at + 1) };
    }
    // The last characters that still begin at or before the start.
    let Some(mut until) = length.checked_sub(distance) else { return 0 };
    for n in 1..=wanted {
        match find_until(text, part, until) {
            Some(at) if n == wanted => return at + 1,
            Some(0) | None => return 0,
            Some(at) => until = at - 1,
        }
    }
    0
}

/// The first place at or after `from` where a part begins, counted in characters.
fn find_from(text: &str, part: &str, from: usize) -> Option<usize> {
    let rest = cut(text, from, usize::MAX);
    rest.find(part).map(|at| from + characters(rest.get(..at).unwrap_or("")))
}

/// The last place at or before `until` where a part begins, counted in characters.
fn find_until(text: &str, part: &str, until: usize) -> Option<usize> {
    let head = cut(text, 0, until.saturating_add(characters(part)));
    head.rfind(part).map(|at| characters(head.get(..at).unwrap_or("")))
}

/// STARTSWITH and ENDSWITH.
pub(super) fn starts_with(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let is_start = call.name == "STARTSWITH";
    let holds = |value: &[u8], part: &[u8]| if is_start { value.starts_with(part) } else { value.ends_with(part) };
    let results: BooleanArray = if call.arg(0).is_binary() {
        let (values, parts) = (args.bytes(0)?, args.bytes(1)?);
        (0..args.rows).map(|row| Some(holds(values.get(row)?, parts.get(row)?))).collect()
    } else {
        let (values, parts) = (args.texts(0)?, args.texts(1)?);
        (0..args.rows).map(|row| Some(holds(values.get(row)?.as_bytes(), parts.get(row)?.as_bytes()))).collect()
    };
    Ok(Arc::new(results))
}

/// From 0; NULL beyond the parts, for the empty text and for a negative index. The separator is a text or the number of
/// a character.
pub(super) fn split_index(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (texts, indices) = (args.texts(0)?, args.numbers::<Int32Type>(2)?);
    if args.raw(1)?.0.data_type() == &ArrowType::Int32 {
        let codes = args.numbers::<Int32Type>(1)?;
        return build(args, |row, out| {
            let separator = char::from_u32(u32::try_from(codes.get(row)?).ok()?)?;
            push_part(texts.get(row)?, separator.encode_utf8(&mut [0; 4]), indices.get(row)?, out)
        });
    }
    let separators = args.texts(1)?;
    build(args, |row, out| push_part(texts.get(row)?, separators.get(row)?, indices.get(row)?, out))
}

fn push_part(text: &str, separator: &str, index: i32, out: &mut String) -> Option<()> {
    let index = usize::try_from(index).ok()?;
    if text.is_empty() {
        return None;
    }
    let part = if separator.is_empty() { (index == 0).then_some(text) } else { text.split(separator).nth(index) };
    out.push_str(part?);
    Some(())
}

/// The parts between separators, the characters if the separator is empty; no parts of the empty text.
pub(super) fn split(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (texts, separators) = (args.texts(0)?, args.texts(1)?);
    let mut values = StringBuilder::new();
    let (mut lengths, mut valid) = (Vec::with_capacity(args.rows), Vec::with_capacity(args.rows));
    for row in 0..args.rows {
        let mut count = 0;
        let parts = texts.get(row).zip(separators.get(row));
        valid.push(parts.is_some());
        match parts {
            None | Some(("", _)) => {}
            Some((text, "")) => {
                for c in text.chars() {
                    values.append_value(c.encode_utf8(&mut [0; 4]));
                    count += 1;
                }
            }
            Some((text, separator)) => {
                for part in text.split(separator) {
                    values.append_value(part);
                    count += 1;
                }
            }
        }
        lengths.push(count);
    }
    list_of_texts(call, lengths, values.finish(), valid)
}

/// `STR_TO_MAP(text [, between entries, between key and value])`: both are regular expressions. Of equal keys the last
/// one counts; an entry without a value has NULL.
pub(super) fn str_to_map(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let texts = args.texts(0)?;
    let separators = if args.count() > 2 { Some((args.texts(1)?, args.texts(2)?)) } else { None };
    let (mut entries, mut pairs) = (Patterns::default(), Patterns::default());
    let (mut keys, mut values) = (StringBuilder::new(), StringBuilder::new());
    let mut rows = Vec::with_capacity(args.rows);
    let mut taken = 0_u32;
    for row in 0..args.rows {
        let separators = match &separators {
            None => Some((",", "=")),
            Some((a, b)) => a.get(row).zip(b.get(row)),
        };
        let (Some(text), Some((entry, pair))) = (texts.get(row), separators) else {
            rows.push(None);
            continue;
        };
        let mut places = vec![];
        if !text.is_empty() {
            let split = |patterns: &mut Patterns, pattern: &str, text: &'_ str, limit| -> DfResult<Vec<String>> {
                let mut unsupported = None;
                let Some(regex) = patterns.get(pattern, text, &mut unsupported) else {
                    return Err(failure(unsupported.unwrap_or_else(|| regexp::invalid(pattern))));
                };
                let parts = regexp::split(text, regex, limit)?;
                Ok(parts.into_iter().map(str::to_owned).collect())
            };
            for part in split(&mut entries, entry, text, None)? {
                let mut halves = split(&mut pairs, pair, &part, Some(2))?.into_iter();
                keys.append_option(halves.next());
                values.append_option(halves.next());
                places.push((taken, taken));
                taken = taken.saturating_add(1);
            }
        }
        rows.push(Some(places));
    }
    let (keys, values): (ArrayRef, ArrayRef) = (Arc::new(keys.finish()), Arc::new(values.finish()));
    map_of(call, &keys, &values, rows.into_iter())
}

/// Characters of `from` become those of `to` at the same place, or nothing. Without `from` the text stays.
pub(super) fn translate(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (texts, from, to) = (args.texts(0)?, args.texts(1)?, args.texts(2)?);
    build(args, |row, out| {
        let (text, from) = (texts.get(row)?, from.get(row).unwrap_or(""));
        let to = to.get(row).unwrap_or("");
        for c in text.chars() {
            match from.chars().position(|f| f == c) {
                None => out.push(c),
                Some(place) => out.extend(to.chars().nth(place)),
            }
        }
        Some(())
    })
}

/// The value at an index from 1; NULL without one.
pub(super) fn elt(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let indices = args.numbers::<Int64Type>(0)?;
    let values = (1..args.count()).map(|i| args.full(i)).collect::<DfResult<Vec<_>>>()?;
    let first = values.first().ok_or_else(|| failure(Error::internal("ELT of nothing")))?;
    let null = new_null_array(first.data_type(), 1);
    let chosen: Vec<(usize, usize)> = (0..args.rows)
        .map(|row| {
            let index =
                indices.get(row).and_then(|i| usize::try_from(i).ok()).filter(|i| (1..=values.len()).contains(i));
            index.map_or((0, 0), |i| (i, row))
        })
        .collect();
    let arrays: Vec<&dyn Array> = std::iter::once(&null).chain(&values).map(AsRef::as_ref).collect();
    Ok(interleave(&arrays, &chosen)?)
}

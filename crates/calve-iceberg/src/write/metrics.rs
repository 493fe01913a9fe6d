//! What Iceberg keeps about a file's columns, from the Parquet footer (Java's `ParquetMetrics`).

mod batches;

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use calve_types::{Error, Result};
use iceberg::spec::{Datum, NestedFieldRef, PrimitiveType, Schema, Transform, Type};
use parquet::basic::LogicalType;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::statistics::Statistics;

pub(crate) use self::batches::BatchMetrics;
use super::transform::{first_chars, minimal_bytes};
use crate::error::Context;
use crate::table::Table;

/// How much is kept about a column (`write.metadata.metrics.*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    None,
    Counts,
    /// Bounds of texts and bytes have at most so many code points or bytes.
    Truncate(usize),
    Full,
}

impl Mode {
    pub(crate) const DEFAULT: Self = Self::Truncate(16);

    fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase();
        match text.as_str() {
            "none" => Some(Self::None),
            "counts" => Some(Self::Counts),
            "full" => Some(Self::Full),
            _ => {
                let length = text.strip_prefix("truncate(")?.strip_suffix(')')?.trim().parse().ok()?;
                (length > 0).then_some(Self::Truncate(length))
            }
        }
    }
}

/// A leaf column of the Parquet file.
#[derive(Clone, Debug)]
struct Leaf {
    of: PrimitiveType,
    mode: Mode,
    /// Inside a list or a map: only its size is kept, as in Java.
    repeated: bool,
}

/// What to keep, by field id.
#[derive(Clone, Debug, Default)]
pub(crate) struct MetricsConfig {
    leaves: HashMap<i32, Leaf>,
}

/// Without a mode of their own, only so many columns get metrics (`write.metadata.metrics.max-inferred-column-defaults`).
const INFERRED_COLUMNS: usize = 100;

impl MetricsConfig {
    /// Reads the table's properties (Java's `MetricsConfig.forTable`). A mode nobody knows counts as the default.
    pub(crate) fn of_table(table: &Table, columns: &[NestedFieldRef], key: &[i32]) -> Self {
        let given = table.property("write.metadata.metrics.default");
        let default = given.map(|mode| Mode::parse(mode).unwrap_or(Mode::DEFAULT));
        let limit = table.property("write.metadata.metrics.max-inferred-column-defaults");
        let limit = limit.and_then(|v| v.trim().parse().ok()).unwrap_or(INFERRED_COLUMNS);
        let mut inferred = HashSet::new();
        first_leaves(table.metadata().current_schema().as_struct().fields(), limit, &mut inferred);
        // readers skip files by the columns that these are sorted by
        let sorted = |id: i32| {
            let bucket_or_void = |t| matches!(t, Transform::Bucket(_) | Transform::Void | Transform::Unknown);
            let mut fields = table.metadata().default_sort_order().fields.iter();
            fields.any(|field| field.source_id == id && !bucket_or_void(field.transform))
        };
        let mut config = Self::default();
        config.add(columns, "", false, &mut |id, name| {
            // an upsert looks for keys by their bounds
            let kept = inferred.contains(&id) || key.contains(&id);
            let default = default.unwrap_or(if kept { Mode::DEFAULT } else { Mode::None });
            match table.property(&format!("{OF_COLUMN}{name}")) {
                Some(own) => Mode::parse(own).unwrap_or(default),
                None if matches!(default, Mode::None | Mode::Counts) && sorted(id) => Mode::DEFAULT,
                None => default,
            }
        });
        config
    }

    /// Full bounds of all columns.
    pub(crate) fn full(columns: &[NestedFieldRef]) -> Self {
        let mut config = Self::default();
        config.add(columns, "", false, &mut |_, _| Mode::Full);
        config
    }

    fn add(
        &mut self,
        columns: &[NestedFieldRef],
        prefix: &str,
        repeated: bool,
        mode: &mut impl FnMut(i32, &str) -> Mode,
    ) {
        for column in columns {
            let name = format!("{prefix}{}", column.name);
            let nested = format!("{name}.");
            match column.field_type.as_ref() {
                Type::Primitive(of) => {
                    let mode = mode(column.id, &name);
                    self.leaves.insert(column.id, Leaf { of: of.clone(), mode, repeated });
                }
                Type::Struct(fields) => self.add(fields.fields(), &nested, repeated, mode),
                Type::List(list) => self.add(std::slice::from_ref(&list.element_field), &nested, true, mode),
                Type::Map(map) => self.add(&[map.key_field.clone(), map.value_field.clone()], &nested, true, mode),
            }
        }
    }

    /// How many bytes of texts the footer's statistics must keep, so that bounds cut to the wanted number of code
    /// points come out exact; `None` for all.
    pub(crate) fn statistics_bytes(&self) -> Option<usize> {
        let mut bytes = 64;
        for leaf in self.leaves.values() {
            match leaf.mode {
                Mode::Full if matches!(leaf.of, PrimitiveType::String | PrimitiveType::Binary) => return None,
                Mode::Truncate(chars) => bytes = bytes.max(chars.checked_mul(4)?),
                _ => {}
            }
        }
        Some(bytes)
    }
}

const OF_COLUMN: &str = "write.metadata.metrics.column.";

/// Whether all columns with a metrics mode of their own are there (Java's `MetricsConfig.validateReferencedColumns`).
///
/// # Errors
/// `unknown-column`.
pub(crate) fn check_columns(properties: &HashMap<String, String>, schema: &Schema) -> Result<()> {
    let mut named = properties.keys().filter_map(|key| Some((key, key.strip_prefix(OF_COLUMN)?)));
    match named.find(|(_, column)| schema.field_by_name(column).is_none()) {
        Some((key, column)) => {
            let error = Error::new("unknown-column", format!("unknown column '{column}' in table property '{key}'"));
            Err(error.with_detail(format!(
                "Invalid metrics config, could not find column {column} from table prop {key} in schema"
            )))
        }
        None => Ok(()),
    }
}

/// The first `limit` leaf columns: those of a struct before those nested in it (Java's `MetricsConfig.limitFieldIds`).
fn first_leaves(columns: &[NestedFieldRef], limit: usize, leaves: &mut HashSet<i32>) {
    for column in columns {
        if column.field_type.is_primitive() && leaves.len() < limit {
            leaves.insert(column.id);
        }
    }
    for column in columns {
        if leaves.len() >= limit {
            return;
        }
        match column.field_type.as_ref() {
            Type::Primitive(_) => {}
            Type::Struct(nested) => first_leaves(nested.fields(), limit, leaves),
            Type::List(list) => first_leaves(std::slice::from_ref(&list.element_field), limit, leaves),
            Type::Map(map) => first_leaves(&[map.key_field.clone(), map.value_field.clone()], limit, leaves),
        }
    }
}

/// The metrics of one file, by field id.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    pub(crate) column_sizes: HashMap<i32, u64>,
    pub(crate) value_counts: HashMap<i32, u64>,
    pub(crate) null_value_counts: HashMap<i32, u64>,
    pub(crate) nan_value_counts: HashMap<i32, u64>,
    pub(crate) lower_bounds: HashMap<i32, Datum>,
    pub(crate) upper_bounds: HashMap<i32, Datum>,
}

/// A value of a footer's statistics.
#[derive(Clone, Debug)]
enum Bound {
    Number(i128),
    Float(f64),
    Bytes(Vec<u8>),
}

impl Bound {
    /// `None` between values of different kinds, which one column never has.
    fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => Some(a.cmp(b)),
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(b),
            (Self::Bytes(a), Self::Bytes(b)) => Some(a.cmp(b)),
            _ => None,
        }
    }
}

/// The bounds of a column over the row groups seen.
#[derive(Debug, Default)]
struct Range {
    bounds: Option<(Bound, Bound)>,
    /// A row group with values had no statistics: nothing is known.
    unknown: bool,
}

impl Range {
    fn add(&mut self, min: Bound, max: Bound) {
        let joined = match self.bounds.take() {
            None => Some((min, max)),
            Some((low, high)) => match (min.compare(&low), max.compare(&high)) {
                (Some(lower), Some(upper)) => {
                    Some((if lower.is_lt() { min } else { low }, if upper.is_gt() { max } else { high }))
                }
                _ => None,
            },
        };
        self.unknown |= joined.is_none();
        self.bounds = joined;
    }
}

impl Metrics {
    /// From the footer of a file written with statistics of at least [`MetricsConfig::statistics_bytes`].
    ///
    /// # Errors
    /// `invalid-table` for a bound that is not a value of its column's type.
    pub(crate) fn of_file(footer: &ParquetMetaData, config: &MetricsConfig, nans: &HashMap<i32, u64>) -> Result<Self> {
        let mut metrics = Self::default();
        let mut ranges: HashMap<i32, Range> = HashMap::new();
        for chunk in footer.row_groups().iter().flat_map(|group| group.columns()) {
            let info = chunk.column_descr().self_type().get_basic_info();
            if !info.has_id() {
                continue;
            }
            let id = info.id();
            let Some(leaf) = config.leaves.get(&id) else { continue };
            *metrics.column_sizes.entry(id).or_default() += u64::try_from(chunk.compressed_size()).unwrap_or(0);
            if leaf.mode == Mode::None || leaf.repeated {
                continue;
            }
            let values = u64::try_from(chunk.num_values()).unwrap_or(0);
            *metrics.value_counts.entry(id).or_default() += values;
            let nulls = chunk.statistics().and_then(|s| s.null_count_opt());
            if let Some(nulls) = nulls {
                *metrics.null_value_counts.entry(id).or_default() += nulls;
            }
            if leaf.mode == Mode::Counts {
                continue;
            }
            let range = ranges.entry(id).or_default();
            match chunk.statistics().and_then(|s| bounds(s, chunk)) {
                Some((min, max)) => range.add(min, max),
                // only NaN or only NULL: nothing to bound
                None if nulls == Some(values) || nans.get(&id).is_some_and(|n| *n > 0) => {}
                None => range.unknown |= values > 0,
            }
        }
        for (id, range) in ranges {
            if let (Some(leaf), false, Some((low, high))) = (config.leaves.get(&id), range.unknown, range.bounds) {
                let low = lower(low, leaf);
                metrics.lower_bounds.insert(id, datum(low, &leaf.of)?);
                if let Some(high) = upper(high, leaf) {
                    metrics.upper_bounds.insert(id, datum(high, &leaf.of)?);
                }
            }
        }
        let counted = |id: &i32| config.leaves.get(id).is_some_and(|leaf| leaf.mode != Mode::None);
        metrics.nan_value_counts = nans.iter().filter(|(id, _)| counted(id)).map(|(id, n)| (*id, *n)).collect();
        Ok(metrics)
    }
}

fn bounds(statistics: &Statistics, chunk: &ColumnChunkMetaData) -> Option<(Bound, Bound)> {
    let number = |min: i128, max: i128| (Bound::Number(min), Bound::Number(max));
    Some(match statistics {
        Statistics::Boolean(s) => number(i128::from(*s.min_opt()?), i128::from(*s.max_opt()?)),
        Statistics::Int32(s) => number(i128::from(*s.min_opt()?), i128::from(*s.max_opt()?)),
        Statistics::Int64(s) => number(i128::from(*s.min_opt()?), i128::from(*s.max_opt()?)),
        Statistics::Float(s) => (Bound::Float(f64::from(*s.min_opt()?)), Bound::Float(f64::from(*s.max_opt()?))),
        Statistics::Double(s) => (Bound::Float(*s.min_opt()?), Bound::Float(*s.max_opt()?)),
        Statistics::Int96(_) => return None,
        Statistics::ByteArray(_) | Statistics::FixedLenByteArray(_) => {
            let (min, max) = (statistics.min_bytes_opt()?, statistics.max_bytes_opt()?);
            match chunk.column_descr().logical_type_ref() {
                Some(LogicalType::Decimal { .. }) => number(big_endian(min)?, big_endian(max)?),
                _ => (Bound::Bytes(min.to_vec()), Bound::Bytes(max.to_vec())),
            }
        }
    })
}

fn big_endian(bytes: &[u8]) -> Option<i128> {
    let fill = if bytes.first()? & 0x80 == 0 { 0 } else { 0xff };
    let mut full = [fill; 16];
    full.get_mut(16_usize.checked_sub(bytes.len())?..)?.copy_from_slice(bytes);
    Some(i128::from_be_bytes(full))
}

fn lower(bound: Bound, leaf: &Leaf) -> Bound {
    match (bound, leaf.mode, &leaf.of) {
        // zero compares equal to its negative: the lower one covers both
        (Bound::Float(0.0), _, _) => Bound::Float(-0.0),
        (Bound::Bytes(v), Mode::Truncate(n), PrimitiveType::String) => match std::str::from_utf8(&v) {
            Ok(text) => Bound::Bytes(first_chars(text, n).as_bytes().to_vec()),
            Err(_) => Bound::Bytes(v),
        },
        (Bound::Bytes(mut v), Mode::Truncate(n), PrimitiveType::Binary | PrimitiveType::Fixed(_)) => {
            v.truncate(n);
            Bound::Bytes(v)
        }
        (bound, _, _) => bound,
    }
}

/// `None` if no short value is above all values.
fn upper(bound: Bound, leaf: &Leaf) -> Option<Bound> {
    match (bound, leaf.mode, &leaf.of) {
        (Bound::Float(0.0), _, _) => Some(Bound::Float(0.0)),
        (Bound::Bytes(v), Mode::Truncate(n), PrimitiveType::String) => {
            upper_text(std::str::from_utf8(&v).ok()?, n).map(|text| Bound::Bytes(text.into_bytes()))
        }
        (Bound::Bytes(v), Mode::Truncate(n), PrimitiveType::Binary | PrimitiveType::Fixed(_)) => {
            upper_bytes(v, n).map(Bound::Bytes)
        }
        (bound, _, _) => Some(bound),
    }
}

/// The shortest text above all that start like `text`: its first `chars` code points, the last one that has a
/// successor replaced by it (Java's `UnicodeUtil.truncateStringMax`).
fn upper_text(text: &str, chars: usize) -> Option<String> {
    let cut = first_chars(text, chars);
    if cut.len() == text.len() {
        return Some(text.to_owned());
    }
    let mut kept: Vec<char> = cut.chars().collect();
    while let Some(last) = kept.pop() {
        // surrogates are not characters
        let next = if last == '\u{d7ff}' { Some('\u{e000}') } else { char::from_u32(last as u32 + 1) };
        if let Some(next) = next {
            kept.push(next);
            return Some(kept.into_iter().collect());
        }
    }
    None
}

fn upper_bytes(mut bytes: Vec<u8>, length: usize) -> Option<Vec<u8>> {
    if bytes.len() <= length {
        return Some(bytes);
    }
    bytes.truncate(length);
    while let Some(last) = bytes.pop() {
        if let Some(next) = last.checked_add(1) {
            bytes.push(next);
            return Some(bytes);
        }
    }
    None
}

/// Iceberg's single-value serialisation, read back as a value of the column's type.
fn datum(bound: Bound, of: &PrimitiveType) -> Result<Datum> {
    let bytes = match (bound, of) {
        (Bound::Number(v), PrimitiveType::Boolean) => vec![u8::from(v != 0)],
        (Bound::Number(v), PrimitiveType::Int | PrimitiveType::Date) => (v as i32).to_le_bytes().to_vec(),
        (Bound::Number(v), PrimitiveType::Decimal { .. }) => minimal_bytes(&v.to_be_bytes()).to_vec(),
        (Bound::Number(v), _) => (v as i64).to_le_bytes().to_vec(),
        (Bound::Float(v), PrimitiveType::Float) => (v as f32).to_le_bytes().to_vec(),
        (Bound::Float(v), _) => v.to_le_bytes().to_vec(),
        (Bound::Bytes(v), _) => v,
    };
    Datum::try_from_bytes(&bytes, of.clone()).context(|| format!("make a bound of type {of}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn upper_bounds_are_above() {
        assert_eq!(upper_text("abc", 3).unwrap(), "abc");
        assert_eq!(upper_text("abcd", 3).unwrap(), "abd");
        assert_eq!(upper_text("a\u{10ffff}x", 2).unwrap(), "b");
        assert_eq!(upper_text("\u{d7ff}x", 1).unwrap(), "\u{e000}");
        assert_eq!(upper_text("\u{10ffff}x", 1), None);
        assert_eq!(upper_bytes(vec![1, 255, 7], 2).unwrap(), [2]);
        assert_eq!(upper_bytes(vec![255, 255, 7], 2), None);
    }

    #[test]
    fn modes() {
        assert_eq!(Mode::parse(" Truncate(4)"), Some(Mode::Truncate(4)));
        assert_eq!(Mode::parse("FULL"), Some(Mode::Full));
        assert_eq!(Mode::parse("counts"), Some(Mode::Counts));
        assert_eq!(Mode::parse("none"), Some(Mode::None));
        assert_eq!(Mode::parse("truncate(0)"), None);
        assert_eq!(Mode::parse("truncate(-1)"), None);
    }

    #[test]
    fn big_endian_numbers() {
        assert_eq!(big_endian(&[0xff]), Some(-1));
        assert_eq!(big_endian(&[0x01, 0x00]), Some(256));
        assert_eq!(big_endian(&[]), None);
        assert_eq!(big_endian(&[0; 17]), None);
    }
}

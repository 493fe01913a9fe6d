//! Which live rows an upsert has to delete, and where the equality deletes for them must lie.
//!
//! An equality delete hits older rows of its own partition and spec; one of an unpartitioned spec hits all. So every
//! partition spec that live files still have is a target of its own.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, UInt32Array};
use arrow::compute::take_record_batch;
use arrow::datatypes::{
    DataType as ArrowType, Date32Type, Decimal128Type, Int32Type, Int64Type, Time64MicrosecondType, TimeUnit,
    TimestampMicrosecondType, TimestampNanosecondType,
};
use calve_types::{Error, Result};
use hashbrown::HashMap;
use iceberg::spec::{
    DataFile, Datum, ManifestContentType, ManifestStatus, NestedFieldRef, PartitionSpec, PartitionSpecRef,
    PrimitiveLiteral, PrimitiveType, Snapshot, Struct, Transform, Type,
};

use super::options::EqualityDeletes;
use super::partition::{Partition, Partitioner};
use crate::error::Context;
use crate::partition_key::partition_key;
use crate::scan::in_millis;
use crate::table::Table;

/// A key column's value or bound. Numbers of all types that order like integers, else bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Value {
    Number(i128),
    Bytes(Vec<u8>),
}

/// Disjoint closed intervals, ascending; `None` is no bound.
#[derive(Debug, Default)]
struct Intervals(Vec<(Option<Value>, Option<Value>)>);

impl Intervals {
    fn new(mut all: Vec<(Option<Value>, Option<Value>)>) -> Self {
        // no lower bound sorts first
        all.sort_by(|a, b| a.0.cmp(&b.0));
        let mut merged: Vec<(Option<Value>, Option<Value>)> = Vec::new();
        for (low, high) in all {
            match merged.last_mut() {
                Some((_, last)) if last.is_none() => break,
                Some((_, last)) if low.is_none() || low <= *last => {
                    if high.is_none() || high > *last {
                        *last = high;
                    }
                }
                _ => merged.push((low, high)),
            }
        }
        Self(merged)
    }

    fn contains(&self, value: &Value) -> bool {
        let after = self.0.partition_point(|(low, _)| low.as_ref().is_none_or(|low| low <= value));
        let found = after.checked_sub(1).and_then(|i| self.0.get(i));
        found.is_some_and(|(_, high)| high.as_ref().is_none_or(|high| value <= high))
    }
}

/// Where the keys of some files lie: for every key column the union of the files' bounds.
#[derive(Debug, Default)]
struct KeyRanges {
    columns: Vec<Intervals>,
}

impl KeyRanges {
    /// False only if no file can hold the key of this row.
    fn may_contain(&self, keys: &[ArrayRef], row: usize) -> bool {
        self.columns.iter().zip(keys).all(|(column, array)| value(array, row).is_none_or(|v| column.contains(&v)))
    }
}

/// The bounds of files, before they are merged.
#[derive(Debug, Default)]
struct Collected {
    columns: Vec<Vec<(Option<Value>, Option<Value>)>>,
}

impl Collected {
    fn add(&mut self, file: &DataFile, key: &[NestedFieldRef]) {
        self.columns.resize_with(key.len(), Vec::new);
        for (column, bounds) in key.iter().zip(&mut self.columns) {
            let bound = |of: &std::collections::HashMap<i32, Datum>| of.get(&column.id).and_then(|d| bound(d, column));
            bounds.push((bound(file.lower_bounds()), bound(file.upper_bounds())));
        }
    }

    fn merge(self) -> KeyRanges {
        KeyRanges { columns: self.columns.into_iter().map(Intervals::new).collect() }
    }
}

/// A file's bound as a value of the column's present type; `None` if it cannot be compared with it.
pub(crate) fn bound(datum: &Datum, column: &NestedFieldRef) -> Option<Value> {
    let Type::Primitive(of) = column.field_type.as_ref() else { return None };
    let comparable = datum.data_type() == of
        || match (datum.data_type(), of) {
            (PrimitiveType::Int, PrimitiveType::Long) => true,
            (PrimitiveType::Decimal { scale: from, .. }, PrimitiveType::Decimal { scale: to, .. }) => from == to,
            _ => false,
        };
    if !comparable {
        return None;
    }
    match datum.literal() {
        PrimitiveLiteral::Boolean(v) => Some(Value::Number(i128::from(*v))),
        PrimitiveLiteral::Int(v) => Some(Value::Number(i128::from(*v))),
        PrimitiveLiteral::Long(v) if *of == PrimitiveType::Time => Some(Value::Number(i128::from(in_millis(*v)))),
        PrimitiveLiteral::Long(v) => Some(Value::Number(i128::from(*v))),
        PrimitiveLiteral::Int128(v) => Some(Value::Number(*v)),
        PrimitiveLiteral::UInt128(v) => Some(Value::Bytes(v.to_be_bytes().to_vec())),
        PrimitiveLiteral::String(v) => Some(Value::Bytes(v.clone().into_bytes())),
        PrimitiveLiteral::Binary(v) => Some(Value::Bytes(v.clone())),
        _ => None,
    }
}

/// A row's value of a key column; `None` if bounds say nothing about its type.
pub(crate) fn value(array: &ArrayRef, row: usize) -> Option<Value> {
    let number = |v: i64| Some(Value::Number(i128::from(v)));
    match array.data_type() {
        ArrowType::Boolean => number(i64::from(array.as_boolean().value(row))),
        ArrowType::Int32 => number(i64::from(array.as_primitive::<Int32Type>().value(row))),
        ArrowType::Date32 => number(i64::from(array.as_primitive::<Date32Type>().value(row))),
        ArrowType::Int64 => number(array.as_primitive::<Int64Type>().value(row)),
        ArrowType::Time64(TimeUnit::Microsecond) => number(array.as_primitive::<Time64MicrosecondType>().value(row)),
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
            number(array.as_primitive::<TimestampMicrosecondType>().value(row))
        }
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => {
            number(array.as_primitive::<TimestampNanosecondType>().value(row))
        }
        ArrowType::Decimal128(_, _) => Some(Value::Number(array.as_primitive::<Decimal128Type>().value(row))),
        ArrowType::Utf8 => Some(Value::Bytes(array.as_string::<i32>().value(row).as_bytes().to_vec())),
        ArrowType::Binary => Some(Value::Bytes(array.as_binary::<i32>().value(row).to_vec())),
        _ => None,
    }
}

/// Which keys a target must delete.
#[derive(Debug)]
enum Which {
    All,
    /// Those that may be in live files, by partition.
    Partitioned(HashMap<Struct, KeyRanges>),
    /// Those that may be in live files, wherever.
    Anywhere(KeyRanges),
}

/// Where equality deletes go.
#[derive(Debug)]
enum Scope {
    /// The partition of the incoming row.
    Incoming,
    /// The row's partition under another spec.
    Spec(PartitionSpecRef),
    /// All files: an unpartitioned spec.
    Global(Arc<Partition>),
}

/// The equality deletes an upsert has to write.
#[derive(Debug)]
pub(crate) struct DeleteTargets {
    targets: Vec<(Scope, Which)>,
}

impl DeleteTargets {
    /// For rows written with `spec` on top of `head`.
    ///
    /// # Errors
    /// `not-supported` if live files have another partition spec whose rows no delete file can reach; errors of
    /// reading manifests.
    pub(crate) async fn load(
        table: &Table,
        head: Option<&Snapshot>,
        spec: &PartitionSpec,
        key: &[NestedFieldRef],
        mode: EqualityDeletes,
    ) -> Result<Self> {
        let mut specs = BTreeSet::new();
        let mut found: HashMap<(i32, Struct), Collected> = HashMap::new();
        if let Some(head) = head {
            for manifest in table.manifests(head).await?.iter() {
                let live = manifest.has_added_files() || manifest.has_existing_files();
                if manifest.content != ManifestContentType::Data || !live {
                    continue;
                }
                let spec_id = manifest.partition_spec_id;
                if mode == EqualityDeletes::Always {
                    specs.insert(spec_id);
                    continue;
                }
                for entry in table.entries(manifest).await?.iter() {
                    if entry.status() == ManifestStatus::Deleted {
                        continue;
                    }
                    specs.insert(spec_id);
                    let file = entry.data_file();
                    found.entry((spec_id, partition_key(file.partition()))).or_default().add(file, key);
                }
            }
        }
        let mut by_spec: HashMap<i32, HashMap<Struct, KeyRanges>> = HashMap::new();
        if spec.fields().is_empty() {
            // global deletes reach the files of every spec
            let mut all = Collected { columns: Vec::new() };
            for collected in found.into_values() {
                all.columns.resize_with(key.len(), Vec::new);
                all.columns.iter_mut().zip(collected.columns).for_each(|(to, from)| to.extend(from));
            }
            let scope = Scope::Global(Arc::new(unpartitioned(spec)));
            let which = match mode {
                EqualityDeletes::Always => Which::All,
                // without live files there is no column to look at and nothing to delete
                EqualityDeletes::Needed if all.columns.is_empty() => Which::Partitioned(HashMap::new()),
                EqualityDeletes::Needed => Which::Anywhere(all.merge()),
            };
            return Ok(Self { targets: vec![(scope, which)] });
        }
        for ((spec_id, partition), collected) in found {
            by_spec.entry(spec_id).or_default().insert(partition, collected.merge());
        }
        specs.insert(spec.spec_id());
        let mut targets = Vec::with_capacity(specs.len());
        for spec_id in specs {
            let scope = if spec_id == spec.spec_id() { Scope::Incoming } else { scope(table, spec_id, key)? };
            let ranges = by_spec.remove(&spec_id).unwrap_or_default();
            let which = match (mode, &scope) {
                (EqualityDeletes::Always, _) => Which::All,
                (EqualityDeletes::Needed, Scope::Global(_)) => Which::Anywhere(joined(ranges, key.len())),
                (EqualityDeletes::Needed, _) => Which::Partitioned(ranges),
            };
            targets.push((scope, which));
        }
        Ok(Self { targets })
    }
}

fn joined(ranges: HashMap<Struct, KeyRanges>, columns: usize) -> KeyRanges {
    let mut all: Vec<Vec<_>> = (0..columns).map(|_| Vec::new()).collect();
    for range in ranges.into_values() {
        all.iter_mut().zip(range.columns).for_each(|(to, from)| to.extend(from.0));
    }
    KeyRanges { columns: all.into_iter().map(Intervals::new).collect() }
}

fn unpartitioned(spec: &PartitionSpec) -> Partition {
    Partition { spec_id: spec.spec_id(), values: Struct::empty(), path: String::new() }
}

/// How deletes reach the live files of another spec.
fn scope(table: &Table, spec_id: i32, key: &[NestedFieldRef]) -> Result<Scope> {
    let metadata = table.metadata();
    let spec = metadata
        .partition_spec_by_id(spec_id)
        .ok_or_else(|| Error::new("invalid-table", format!("partition spec {spec_id} of live files is unknown")))?;
    if spec.fields().is_empty() {
        return Ok(Scope::Global(Arc::new(unpartitioned(spec))));
    }
    let in_key = |id: i32| key.iter().any(|column| column.id == id);
    if spec.fields().iter().all(|f| f.transform == Transform::Void || in_key(f.source_id)) {
        return Ok(Scope::Spec(spec.clone()));
    }
    if let Some(global) = metadata.partition_specs_iter().find(|s| s.fields().is_empty()) {
        return Ok(Scope::Global(Arc::new(unpartitioned(global))));
    }
    Err(Error::unsupported("an upsert into a table with live files of an older partition spec")
        .with_detail(format!(
            "Live files have partition spec {spec_id}, which partitions by columns that are not in the primary key; \
             equality deletes of the current spec do not reach their rows, and the table has no unpartitioned spec to \
             write global deletes with."
        ))
        .with_hint("rewrite the older files with the current partition spec first"))
}

/// The deletes of one writer.
pub(crate) struct Chooser {
    targets: Arc<DeleteTargets>,
    /// For targets of other specs.
    partitioners: Vec<Option<Partitioner>>,
}

impl Chooser {
    /// For batches of the key columns `key`.
    ///
    /// # Errors
    /// As [`Partitioner::new`].
    pub(crate) fn new(targets: &Arc<DeleteTargets>, table: &Table, key: &[NestedFieldRef]) -> Result<Self> {
        let schema = table.metadata().current_schema();
        let partitioners = targets.targets.iter().map(|(scope, _)| match scope {
            Scope::Spec(spec) => Partitioner::new(spec, schema, key).map(Some),
            Scope::Incoming | Scope::Global(_) => Ok(None),
        });
        Ok(Self { partitioners: partitioners.collect::<Result<_>>()?, targets: targets.clone() })
    }

    /// The equality deletes for `rows`, all of which go to `partition`: batches of key columns with their partitions.
    /// Calls `omitted` with the number of rows for which none was needed in the partition they go to.
    ///
    /// # Errors
    /// Errors of Arrow.
    pub(crate) fn choose(
        &mut self,
        rows: &RecordBatch,
        partition: &Arc<Partition>,
        mut omitted: impl FnMut(usize),
    ) -> Result<Vec<(Arc<Partition>, RecordBatch)>> {
        let mut chosen = Vec::new();
        let mut add = |partition: &Arc<Partition>, rows: &RecordBatch, which: &Which| -> Result<usize> {
            let picked = match which {
                Which::All => Some(rows.clone()),
                Which::Anywhere(ranges) => pick(rows, Some(ranges))?,
                Which::Partitioned(by) => pick(rows, by.get(&partition_key(&partition.values)))?,
            };
            let left_out = rows.num_rows() - picked.as_ref().map_or(0, RecordBatch::num_rows);
            chosen.extend(picked.map(|picked| (partition.clone(), picked)));
            Ok(left_out)
        };
        for ((scope, which), partitioner) in self.targets.targets.iter().zip(&mut self.partitioners) {
            match (scope, partitioner) {
                (Scope::Spec(_), Some(partitioner)) => {
                    for part in partitioner.split(rows)? {
                        let partition = partitioner.partition(part.number)?.clone();
                        omitted(add(&partition, &part.rows, which)?);
                    }
                }
                (Scope::Global(global), _) => omitted(add(global, rows, which)?),
                _ => omitted(add(partition, rows, which)?),
            }
        }
        Ok(chosen)
    }
}

/// The rows whose key may be in the ranges; `None` if there are none.
fn pick(rows: &RecordBatch, ranges: Option<&KeyRanges>) -> Result<Option<RecordBatch>> {
    let Some(ranges) = ranges else { return Ok(None) };
    let keys = rows.columns();
    let picked: Vec<u32> =
        (0..rows.num_rows()).filter(|row| ranges.may_contain(keys, *row)).map(|row| row as u32).collect();
    match picked.len() {
        0 => Ok(None),
        all if all == rows.num_rows() => Ok(Some(rows.clone())),
        _ => take_record_batch(rows, &UInt32Array::from(picked)).context(|| "select keys to delete").map(Some),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    fn number(v: i128) -> Option<Value> {
        Some(Value::Number(v))
    }

    #[test]
    fn intervals_merge_and_find() {
        let all = Intervals::new(vec![(number(5), number(9)), (number(1), number(3)), (number(3), number(4))]);
        assert_eq!(all.0, [(number(1), number(4)), (number(5), number(9))]);
        for v in -2..12 {
            assert_eq!(all.contains(&Value::Number(v)), (1..=9).contains(&v), "{v}");
        }
        let open = Intervals::new(vec![(number(5), None), (None, number(1)), (number(7), number(8))]);
        for v in -2..12 {
            assert_eq!(open.contains(&Value::Number(v)), v <= 1 || v >= 5, "{v}");
        }
        assert!(!Intervals::default().contains(&Value::Number(0)));
        assert!(Intervals::new(vec![(None, None)]).contains(&Value::Bytes(vec![])));
    }

    #[test]
    fn intervals_equal_a_search_through_all() {
        use rand::RngExt;
        let mut random = rand::rng();
        for _ in 0..2_000 {
            let all: Vec<_> = (0..random.random_range(0..8))
                .map(|_| {
                    let (a, b) = (random.random_range(0..20_i128), random.random_range(0..20_i128));
                    let keep = |random: &mut rand::rngs::ThreadRng, v| random.random_bool(0.9).then_some(v);
                    let low = keep(&mut random, a.min(b)).map(Value::Number);
                    (low, keep(&mut random, a.max(b)).map(Value::Number))
                })
                .collect();
            let merged = Intervals::new(all.clone());
            for v in (-1..21).map(Value::Number) {
                let inside = |(low, high): &(Option<Value>, Option<Value>)| {
                    low.as_ref().is_none_or(|low| *low <= v) && high.as_ref().is_none_or(|high| v <= *high)
                };
                assert_eq!(merged.contains(&v), all.iter().any(inside), "{all:?} {v:?}");
            }
        }
    }
}

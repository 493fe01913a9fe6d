//! Skipping manifests and files that a filter rules out, by partition values and column bounds.
//!
//! Everything known about a manifest or a file is turned into bounds of table columns, also what its partition says;
//! DataFusion's `PruningPredicate` then decides for all of them at once. What is not known keeps a file.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow::array::{ArrayRef, BooleanArray, UInt64Array};
use arrow::datatypes::{DataType as ArrowType, SchemaRef, TimeUnit};
use datafusion::common::pruning::PruningStatistics;
use datafusion::common::{Column, ScalarValue};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_optimizer::pruning::PruningPredicate;
use iceberg::spec::{
    DataFile, Datum, ManifestFile, NestedFieldRef, PartitionSpec, PrimitiveLiteral, PrimitiveType, TableMetadata,
    Transform,
};
use iceberg::transform::create_transform_function;

use super::literal::{bound, primitive, scalar};

/// A filter that can rule out manifests and files.
pub(crate) struct Pruner {
    predicate: PruningPredicate,
    columns: Vec<PrunedColumn>,
    metadata: Arc<TableMetadata>,
    pruned_manifests: AtomicUsize,
    pruned_files: AtomicUsize,
}

/// What a pruner has ruled out so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Pruned {
    pub(crate) manifests: usize,
    /// Data files, those of ruled-out manifests included as far as the manifests' own counts tell.
    pub(crate) files: usize,
}

/// A column the filter is about.
struct PrunedColumn {
    name: String,
    field: NestedFieldRef,
    primitive: PrimitiveType,
    data_type: ArrowType,
}

/// What is known about the values of one column in a file or in all files of a manifest.
#[derive(Default)]
struct Known {
    min: Option<ScalarValue>,
    max: Option<ScalarValue>,
    nulls: Option<u64>,
    rows: Option<u64>,
    /// Bucket counts with the first and the last bucket.
    buckets: Vec<(u32, i32, i32)>,
}

impl Pruner {
    /// A pruner for a filter over `schema`, the table's columns; `None` if it is about no column that has bounds.
    pub(crate) fn new(
        filter: &Arc<dyn PhysicalExpr>,
        schema: &SchemaRef,
        metadata: &Arc<TableMetadata>,
    ) -> Option<Self> {
        let filter = super::predicate::prunable(filter, schema)?;
        let used = datafusion::physical_expr::utils::collect_columns(&filter);
        let predicate = PruningPredicate::try_new(filter, schema.clone()).ok()?;
        let current = metadata.current_schema();
        let columns: Vec<_> = used
            .iter()
            .filter_map(|column| {
                let field = current.as_struct().field_by_name(column.name())?.clone();
                let primitive = field.field_type.as_primitive_type()?.clone();
                let data_type = schema.field_with_name(column.name()).ok()?.data_type().clone();
                Some(PrunedColumn { name: column.name().to_owned(), field, primitive, data_type })
            })
            .collect();
        (!columns.is_empty()).then(|| {
            let (pruned_manifests, pruned_files) = (AtomicUsize::new(0), AtomicUsize::new(0));
            Self { predicate, columns, metadata: metadata.clone(), pruned_manifests, pruned_files }
        })
    }

    /// The ids of the columns the filter is about.
    pub(crate) fn columns(&self) -> impl Iterator<Item = i32> {
        self.columns.iter().map(|column| column.field.id)
    }

    /// Which manifests may have files with matching rows.
    pub(crate) fn manifests(&self, manifests: &[&ManifestFile]) -> Vec<bool> {
        let keep = self.keep(manifests.len(), |column, i| {
            let mut known = Known::default();
            if let Some(manifest) = manifests.get(i) {
                self.learn_from_manifest(column, manifest, &mut known);
            }
            known
        });
        let live =
            |m: &ManifestFile| m.added_files_count.unwrap_or(0).saturating_add(m.existing_files_count.unwrap_or(0));
        for manifest in manifests.iter().zip(&keep).filter(|(_, keep)| !**keep).map(|(manifest, _)| manifest) {
            self.pruned_manifests.fetch_add(1, Ordering::Relaxed);
            self.pruned_files.fetch_add(live(manifest) as usize, Ordering::Relaxed);
        }
        keep
    }

    /// What was ruled out so far.
    pub(crate) fn pruned(&self) -> Pruned {
        Pruned {
            manifests: self.pruned_manifests.load(Ordering::Relaxed),
            files: self.pruned_files.load(Ordering::Relaxed),
        }
    }

    /// Which data files, each with its spec id, may have matching rows.
    pub(crate) fn files(&self, files: &[(&DataFile, i32)]) -> Vec<bool> {
        let keep = self.keep(files.len(), |column, i| {
            let mut known = Known::default();
            if let Some((file, spec_id)) = files.get(i) {
                column.learn_from_metrics(file, &mut known);
                self.learn_from_partition(column, file, *spec_id, &mut known);
            }
            known
        });
        self.pruned_files.fetch_add(keep.iter().filter(|keep| !**keep).count(), Ordering::Relaxed);
        keep
    }

    fn keep(&self, count: usize, known: impl Fn(&PrunedColumn, usize) -> Known) -> Vec<bool> {
        let facts = Facts {
            count,
            columns: self
                .columns
                .iter()
                .map(|column| (column.name.as_str(), (column, (0..count).map(|i| known(column, i)).collect())))
                .collect(),
        };
        // a filter that cannot be decided rules out nothing
        self.predicate.prune(&facts).unwrap_or_else(|_| vec![true; count])
    }

    fn spec(&self, spec_id: i32) -> Option<&PartitionSpec> {
        self.metadata.partition_spec_by_id(spec_id).map(AsRef::as_ref)
    }

    fn learn_from_manifest(&self, column: &PrunedColumn, manifest: &ManifestFile, known: &mut Known) {
        let (Some(spec), Some(summaries)) = (self.spec(manifest.partition_spec_id), &manifest.partitions) else {
            return;
        };
        if summaries.len() != spec.fields().len() {
            return;
        }
        for (field, summary) in spec.fields().iter().zip(summaries) {
            if field.source_id != column.field.id || matches!(field.transform, Transform::Void | Transform::Unknown) {
                continue;
            }
            if !summary.contains_null {
                known.nulls = Some(0);
            }
            let Some(result) = column.result_type(field.transform) else { continue };
            let bound = |bytes: &[u8]| Datum::try_from_bytes(bytes, result.clone()).ok();
            if summary.contains_nan != Some(false) && column.data_type.is_floating() {
                continue;
            }
            let (Some(low), Some(high)) = (&summary.lower_bound, &summary.upper_bound) else { continue };
            if let (Some(low), Some(high)) = (bound(low), bound(high)) {
                column.learn_from_transform(field.transform, low.literal(), high.literal(), &result, known);
            }
        }
    }

    fn learn_from_partition(&self, column: &PrunedColumn, file: &DataFile, spec_id: i32, known: &mut Known) {
        let Some(spec) = self.spec(spec_id) else { return };
        let values = file.partition().fields();
        if values.len() != spec.fields().len() {
            return;
        }
        for (field, value) in spec.fields().iter().zip(values) {
            if field.source_id != column.field.id || matches!(field.transform, Transform::Void | Transform::Unknown) {
                continue;
            }
            match value {
                // all transforms but void map NULL, and only NULL, to NULL
                None => known.nulls = Some(file.record_count()),
                Some(value) => {
                    known.nulls = Some(0);
                    if let (Some(value), Some(result)) = (primitive(value), column.result_type(field.transform)) {
                        column.learn_from_transform(field.transform, value, value, &result, known);
                    }
                }
            }
        }
    }
}

impl PrunedColumn {
    fn result_type(&self, transform: Transform) -> Option<PrimitiveType> {
        transform.result_type(&self.field.field_type).ok()?.as_primitive_type().cloned()
    }

    fn learn_from_metrics(&self, file: &DataFile, known: &mut Known) {
        let id = self.field.id;
        known.rows = Some(file.record_count());
        known.nulls = file.null_value_counts().get(&id).copied();
        // DataFusion puts NaN above all numbers, Iceberg's bounds leave it out
        if self.data_type.is_floating() && file.nan_value_counts().get(&id) != Some(&0) {
            return;
        }
        let (low, high) = (file.lower_bounds(), file.upper_bounds());
        known.narrow(bound(low, id, &self.data_type), bound(high, id, &self.data_type));
    }

    /// What partition values from `low` to `high` say about the source.
    fn learn_from_transform(
        &self,
        transform: Transform,
        low: &PrimitiveLiteral,
        high: &PrimitiveLiteral,
        result: &PrimitiveType,
        known: &mut Known,
    ) {
        match transform {
            Transform::Identity => {
                known.narrow(scalar(low, result, &self.data_type), scalar(high, result, &self.data_type));
            }
            Transform::Bucket(count) => {
                if let (PrimitiveLiteral::Int(low), PrimitiveLiteral::Int(high)) = (low, high) {
                    known.buckets.push((count, *low, *high));
                }
            }
            Transform::Truncate(width) => match (low, high) {
                (PrimitiveLiteral::String(_) | PrimitiveLiteral::Binary(_), _) => {
                    let up = after_prefix(high).and_then(|up| scalar(&up, result, &self.data_type));
                    known.narrow(scalar(low, result, &self.data_type), up);
                }
                _ => {
                    // a value close to the least one wraps around to a width above the greatest: no bound holds then
                    if let Some(up) = add(high, i128::from(width) - 1) {
                        known.narrow(scalar(low, result, &self.data_type), scalar(&up, result, &self.data_type));
                    }
                }
            },
            Transform::Year | Transform::Month | Transform::Day | Transform::Hour => {
                if let (PrimitiveLiteral::Int(low), PrimitiveLiteral::Int(high)) = (low, high) {
                    // old writers rounded times before 1970 up instead of down
                    let low = if *low <= 0 { low.saturating_sub(1) } else { *low };
                    let first = start_of(transform, low).and_then(|start| self.time(start));
                    let next = high.checked_add(1).and_then(|h| start_of(transform, h));
                    known.narrow(first, next.and_then(|start| self.time(start)));
                }
            }
            Transform::Void | Transform::Unknown => {}
        }
    }

    /// The value of the column's type for a time in seconds since 1970.
    fn time(&self, seconds: i64) -> Option<ScalarValue> {
        Some(match &self.data_type {
            ArrowType::Date32 => ScalarValue::Date32(Some(i32::try_from(seconds.div_euclid(86_400)).ok()?)),
            ArrowType::Timestamp(TimeUnit::Microsecond, zone) => {
                ScalarValue::TimestampMicrosecond(Some(seconds.checked_mul(1_000_000)?), zone.clone())
            }
            ArrowType::Timestamp(TimeUnit::Nanosecond, zone) => {
                ScalarValue::TimestampNanosecond(Some(seconds.checked_mul(1_000_000_000)?), zone.clone())
            }
            _ => return None,
        })
    }

    /// The bucket of a value the filter compares with.
    fn bucket(&self, count: u32, value: &ScalarValue) -> Option<i32> {
        let literal = match value {
            ScalarValue::Int32(Some(v)) | ScalarValue::Date32(Some(v)) => PrimitiveLiteral::Int(*v),
            ScalarValue::Int64(Some(v)) | ScalarValue::TimestampMicrosecond(Some(v), _) => PrimitiveLiteral::Long(*v),
            ScalarValue::Utf8(Some(v)) => PrimitiveLiteral::String(v.clone()),
            ScalarValue::Binary(Some(v)) if self.primitive == PrimitiveType::Uuid => {
                PrimitiveLiteral::UInt128(u128::from_be_bytes(v.as_slice().try_into().ok()?))
            }
            ScalarValue::Binary(Some(v)) => PrimitiveLiteral::Binary(v.clone()),
            ScalarValue::Decimal128(Some(v), ..) => PrimitiveLiteral::Int128(*v),
            // nanoseconds are hashed as microseconds by some writers and not by others, and times by what is cut from them
            _ => return None,
        };
        if value.data_type() != self.data_type {
            return None;
        }
        let function = create_transform_function(&Transform::Bucket(count)).ok()?;
        let datum = datum(&self.primitive, literal)?;
        match function.transform_literal(&datum).ok()??.literal() {
            PrimitiveLiteral::Int(bucket) => Some(*bucket),
            _ => None,
        }
    }
}

/// `literal` as a value of a type, through the bytes of Iceberg's single-value serialization.
fn datum(of: &PrimitiveType, literal: PrimitiveLiteral) -> Option<Datum> {
    let bytes: Vec<u8> = match literal {
        PrimitiveLiteral::Int(v) => v.to_le_bytes().to_vec(),
        PrimitiveLiteral::Long(v) => v.to_le_bytes().to_vec(),
        PrimitiveLiteral::String(v) => v.into_bytes(),
        PrimitiveLiteral::Binary(v) => v,
        PrimitiveLiteral::UInt128(v) => v.to_be_bytes().to_vec(),
        PrimitiveLiteral::Int128(v) => v.to_be_bytes().to_vec(),
        _ => return None,
    };
    Datum::try_from_bytes(&bytes, of.clone()).ok()
}

/// The first value after all that begin with `prefix`; `None` if there is none.
fn after_prefix(prefix: &PrimitiveLiteral) -> Option<PrimitiveLiteral> {
    match prefix {
        PrimitiveLiteral::String(text) => {
            let mut chars: Vec<char> = text.chars().collect();
            while let Some(last) = chars.pop() {
                // there is nothing between the two halves of surrogate pairs
                let next = if last == '\u{D7FF}' { Some('\u{E000}') } else { char::from_u32(u32::from(last) + 1) };
                if let Some(next) = next {
                    chars.push(next);
                    return Some(PrimitiveLiteral::String(chars.into_iter().collect()));
                }
            }
            None
        }
        PrimitiveLiteral::Binary(bytes) => {
            let mut bytes = bytes.clone();
            while let Some(last) = bytes.pop() {
                if let Some(next) = last.checked_add(1) {
                    bytes.push(next);
                    return Some(PrimitiveLiteral::Binary(bytes));
                }
            }
            None
        }
        _ => None,
    }
}

fn add(literal: &PrimitiveLiteral, more: i128) -> Option<PrimitiveLiteral> {
    Some(match literal {
        PrimitiveLiteral::Int(v) => PrimitiveLiteral::Int(i32::try_from(i128::from(*v).checked_add(more)?).ok()?),
        PrimitiveLiteral::Long(v) => PrimitiveLiteral::Long(i64::try_from(i128::from(*v).checked_add(more)?).ok()?),
        PrimitiveLiteral::Int128(v) => PrimitiveLiteral::Int128(v.checked_add(more)?),
        _ => return None,
    })
}

/// When a year, month, day or hour since 1970 begins, in seconds since 1970.
fn start_of(transform: Transform, value: i32) -> Option<i64> {
    let month = |months: i64| {
        let year = i32::try_from(1970 + months.div_euclid(12)).ok()?;
        let month = u32::try_from(months.rem_euclid(12)).ok()? + 1;
        Some(chrono::NaiveDate::from_ymd_opt(year, month, 1)?.and_hms_opt(0, 0, 0)?.and_utc().timestamp())
    };
    let value = i64::from(value);
    match transform {
        Transform::Year => month(value * 12),
        Transform::Month => month(value),
        Transform::Day => Some(value * 86_400),
        Transform::Hour => Some(value * 3_600),
        _ => None,
    }
}

impl Known {
    /// Takes tighter bounds.
    fn narrow(&mut self, min: Option<ScalarValue>, max: Option<ScalarValue>) {
        use std::cmp::Ordering::{Greater, Less};
        if let Some(min) = min.map(|v| zero(v, -0.0))
            && self.min.as_ref().is_none_or(|known| min.partial_cmp(known) == Some(Greater))
        {
            self.min = Some(min);
        }
        if let Some(max) = max.map(|v| zero(v, 0.0))
            && self.max.as_ref().is_none_or(|known| max.partial_cmp(known) == Some(Less))
        {
            self.max = Some(max);
        }
    }
}

/// Zero with the sign that makes it an outer bound: writers need not tell the two zeros apart, DataFusion does.
fn zero(value: ScalarValue, zero: f64) -> ScalarValue {
    match value {
        ScalarValue::Float32(Some(0.0)) => ScalarValue::Float32(Some(zero as f32)),
        ScalarValue::Float64(Some(0.0)) => ScalarValue::Float64(Some(zero)),
        other => other,
    }
}

/// Those of `items` that are to be kept; all of them if nobody says.
pub(crate) fn kept<T>(items: Vec<T>, keep: Option<Vec<bool>>) -> Vec<T> {
    match keep {
        Some(keep) => items.into_iter().zip(keep).filter(|(_, keep)| *keep).map(|(item, _)| item).collect(),
        None => items,
    }
}

struct Facts<'a> {
    count: usize,
    columns: HashMap<&'a str, (&'a PrunedColumn, Vec<Known>)>,
}

impl Facts<'_> {
    fn values(&self, column: &Column, of: impl Fn(&Known) -> &Option<ScalarValue>) -> Option<ArrayRef> {
        let (column, known) = self.columns.get(column.name())?;
        let null = ScalarValue::try_from(&column.data_type).ok()?;
        let values = known.iter().map(|k| match of(k) {
            Some(value) if value.data_type() == column.data_type && !is_nan(value) => value.clone(),
            _ => null.clone(),
        });
        ScalarValue::iter_to_array(values).ok()
    }

    fn counts(&self, column: &Column, of: impl Fn(&Known) -> Option<u64>) -> Option<ArrayRef> {
        let (_, known) = self.columns.get(column.name())?;
        Some(Arc::new(known.iter().map(of).collect::<UInt64Array>()))
    }
}

fn is_nan(value: &ScalarValue) -> bool {
    match value {
        ScalarValue::Float32(Some(v)) => v.is_nan(),
        ScalarValue::Float64(Some(v)) => v.is_nan(),
        _ => false,
    }
}

impl PruningStatistics for Facts<'_> {
    fn min_values(&self, column: &Column) -> Option<ArrayRef> {
        self.values(column, |known| &known.min)
    }

    fn max_values(&self, column: &Column) -> Option<ArrayRef> {
        self.values(column, |known| &known.max)
    }

    fn num_containers(&self) -> usize {
        self.count
    }

    fn null_counts(&self, column: &Column) -> Option<ArrayRef> {
        self.counts(column, |known| known.nulls)
    }

    fn row_counts(&self, column: &Column) -> Option<ArrayRef> {
        self.counts(column, |known| known.rows)
    }

    fn contained(&self, column: &Column, values: &HashSet<ScalarValue>) -> Option<BooleanArray> {
        let (column, known) = self.columns.get(column.name())?;
        if known.iter().all(|k| k.buckets.is_empty() && k.min.is_none() && k.max.is_none()) {
            return None;
        }
        let mut buckets: HashMap<u32, Option<Vec<i32>>> = HashMap::new();
        let comparable = values.iter().all(|value| value.data_type() == column.data_type && !is_nan(value));
        let mut none_of = |known: &Known| {
            let below = |value: &ScalarValue| known.min.as_ref().is_some_and(|min| value < min);
            let above = |value: &ScalarValue| known.max.as_ref().is_some_and(|max| value > max);
            if comparable && values.iter().all(|value| below(value) || above(value)) {
                return true;
            }
            known.buckets.iter().any(|(count, low, high)| {
                let of_values = buckets
                    .entry(*count)
                    .or_insert_with(|| values.iter().map(|value| column.bucket(*count, value)).collect());
                of_values.as_ref().is_some_and(|all| all.iter().all(|b| b < low || b > high))
            })
        };
        Some(known.iter().map(|k| none_of(k).then_some(false)).collect())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn what_comes_after_a_prefix() {
        let text = |text: &str| match after_prefix(&PrimitiveLiteral::String(text.to_owned()))? {
            PrimitiveLiteral::String(after) => Some(after),
            _ => None,
        };
        assert_eq!(text("az").as_deref(), Some("a{"));
        assert_eq!(text("a\u{10FFFF}").as_deref(), Some("b"));
        assert_eq!(text("\u{D7FF}").as_deref(), Some("\u{E000}"));
        assert_eq!((text("\u{10FFFF}"), text("")), (None, None));
        let bytes = |bytes: &[u8]| after_prefix(&PrimitiveLiteral::Binary(bytes.to_vec()));
        assert_eq!(bytes(&[1, 255]), Some(PrimitiveLiteral::Binary(vec![2])));
        assert_eq!(bytes(&[255]), None);
    }
}

//! Casts of ARRAY, MAP, MULTISET and ROW: element by element, fields by position.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, MapArray, StructArray, new_null_array};
use arrow::datatypes::{DataType as ArrowType, Fields};
use calve_types::{Error, LogicalType, arrow as mapping};
use datafusion_common::Result as DfResult;

use super::{CastKind, Caster, uncovered};
use crate::args::{failure, mistyped};
use crate::retype::{check_nulls, check_nulls_below};

impl Caster<'_> {
    pub(super) fn nested(&self, array: &ArrayRef, from: &LogicalType, to: &LogicalType) -> DfResult<ArrayRef> {
        let strict = Caster { kind: CastKind::Cast, ..*self };
        let all = strict.elements(array, from, to);
        if self.kind == CastKind::Cast || all.is_ok() {
            return all;
        }
        // One element that cannot be cast makes its whole row NULL: find those rows.
        let null = new_null_array(&mapping::to_arrow(to).map_err(failure)?, 1);
        let rows: Vec<ArrayRef> = (0..array.len())
            .map(|row| strict.elements(&array.slice(row, 1), from, to).unwrap_or_else(|_| Arc::clone(&null)))
            .collect();
        let rows: Vec<&dyn Array> = rows.iter().map(AsRef::as_ref).collect();
        Ok(arrow::compute::concat(&rows)?)
    }

    fn elements(&self, array: &ArrayRef, from: &LogicalType, to: &LogicalType) -> DfResult<ArrayRef> {
        use LogicalType as T;
        let arrow = mapping::to_arrow(to).map_err(failure)?;
        match (from, to, &arrow) {
            (T::Array(f), T::Array(t), ArrowType::List(field)) => {
                let list = array.as_list_opt::<i32>().ok_or_else(|| mistyped("List", array))?;
                let values = self.cast(list.values(), &f.logical, &t.logical)?;
                check_nulls(&values, field)?;
                let field = Arc::clone(field);
                Ok(Arc::new(ListArray::try_new(field, list.offsets().clone(), values, list.nulls().cloned())?))
            }
            (T::Map(fk, fv), T::Map(tk, tv), ArrowType::Map(entry, _)) => {
                self.entries(array, (&fk.logical, &fv.logical), (&tk.logical, &tv.logical), entry)
            }
            (T::Multiset(f), T::Multiset(t), ArrowType::Map(entry, _)) => {
                self.entries(array, (&f.logical, &T::Int), (&t.logical, &T::Int), entry)
            }
            (T::Row(f), T::Row(t), ArrowType::Struct(fields)) => {
                let rows = array.as_struct_opt().ok_or_else(|| mistyped("Struct", array))?;
                if rows.num_columns() != f.len() || f.len() != t.len() {
                    return Err(failure(Error::internal(format!("{} fields for {from}", rows.num_columns()))));
                }
                let columns = rows
                    .columns()
                    .iter()
                    .zip(f.iter().zip(t))
                    .map(|(column, (f, t))| self.cast(column, &f.data_type.logical, &t.data_type.logical))
                    .collect::<DfResult<Vec<_>>>()?;
                for (column, field) in columns.iter().zip(fields) {
                    check_nulls_below(column, field, rows.nulls())?;
                }
                if columns.is_empty() {
                    return Ok(Arc::new(StructArray::new_empty_fields(rows.len(), rows.nulls().cloned())));
                }
                Ok(Arc::new(StructArray::try_new(Fields::clone(fields), columns, rows.nulls().cloned())?))
            }
            _ => Err(uncovered(from, to)),
        }
    }

    fn entries(
        &self,
        array: &ArrayRef,
        from: (&LogicalType, &LogicalType),
        to: (&LogicalType, &LogicalType),
        entry: &arrow::datatypes::FieldRef,
    ) -> DfResult<ArrayRef> {
        let map = array.as_map_opt().ok_or_else(|| mistyped("Map", array))?;
        let ArrowType::Struct(fields) = entry.data_type() else {
            return Err(mistyped("Struct entries", array));
        };
        let keys = self.cast(map.keys(), from.0, to.0)?;
        let columns = vec![keys, self.cast(map.values(), from.1, to.1)?];
        for (column, field) in columns.iter().zip(fields) {
            check_nulls(column, field)?;
        }
        let entries = StructArray::try_new(Fields::clone(fields), columns, None)?;
        let nulls = map.nulls().cloned();
        Ok(Arc::new(MapArray::try_new(Arc::clone(entry), map.offsets().clone(), entries, nulls, false)?))
    }
}

//! The partitions of a table, as Flink's SHOW PARTITIONS lists them.

use std::collections::BTreeSet;

use calve_types::{Error, Result};
use iceberg::spec::{DataFile, ManifestContentType, PartitionSpec, PrimitiveLiteral, PrimitiveType, StructType, Type};

use crate::scan::literal::primitive;
use crate::table::{Table, partition_type};

/// The distinct partitions of the live data files of the current snapshot, `a=x/d=19723`: Iceberg's own values (days and
/// microseconds since 1970), `null` for NULL (`FlinkCatalog.listPartitions`). `None` for a table without partitions.
///
/// # Errors
/// `io` and `invalid-table` for manifests that cannot be read.
pub async fn partitions(table: &Table) -> Result<Option<BTreeSet<String>>> {
    let metadata = table.metadata();
    if metadata.default_partition_spec().is_unpartitioned() {
        return Ok(None);
    }
    let mut found = BTreeSet::new();
    let Some(snapshot) = metadata.current_snapshot() else { return Ok(Some(found)) };
    for manifest in table.manifests(snapshot).await?.iter().filter(|m| m.content == ManifestContentType::Data) {
        let spec = metadata.partition_spec_by_id(manifest.partition_spec_id).ok_or_else(|| {
            Error::new("invalid-table", format!("there is no partition spec {}", manifest.partition_spec_id))
        })?;
        let (_, types) = partition_type(metadata, spec)?;
        let entries = table.entries_once(manifest, None).await?;
        found.extend(entries.iter().filter(|e| e.is_alive()).map(|e| name(e.data_file(), spec, &types)));
    }
    Ok(Some(found))
}

fn name(file: &DataFile, spec: &PartitionSpec, types: &StructType) -> String {
    let values = file.partition().fields();
    let fields = spec.fields().iter().zip(types.fields()).enumerate().map(|(i, (field, its_type))| {
        let value = values.get(i).and_then(Option::as_ref).and_then(primitive);
        format!("{}={}", field.name, value.map_or_else(|| "null".to_owned(), |v| text(v, &its_type.field_type)))
    });
    fields.collect::<Vec<_>>().join("/")
}

fn text(value: &PrimitiveLiteral, its_type: &Type) -> String {
    match (value, its_type) {
        (PrimitiveLiteral::Boolean(v), _) => v.to_string(),
        (PrimitiveLiteral::Int(v), _) => v.to_string(),
        (PrimitiveLiteral::Long(v), _) => v.to_string(),
        (PrimitiveLiteral::Float(v), _) => format!("{:?}", v.0),
        (PrimitiveLiteral::Double(v), _) => format!("{:?}", v.0),
        (PrimitiveLiteral::String(v), _) => v.clone(),
        (PrimitiveLiteral::Binary(v), _) => v.iter().map(|byte| format!("{byte:02x}")).collect(),
        (PrimitiveLiteral::Int128(v), Type::Primitive(PrimitiveType::Decimal { scale, .. })) => decimal(*v, *scale),
        (PrimitiveLiteral::Int128(v), _) => v.to_string(),
        (PrimitiveLiteral::UInt128(v), _) => uuid::Uuid::from_u128(*v).to_string(),
        (other, _) => format!("{other:?}"),
    }
}

fn decimal(unscaled: i128, scale: u32) -> String {
    let scale = usize::try_from(scale).unwrap_or(0);
    let sign = if unscaled < 0 { "-" } else { "" };
    let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

#[cfg(test)]
mod tests {
    use super::decimal;

    #[test]
    fn decimals_have_their_scale() {
        assert_eq!(decimal(150, 2), "1.50");
        assert_eq!(decimal(-5, 2), "-0.05");
        assert_eq!(decimal(0, 0), "0");
        assert_eq!(decimal(i128::MIN, 3), "-170141183460469231731687303715884105.728");
    }
}

//! Changes of a table's partition spec, by the rules and with the words of the Java library's `BaseUpdatePartitionSpec`.
//!
//! Files stay as they are: those written with another spec keep it, and only new ones follow the new one.

use calve_types::{Error, Result};
use iceberg::spec::{
    FormatVersion, PartitionField, Schema, TableMetadata, Transform, UnboundPartitionField, UnboundPartitionSpec,
};

use crate::error::Context;

/// One change of a table's partition spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpecChange {
    /// A new partition field.
    Add {
        /// Its source and transform.
        term: PartitionTerm,
        /// Its name; one that tells column and transform without.
        name: Option<String>,
    },
    /// No such partition field any more.
    Drop(PartitionRef),
}

/// A transform of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionTerm {
    /// The source column; dots lead into rows.
    pub column: String,
    /// The transform.
    pub transform: Transform,
}

/// What names a partition field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartitionRef {
    /// Its name, or that of the column whose values it holds.
    Name(String),
    /// Its source and transform.
    Term(PartitionTerm),
}

/// The partition spec of a table after some changes.
///
/// # Errors
/// `invalid-partition` for what Iceberg refuses, with the Java library's sentence as detail; `unknown-column`.
pub(crate) fn respec(metadata: &TableMetadata, changes: &[SpecChange]) -> Result<UnboundPartitionSpec> {
    let spec = metadata.default_partition_spec();
    let mut update = Update {
        metadata,
        schema: metadata.current_schema(),
        // ids of partition fields were not stored in version 1: their places must not change
        keeps_places: metadata.format_version() == FormatVersion::V1,
        kept: spec.fields().iter().map(|field| Kept { field: field.clone(), name: None, dropped: false }).collect(),
        added: vec![],
    };
    for change in changes {
        match change {
            SpecChange::Add { term, name } => update.add(term, name.as_deref())?,
            SpecChange::Drop(field) => update.remove(field)?,
        }
    }
    update.finish()
}

/// A field of the old spec.
struct Kept {
    field: PartitionField,
    /// Its new name.
    name: Option<String>,
    dropped: bool,
}

impl Kept {
    fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.field.name)
    }
}

struct Update<'a> {
    metadata: &'a TableMetadata,
    schema: &'a Schema,
    keeps_places: bool,
    kept: Vec<Kept>,
    added: Vec<UnboundPartitionField>,
}

impl Update<'_> {
    fn source(&self, term: &PartitionTerm) -> Result<i32> {
        let column = &term.column;
        let found = self.schema.field_id_by_name(column).and_then(|id| self.schema.field_by_id(id));
        let field = found.ok_or_else(|| {
            Error::new("unknown-column", format!("column '{column}' does not exist"))
                .with_detail(format!("Cannot find field '{column}' in the table's schema"))
        })?;
        if !field.field_type.is_primitive() {
            return Err(invalid(
                format!("cannot partition by column '{column}'"),
                format!("Cannot partition by non-primitive source field: {}", field.field_type),
            ));
        }
        let zero = matches!(term.transform, Transform::Bucket(0) | Transform::Truncate(0));
        if zero || term.transform.result_type(&field.field_type).is_err() {
            return Err(invalid(
                format!("cannot partition by {} of column '{column}'", term.transform),
                format!("Cannot bind: {} cannot transform {} values from '{column}'", term.transform, field.field_type),
            ));
        }
        Ok(field.id)
    }

    fn add(&mut self, term: &PartitionTerm, name: Option<&str>) -> Result<()> {
        let source = self.source(term)?;
        let transform = term.transform;
        let shown = format!("{transform}({})", term.column);
        let same = |field: &Kept| field.field.source_id == source && field.field.transform == transform;
        if let Some(at) = self.kept.iter().position(same) {
            let old = self.kept.get_mut(at).ok_or_else(|| Error::internal("a partition field vanished"))?;
            if !old.dropped {
                return Err(invalid(
                    format!("the table is partitioned by {shown} already"),
                    format!("Cannot add duplicate partition field {shown}, conflicts with {}", old.name()),
                ));
            }
            // dropped and added again by one statement: it stays
            old.dropped = false;
            old.name = name.map(str::to_owned);
            return Ok(());
        }
        // a field of an earlier spec comes back with its id, and its name
        let recycled = self.earlier(source, transform, name);
        let name = match (name, &recycled) {
            (Some(name), _) => name.to_owned(),
            (None, Some(field)) => field.name.clone(),
            (None, None) => default_name(&term.column, transform)?,
        };
        self.check_redundant(source, transform, &name)?;
        self.check_name(source, transform, &name)?;
        self.added.push(UnboundPartitionField {
            source_id: source,
            field_id: recycled.map(|field| field.field_id),
            name,
            transform,
        });
        Ok(())
    }

    fn earlier(&self, source: i32, transform: Transform, name: Option<&str>) -> Option<PartitionField> {
        if self.keeps_places {
            return None;
        }
        let fields = self.metadata.partition_specs_iter().flat_map(|spec| spec.fields());
        let mut same = fields.filter(|f| f.source_id == source && f.transform == transform);
        same.find(|f| name.is_none_or(|name| f.name == name)).cloned()
    }

    /// Two units of time of one column make no sense together.
    fn check_redundant(&self, source: i32, transform: Transform, name: &str) -> Result<()> {
        let kind = transform.dedup_name();
        let kept = self.kept.iter().filter(|f| !f.dropped).map(|f| (f.field.source_id, f.field.transform, f.name()));
        let added = self.added.iter().map(|f| (f.source_id, f.transform, f.name.as_str()));
        match kept.chain(added).find(|(id, t, _)| *id == source && t.dedup_name() == kind) {
            None => Ok(()),
            Some((_, _, other)) => Err(invalid(
                format!("partition field '{name}' would tell no more than '{other}'"),
                format!("Cannot add redundant partition field: {name} conflicts with {other}"),
            )
            .with_hint("REPLACE PARTITION FIELD puts the one in the place of the other")),
        }
    }

    fn check_name(&mut self, source: i32, transform: Transform, name: &str) -> Result<()> {
        let column = self.schema.field_by_name(name);
        if column.is_some_and(|column| transform != Transform::Identity || column.id != source) {
            return Err(invalid(
                format!("a column has the name '{name}'"),
                format!("Cannot create partition from name that exists in schema: {name}"),
            ));
        }
        let taken = || {
            invalid(
                format!("there is a partition field '{name}' already"),
                format!("Cannot add duplicate partition field name: {name}"),
            )
        };
        if self.added.iter().any(|f| f.name == name) {
            return Err(taken());
        }
        if let Some(old) = self.kept.iter_mut().find(|f| f.name() == name) {
            if !old.dropped && old.field.transform != Transform::Void {
                return Err(taken());
            }
            old.name = Some(format!("{name}_{}", old.field.field_id));
        }
        Ok(())
    }

    fn remove(&mut self, which: &PartitionRef) -> Result<()> {
        let (shown, at) = match which {
            PartitionRef::Name(name) => {
                let named = self.kept.iter().position(|f| f.name() == name && !f.dropped);
                let id = self.schema.field_id_by_name(name);
                let identity =
                    |f: &Kept| Some(f.field.source_id) == id && f.field.transform == Transform::Identity && !f.dropped;
                (name.clone(), named.or_else(|| self.kept.iter().position(identity)))
            }
            PartitionRef::Term(term) => {
                let source = self.source(term)?;
                let same = |f: &Kept| f.field.source_id == source && f.field.transform == term.transform && !f.dropped;
                (format!("{}({})", term.transform, term.column), self.kept.iter().position(same))
            }
        };
        // in version 1 a field that holds nothing is what is left of a dropped one
        let gone = |f: &Kept| f.field.transform == Transform::Void && self.keeps_places;
        match at.and_then(|at| self.kept.get_mut(at)).filter(|f| !gone(f)) {
            Some(field) => {
                field.dropped = true;
                Ok(())
            }
            None => {
                let names: Vec<&str> = self
                    .kept
                    .iter()
                    .filter(|f| !f.dropped && f.field.transform != Transform::Void)
                    .map(Kept::name)
                    .collect();
                let error = invalid(
                    format!("there is no partition field '{shown}'"),
                    format!("Cannot find partition field to remove: {shown}"),
                );
                Err(match names.as_slice() {
                    [] => error.with_hint("the table is not partitioned"),
                    names => error.with_hint(format!("the partition fields are {}", names.join(", "))),
                })
            }
        }
    }

    fn finish(self) -> Result<UnboundPartitionSpec> {
        let keeps_places = self.keeps_places;
        let kept = self.kept.into_iter().filter(|old| !old.dropped || keeps_places).map(|old| UnboundPartitionField {
            source_id: old.field.source_id,
            field_id: Some(old.field.field_id),
            // a column's name is free for a field that holds its values
            name: match old.name {
                None if old.dropped && self.schema.field_by_name(&old.field.name).is_some() => {
                    format!("{}_{}", old.field.name, old.field.field_id)
                }
                name => name.unwrap_or(old.field.name),
            },
            // every row has NULL there, whatever the column
            transform: if old.dropped { Transform::Void } else { old.field.transform },
        });
        Ok(UnboundPartitionSpec::builder()
            .add_partition_fields(kept.chain(self.added))
            .context(|| "change the table's partition spec")?
            .build())
    }
}

fn invalid(message: String, detail: String) -> Error {
    Error::new("invalid-partition", message).with_detail(detail)
}

/// The name the Java library gives a partition field that is added to a table (`PartitionNameGenerator`).
fn default_name(column: &str, transform: Transform) -> Result<String> {
    Ok(match transform {
        Transform::Identity => column.to_owned(),
        Transform::Bucket(n) => format!("{column}_bucket_{n}"),
        Transform::Truncate(width) => format!("{column}_trunc_{width}"),
        Transform::Year => format!("{column}_year"),
        Transform::Month => format!("{column}_month"),
        Transform::Day => format!("{column}_day"),
        Transform::Hour => format!("{column}_hour"),
        Transform::Void => format!("{column}_null"),
        Transform::Unknown => return Err(Error::unsupported("an unknown partition transform")),
    })
}

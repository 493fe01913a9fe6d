//! The definition that a CREATE TABLE asks for: its columns with their types, its key, its watermark, and Flink's
//! refusals of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use calve_planner::catalog::{Column, ColumnKind};
use calve_planner::{Field, bind};
use calve_sql::{ColumnDef, CreateTable, Ident, Name, PartitionField, PrimaryKey};
use calve_types::{DataType, Error, LogicalType, Result, Span};

use crate::catalogs::object::{DefinedColumn, KeyDef, TableDef, WatermarkDef};
use crate::resolve::Resolved;

/// The definition of a table being made.
pub(super) struct Definition<'a> {
    create: &'a CreateTable,
    resolved: &'a Resolved<'a>,
    /// What the table has so far: nothing, or what LIKE took over.
    table: TableDef,
    /// The computed columns of this statement, whose types are not known before all others are.
    computed: Vec<&'a ColumnDef>,
}

impl<'a> Definition<'a> {
    /// Begins with `base`, what LIKE took over from another table.
    pub fn new(create: &'a CreateTable, resolved: &'a Resolved<'a>, base: TableDef) -> Self {
        Self { create, resolved, table: base, computed: vec![] }
    }

    /// The table with everything the statement says.
    ///
    /// # Errors
    /// Flink's refusals of columns, keys, watermarks and partitions, at their places.
    pub fn finish(mut self, options: BTreeMap<String, String>, streaming: bool) -> Result<TableDef> {
        self.metadata_keys()?;
        // the key makes columns NOT NULL, which computed ones see
        self.primary_key()?;
        self.compute_types()?;
        self.watermark(streaming)?;
        self.partition_keys()?;
        self.distribution()?;
        if self.create.comment.is_some() {
            self.table.comment.clone_from(&self.create.comment);
        }
        self.table.options = options;
        Ok(self.table)
    }

    /// Adds a column whose values are stored.
    pub fn add_physical(&mut self, name: &str, data_type: DataType, comment: Option<String>) {
        let column = Column::physical(name, data_type);
        self.table.columns.push(DefinedColumn { column, comment });
    }

    /// Adds the columns of a query behind the declared ones; a declared one of the same name takes the query's place.
    pub fn add_of_query(&mut self, fields: &[Field]) {
        let mut declared = std::mem::take(&mut self.table.columns);
        let take = |field: &Field| match declared.iter().position(|c| c.column.name == field.name) {
            Some(at) => declared.remove(at),
            None => DefinedColumn { column: Column::physical(&field.name, field.data_type.clone()), comment: None },
        };
        let of_query: Vec<DefinedColumn> = fields.iter().map(take).collect();
        declared.extend(of_query);
        self.table.columns = declared;
    }

    /// Adds the columns of the statement, but those that CREATE TABLE AS takes from its query.
    ///
    /// # Errors
    /// `duplicate-column` where LIKE's table has one of that name that cannot be replaced.
    pub fn add_declared(&mut self, replace_computed: bool, replace_metadata: bool) -> Result<()> {
        let base = self.table.columns.len();
        for declared in &self.create.columns {
            let Some(column) = declared_column(declared) else { continue };
            if matches!(column.kind, ColumnKind::Computed(_)) {
                self.computed.push(declared);
            }
            let column = DefinedColumn { column, comment: declared.comment.clone() };
            match self.table.columns.iter().position(|c| c.column.name == declared.name.value) {
                None => self.table.columns.push(column),
                Some(at) => {
                    let old = &self.table.columns[at].column.kind;
                    let replaced = match &column.column.kind {
                        ColumnKind::Computed(_) => replace_computed && matches!(old, ColumnKind::Computed(_)),
                        ColumnKind::Metadata { .. } => replace_metadata && matches!(old, ColumnKind::Metadata { .. }),
                        ColumnKind::Physical => false,
                    };
                    if at >= base || !replaced {
                        return Err(duplicate(&declared.name, &column.column.kind, old, at < base));
                    }
                    self.table.columns[at] = column;
                }
            }
        }
        Ok(())
    }

    fn metadata_keys(&self) -> Result<()> {
        let key = |c: &DefinedColumn| match &c.column.kind {
            ColumnKind::Metadata { key, .. } => Some(key.clone()),
            _ => None,
        };
        let mut seen: BTreeMap<String, &str> = BTreeMap::new();
        for column in &self.table.columns {
            let (Some(key), name) = (key(column), &column.column.name) else { continue };
            if let Some(first) = seen.get(&key) {
                let declared = self.create.columns.iter().find(|c| c.name.value == *name);
                let place = declared.map_or(self.create.name.span, |c| c.name.span);
                return Err(Error::new("duplicate-metadata", format!("columns '{first}' and '{name}' are one metadata"))
                    .with_detail(format!(
                        "The column `{first}` and `{name}` in the table are both from the same metadata key '{key}'. \
                         Please specify one of the columns as the metadata column and use the computed column syntax to \
                         specify the others."
                    ))
                    .with_hint(format!("declare the second one as '{name} AS {first}'"))
                    .at(place));
            }
            seen.insert(key, name);
        }
        Ok(())
    }

    fn compute_types(&mut self) -> Result<()> {
        for declared in std::mem::take(&mut self.computed) {
            let calve_sql::ColumnKind::Computed(expr) = &declared.kind else { continue };
            // a computed column sees no other one
            let visible: Vec<Column> = (self.table.columns.iter().map(|c| &c.column))
                .filter(|c| !matches!(c.kind, ColumnKind::Computed(_)))
                .cloned()
                .collect();
            let data_type = bind::computed_type(expr, &visible, self.resolved).map_err(|e| e.at(declared.name.span))?;
            let column = self.table.columns.iter_mut().find(|c| c.column.name == declared.name.value);
            if let Some(column) = column {
                column.column.data_type = data_type;
            }
        }
        Ok(())
    }

    fn find(&self, name: &str) -> Option<&DefinedColumn> {
        self.table.columns.iter().find(|c| c.column.name == name)
    }

    fn names(&self, physical: bool) -> Vec<&str> {
        let columns = self.table.columns.iter().filter(|c| !physical || c.is_physical());
        columns.map(|c| c.column.name.as_str()).collect()
    }

    fn primary_key(&mut self) -> Result<()> {
        let Some(key) = &self.create.primary_key else { return Ok(()) };
        let columns = self.key_columns(key)?;
        for column in &mut self.table.columns {
            if !columns.contains(&column.column.name) {
                continue;
            }
            let declared = self.create.columns.iter().any(|c| {
                c.name.value == column.column.name && matches!(c.kind, calve_sql::ColumnKind::Physical { .. })
            });
            if declared {
                // Flink makes the columns of a primary key NOT NULL without a word
                column.column.data_type.nullable = false;
            } else if column.column.data_type.nullable {
                let name = &column.column.name;
                return Err(Error::new("nullable-key", format!("column '{name}' of the primary key is nullable"))
                    .with_detail(format!(
                        "Invalid primary key 'PK_{}'. Column '{name}' is nullable.",
                        columns.join("_")
                    ))
                    .at(key.span));
            }
        }
        self.table.primary_key = Some(match &key.name {
            Some(name) => KeyDef { name: name.value.clone(), columns },
            None => KeyDef::unnamed(columns),
        });
        Ok(())
    }

    fn key_columns(&self, key: &PrimaryKey) -> Result<Vec<String>> {
        check_not_enforced(key)?;
        let mut names: Vec<String> = vec![];
        for column in &key.columns {
            let name = &column.value;
            match self.find(name) {
                None => {
                    let detail = format!("Primary key column '{name}' is not defined in the schema");
                    return Err(self.unknown_column(column).with_detail(detail));
                }
                Some(found) if !found.is_physical() => {
                    return Err(Error::new("invalid-key", format!("column '{name}' of the primary key is not stored"))
                        .with_detail(format!(
                            "Could not create a PRIMARY KEY with column '{name}'. A PRIMARY KEY constraint must be \
                             declared on physical columns."
                        ))
                        .at(column.span));
                }
                Some(_) if names.contains(name) => {
                    return Err(Error::new(
                        "duplicate-column",
                        format!("column '{name}' stands twice in the primary key"),
                    )
                    .at(column.span));
                }
                Some(_) => names.push(name.clone()),
            }
        }
        Ok(names)
    }

    fn watermark(&mut self, streaming: bool) -> Result<()> {
        let Some(watermark) = &self.create.watermark else { return Ok(()) };
        let columns: Vec<Column> = self.table.columns.iter().map(|c| c.column.clone()).collect();
        bind::watermark(watermark, &columns, self.resolved).map_err(|e| e.at(watermark.span))?;
        self.table.watermark = Some(WatermarkDef {
            column: watermark.column.parts.clone(),
            expr: Arc::from(watermark.expr.clone()),
            is_rowtime: streaming,
        });
        Ok(())
    }

    fn partition_keys(&mut self) -> Result<()> {
        if self.create.partitioned_by.is_empty() {
            return Ok(());
        }
        for field in &self.create.partitioned_by {
            self.check_partition(field)?;
        }
        self.table.partition_keys = self.create.partitioned_by.iter().map(|f| f.column.value.clone()).collect();
        Ok(())
    }

    fn check_partition(&self, field: &PartitionField) -> Result<()> {
        let name = &field.column.value;
        match self.find(name) {
            None => {
                let available: Vec<String> = self.names(false).iter().map(|n| format!("'{n}'")).collect();
                Err(self.unknown_column(&field.column).with_detail(format!(
                    "Partition column '{name}' not defined in the table schema. Available columns: [{}]",
                    available.join(", ")
                )))
            }
            Some(column) if !column.is_physical() => {
                Err(Error::new("invalid-partition", format!("partition column '{name}' is not stored"))
                    .with_detail(format!(
                        "Invalid partition key '{name}'. A partition key must reference a physical column in the \
                         schema. Available columns are: [{}]",
                        self.names(true).join(", ")
                    ))
                    .at(field.span))
            }
            Some(_) => Ok(()),
        }
    }

    fn distribution(&mut self) -> Result<()> {
        let Some(distribution) = &self.create.distribution else { return Ok(()) };
        for column in &distribution.columns {
            if !self.find(&column.value).is_some_and(DefinedColumn::is_physical) {
                return Err(self.unknown_column(column).with_detail(format!(
                    "Invalid bucket key '{}'. A bucket key for a distribution must reference a physical column in the \
                     schema. Available columns are: [{}]",
                    column.value,
                    self.names(true).join(", ")
                )));
            }
        }
        self.table.distribution = Some(distribution.clone());
        Ok(())
    }

    fn unknown_column(&self, name: &Ident) -> Error {
        Error::new("unknown-column", format!("column '{}' is not defined", name.value))
            .did_you_mean(&name.value, self.names(false))
            .at(name.span)
    }
}

/// A column as a statement declares it; `None` if a query is to tell its type.
pub(super) fn declared_column(declared: &ColumnDef) -> Option<Column> {
    let name = declared.name.value.clone();
    let (kind, data_type) = match &declared.kind {
        calve_sql::ColumnKind::OfQuery => return None,
        calve_sql::ColumnKind::Physical { data_type, .. } => (ColumnKind::Physical, data_type.clone()),
        calve_sql::ColumnKind::Metadata { data_type, key, is_virtual } => {
            let key = key.clone().unwrap_or_else(|| name.clone());
            (ColumnKind::Metadata { key, is_virtual: *is_virtual }, data_type.clone())
        }
        // its type shows when all columns it may name are known
        calve_sql::ColumnKind::Computed(expr) => {
            (ColumnKind::Computed(Arc::from(expr.clone())), LogicalType::Null.nullable())
        }
    };
    Some(Column { name, data_type, kind })
}

/// Refuses a primary key that is to be enforced.
///
/// # Errors
/// `enforced-primary-key`.
pub(super) fn check_not_enforced(key: &PrimaryKey) -> Result<()> {
    if key.not_enforced {
        return Ok(());
    }
    Err(Error::new("enforced-primary-key", "a primary key must be NOT ENFORCED")
        .with_detail(
            "Flink doesn't support ENFORCED mode for PRIMARY KEY constraint. ENFORCED/NOT ENFORCED controls if the \
             constraint checks are performed on the incoming/outgoing data. Flink does not own the data therefore the \
             only supported mode is the NOT ENFORCED mode",
        )
        .with_hint("add NOT ENFORCED behind the PRIMARY KEY")
        .at(key.span))
}

/// The refusal of a second column of a name. `of_base`: the first one came by LIKE.
fn duplicate(name: &Ident, new: &ColumnKind, old: &ColumnKind, of_base: bool) -> Error {
    let column = &name.value;
    let detail = match (new, old) {
        (ColumnKind::Computed(_), ColumnKind::Computed(_)) if of_base => format!(
            "A generated column named '{column}' already exists in the base table. You might want to specify EXCLUDING \
             GENERATED or OVERWRITING GENERATED."
        ),
        (ColumnKind::Metadata { .. }, ColumnKind::Metadata { .. }) if of_base => format!(
            "A metadata column named '{column}' already exists in the base table. You might want to specify EXCLUDING \
             METADATA or OVERWRITING METADATA."
        ),
        (ColumnKind::Computed(_), ColumnKind::Physical) => format!(
            "A column named '{column}' already exists in the table. Duplicate columns exist in the compute column and \
             regular column."
        ),
        (ColumnKind::Computed(_), ColumnKind::Metadata { .. }) if of_base => format!(
            "A column named '{column}' already exists in the base table. Computed columns can only overwrite other \
             computed columns."
        ),
        _ if of_base => format!("A column named '{column}' already exists in the base table."),
        (ColumnKind::Physical, ColumnKind::Physical) => {
            format!("A regular Column named '{column}' already exists in the table.")
        }
        _ => format!("A column named '{column}' already exists in the table."),
    };
    Error::new("duplicate-column", format!("column '{column}' is defined twice")).with_detail(detail).at(name.span)
}

/// A table as Flink 2.1 hands it to a catalog: times have no fraction, and a ROW that can be NULL has fields that
/// can be.
pub(super) fn as_flink_keeps(mut table: TableDef) -> TableDef {
    for column in table.columns.iter_mut().filter(|c| c.is_physical()) {
        column.column.data_type = kept(column.column.data_type.clone());
    }
    table
}

fn kept(data_type: DataType) -> DataType {
    let DataType { logical, nullable } = data_type;
    let inner = |data_type: Box<DataType>| Box::new(kept(*data_type));
    let logical = match logical {
        LogicalType::Time(_) => LogicalType::Time(0),
        LogicalType::Array(element) => LogicalType::Array(inner(element)),
        LogicalType::Multiset(element) => LogicalType::Multiset(inner(element)),
        LogicalType::Map(key, value) => LogicalType::Map(inner(key), inner(value)),
        LogicalType::Row(mut fields) => {
            for field in &mut fields {
                let of_field = field.data_type.clone();
                field.data_type = kept(of_field.with_nullable(of_field.nullable || nullable));
            }
            LogicalType::Row(fields)
        }
        other => other,
    };
    DataType { logical, nullable }
}

/// The refusal of a statement without columns.
pub(super) fn no_columns(name: &Name) -> Error {
    Error::new("no-columns", format!("table '{}' has no columns", name.parts.join("."))).at(name.span)
}

/// What an Iceberg table cannot have, in the words of Flink's connector.
pub(crate) fn refuse_in_iceberg(table: &TableDef, place: Span) -> Result<()> {
    let detail = "Creating table with computed columns is not supported yet.";
    if let Some(column) = table.columns.iter().find(|c| !c.is_physical()) {
        let kind = if matches!(column.column.kind, ColumnKind::Computed(_)) { "computed" } else { "metadata" };
        let feature = format!("{kind} column '{}' in an Iceberg table", column.column.name);
        return Err(Error::unsupported(feature).with_detail(detail).at(place));
    }
    if table.watermark.is_some() {
        return Err(Error::unsupported("WATERMARK in an Iceberg table")
            .with_detail("Creating table with watermark specs is not supported yet.")
            .with_hint("leave it out, and SET 'execution.runtime-mode' = 'batch', where windows take any timestamp")
            .at(place));
    }
    Ok(())
}

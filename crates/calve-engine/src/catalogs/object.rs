//! Tables and views as the session keeps them: everything their CREATE said.

use std::collections::BTreeMap;
use std::sync::Arc;

use calve_planner::TimeAttribute;
use calve_planner::catalog::{Column, ColumnKind, View};
use calve_sql::ast;

/// A table or a view.
#[derive(Debug, Clone)]
pub(crate) enum CatalogObject {
    /// A table.
    Table(Box<TableDef>),
    /// A view.
    View(ViewDef),
}

impl CatalogObject {
    /// Columns in order.
    pub fn columns(&self) -> &[DefinedColumn] {
        match self {
            Self::Table(table) => &table.columns,
            Self::View(view) => &view.columns,
        }
    }

    /// Whether it is of a kind.
    pub fn is(&self, kind: BaseKind) -> bool {
        matches!((self, kind), (Self::Table(_), BaseKind::Table) | (Self::View(_), BaseKind::View))
    }
}

/// Tables and views share one space of names: which of the two a statement means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BaseKind {
    /// A table.
    Table,
    /// A view.
    View,
}

impl BaseKind {
    /// `table` or `view`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::View => "view",
        }
    }

    /// `Table` or `View`.
    pub fn title(self) -> &'static str {
        match self {
            Self::Table => "Table",
            Self::View => "View",
        }
    }
}

/// A column with its comment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DefinedColumn {
    /// Name, type and where its values come from.
    pub column: Column,
    /// `COMMENT`.
    pub comment: Option<String>,
}

impl DefinedColumn {
    /// Whether its values are stored.
    pub fn is_physical(&self) -> bool {
        self.column.kind == ColumnKind::Physical
    }
}

/// A table. What its connector makes of the options shows when it is read or written, as in Flink.
#[derive(Debug, Clone, Default)]
pub(crate) struct TableDef {
    /// Columns in order.
    pub columns: Vec<DefinedColumn>,
    /// `WATERMARK FOR`.
    pub watermark: Option<WatermarkDef>,
    /// The primary key.
    pub primary_key: Option<KeyDef>,
    /// `DISTRIBUTED`.
    pub distribution: Option<calve_sql::Distribution>,
    /// `PARTITIONED BY`.
    pub partition_keys: Vec<String>,
    /// `COMMENT`.
    pub comment: Option<String>,
    /// The WITH clause.
    pub options: BTreeMap<String, String>,
    /// What ALTER TABLE .. ADD PARTITION added, in order.
    pub partitions: Vec<PartitionDef>,
}

/// A partition that ALTER TABLE .. ADD PARTITION named: columns and values, in the statement's order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PartitionDef(Vec<(String, String)>);

impl PartitionDef {
    /// Gives a column its value; of two values the later one holds.
    pub fn put(&mut self, column: &str, value: String) {
        match self.0.iter_mut().find(|(name, _)| name == column) {
            Some((_, old)) => *old = value,
            None => self.0.push((column.to_owned(), value)),
        }
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn contains_key(&self, column: &str) -> bool {
        self.0.iter().any(|(name, _)| name == column)
    }

    /// Whether it has these values among its own.
    pub fn has(&self, values: &Self) -> bool {
        values.0.iter().all(|value| self.0.contains(value))
    }

    /// Whether both are the same partition, in whatever order.
    pub fn same(&self, other: &Self) -> bool {
        self.len() == other.len() && self.has(other)
    }

    /// As SHOW PARTITIONS prints it: `a=1/b=2`.
    pub fn name(&self) -> String {
        self.0.iter().map(|(column, value)| format!("{column}={value}")).collect::<Vec<_>>().join("/")
    }
}

/// As messages show it: `a=1, b=2`.
impl std::fmt::Display for PartitionDef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let values: Vec<String> = self.0.iter().map(|(column, value)| format!("{column}={value}")).collect();
        f.write_str(&values.join(", "))
    }
}

impl TableDef {
    /// The columns of the primary key, in the key's order; empty without one.
    pub fn key_columns(&self) -> &[String] {
        self.primary_key.as_ref().map_or(&[], |key| &key.columns)
    }
}

/// A primary key.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct KeyDef {
    /// The constraint's name.
    pub name: String,
    /// Its columns.
    pub columns: Vec<String>,
}

impl KeyDef {
    /// A key with the name Flink gives one that has none: `PK_a_b`.
    pub fn unnamed(columns: Vec<String>) -> Self {
        Self { name: format!("PK_{}", columns.join("_")), columns }
    }
}

/// A watermark.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WatermarkDef {
    /// The time column; more parts name a field inside a row.
    pub column: Vec<String>,
    /// The watermark.
    pub expr: Arc<ast::Expr>,
    /// Whether the column is a time attribute: it is if the table was made in streaming mode.
    pub is_rowtime: bool,
}

/// A view.
#[derive(Debug, Clone)]
pub(crate) struct ViewDef {
    /// Names and types of its columns when it was made.
    pub columns: Vec<DefinedColumn>,
    /// For each column, whether it was a time attribute then.
    pub times: Vec<Option<TimeAttribute>>,
    /// `COMMENT`.
    pub comment: Option<String>,
    /// Its query, and what was current when it was made.
    pub view: Arc<View>,
    /// The query with full names, as Flink keeps it.
    pub text: String,
}

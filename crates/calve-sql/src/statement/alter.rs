//! ALTER TABLE.

use calve_types::Span;
use sqlparser::ast;

use super::{ColumnDef, Distribution, Ident, Name, PartitionField, PrimaryKey, Property, Watermark};

/// `ALTER TABLE [IF EXISTS] t ..`
#[derive(Debug, Clone, PartialEq)]
pub struct AlterTable {
    /// The table.
    pub name: Name,
    /// `IF EXISTS`.
    pub if_exists: bool,
    /// What changes.
    pub change: AlterTableChange,
    /// Where it begins.
    pub span: Span,
}

/// What ALTER TABLE changes.
#[derive(Debug, Clone, PartialEq)]
pub enum AlterTableChange {
    /// `RENAME TO name`
    Rename(Name),
    /// `RENAME column TO column`; more parts name a field inside a row.
    RenameColumn {
        /// The column.
        from: Name,
        /// Its new name.
        to: Name,
    },
    /// `SET ('k' = 'v', ..)`, maybe empty.
    Set(Vec<Property>),
    /// `RESET ('k', ..)`, maybe empty.
    Reset(Vec<String>),
    /// `ADD`: columns, keys, a watermark, a distribution.
    Add(AlteredElements),
    /// `MODIFY`: as ADD, in place of what is there.
    Modify(AlteredElements),
    /// `DROP column`, `DROP (columns)`; more parts name a field inside a row.
    DropColumns(Vec<Name>),
    /// `DROP CONSTRAINT name`
    DropConstraint(Ident),
    /// `DROP PRIMARY KEY`
    DropPrimaryKey,
    /// `DROP WATERMARK`
    DropWatermark,
    /// `DROP DISTRIBUTION`
    DropDistribution,
    /// `ADD [IF NOT EXISTS] PARTITION (k = v, ..) [WITH (..)] ..`
    AddPartitions {
        /// `IF NOT EXISTS`.
        if_not_exists: bool,
        /// The partitions.
        partitions: Vec<AddedPartition>,
    },
    /// `DROP [IF EXISTS] PARTITION (k = v, ..), ..`
    DropPartitions {
        /// `IF EXISTS`.
        if_exists: bool,
        /// Columns and literals of each partition.
        partitions: Vec<Vec<(Ident, ast::Expr)>>,
    },
    /// `ADD PARTITION FIELD transform [AS name]`, an extension of Flink's syntax.
    AddPartitionField {
        /// The source column and its transform.
        field: PartitionField,
        /// `AS name`: the name of the field; made of column and transform without it.
        name: Option<Ident>,
    },
    /// `DROP PARTITION FIELD transform`, an extension. A field without a transform may be a column or the name of a
    /// field.
    DropPartitionField(PartitionField),
    /// `REPLACE PARTITION FIELD transform WITH transform [AS name]`, an extension. The first one may be the name of a
    /// field.
    ReplacePartitionField {
        /// What is there.
        from: PartitionField,
        /// What takes its place.
        to: PartitionField,
        /// `AS name`.
        name: Option<Ident>,
    },
    /// `CREATE [OR REPLACE] BRANCH|TAG ..`, `REPLACE BRANCH|TAG ..`, an extension, as Spark spells it.
    PutRef(Box<PutRef>),
    /// `DROP BRANCH|TAG [IF EXISTS] name`, an extension.
    DropRef {
        /// What it is.
        kind: RefKind,
        /// Its name.
        name: Ident,
        /// `IF EXISTS`.
        if_exists: bool,
    },
    /// `WRITE ..`, an extension, as Spark spells it.
    Write(WriteOrder),
}

/// A named snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefKind {
    /// `BRANCH`: commits move it.
    Branch,
    /// `TAG`
    Tag,
}

/// `[CREATE [OR]] [REPLACE] BRANCH|TAG [IF NOT EXISTS] name [AS OF VERSION n] [RETAIN n unit] [WITH SNAPSHOT RETENTION ..]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PutRef {
    /// What it is.
    pub kind: RefKind,
    /// Its name.
    pub name: Ident,
    /// `CREATE`.
    pub create: bool,
    /// `REPLACE`.
    pub replace: bool,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// `AS OF VERSION`: the id of a snapshot; without it the current one.
    pub snapshot: Option<i64>,
    /// `RETAIN`: how long it is kept, in milliseconds.
    pub max_age_ms: Option<i64>,
    /// `n SNAPSHOTS`: how many snapshots of a branch are kept at least.
    pub min_snapshots: Option<i32>,
    /// How long the snapshots of a branch are kept, in milliseconds.
    pub max_snapshot_age_ms: Option<i64>,
}

/// `[DISTRIBUTED BY PARTITION] [[LOCALLY] ORDERED BY .. | UNORDERED]`
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WriteOrder {
    /// `DISTRIBUTED BY PARTITION`.
    pub by_partition: bool,
    /// `ORDERED BY`, `UNORDERED`.
    pub ordering: Option<WriteOrdering>,
}

/// The order of the rows in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteOrdering {
    /// `UNORDERED`
    None,
    /// `[LOCALLY] ORDERED BY`
    By {
        /// `LOCALLY`.
        locally: bool,
        /// By what, in order.
        fields: Vec<SortField>,
    },
}

/// `transform [ASC|DESC] [NULLS FIRST|LAST]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortField {
    /// The column and its transform.
    pub field: PartitionField,
    /// `DESC`.
    pub descending: bool,
    /// `NULLS FIRST`; without a word, NULLs are the smallest.
    pub nulls_first: bool,
}

/// `PARTITION (k = v, ..) [WITH (..)]`
#[derive(Debug, Clone, PartialEq)]
pub struct AddedPartition {
    /// Columns and literals.
    pub values: Vec<(Ident, ast::Expr)>,
    /// `WITH`.
    pub properties: Vec<Property>,
}

/// What ADD and MODIFY name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AlteredElements {
    /// Columns in order, each with its place.
    pub columns: Vec<(ColumnDef, Option<ColumnPosition>)>,
    /// `PRIMARY KEY`, inline or as a constraint.
    pub primary_key: Option<PrimaryKey>,
    /// Where `UNIQUE` stands, for each time it does.
    pub unique: Vec<Span>,
    /// `WATERMARK FOR column AS expr`.
    pub watermark: Option<Watermark>,
    /// `DISTRIBUTION ..`.
    pub distribution: Option<Distribution>,
}

/// Where a column comes to stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnPosition {
    /// `FIRST`
    First,
    /// `AFTER column`
    After(Ident),
}

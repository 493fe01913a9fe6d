//! SHOW.

use calve_types::Span;

use super::Name;

/// `SHOW`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Show {
    /// What is listed.
    pub what: ShowWhat,
    /// `FROM | IN name`.
    pub from: Option<Name>,
    /// `[NOT] LIKE | ILIKE 'pattern'`.
    pub like: Option<ShowLike>,
    /// Where it begins.
    pub span: Span,
}

/// What SHOW lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShowWhat {
    /// `CATALOGS`
    Catalogs,
    /// `CURRENT CATALOG`
    CurrentCatalog,
    /// `DATABASES`
    Databases,
    /// `CURRENT DATABASE`
    CurrentDatabase,
    /// `TABLES`
    Tables,
    /// `VIEWS`
    Views,
    /// `FUNCTIONS`, `USER FUNCTIONS`
    Functions {
        /// `USER`: those of the user alone.
        user: bool,
    },
    /// `COLUMNS FROM table`: the name is in `from`.
    Columns,
    /// `MODULES`, `FULL MODULES`
    Modules {
        /// `FULL`: those not in use too.
        full: bool,
    },
    /// `JARS`
    Jars,
    /// `JOBS`
    Jobs,
    /// `PROCEDURES`
    Procedures,
    /// `MODELS`
    Models,
}

/// The filter of SHOW.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShowLike {
    /// Pattern.
    pub pattern: String,
    /// `ILIKE`.
    pub ignore_case: bool,
    /// `NOT`.
    pub negated: bool,
}

/// The kinds of objects SHOW CREATE prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    /// `CATALOG`
    Catalog,
    /// `TABLE`
    Table,
    /// `VIEW`
    View,
    /// `MODEL`
    Model,
}

//! Functions and procedures.

use calve_types::Span;
use sqlparser::ast;

use super::{Ident, Name, Text};

/// `CREATE [TEMPORARY [SYSTEM]] FUNCTION`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateFunction {
    /// Name; one part if it is a system function.
    pub name: Name,
    /// `TEMPORARY`, `TEMPORARY SYSTEM` or neither.
    pub scope: FunctionScope,
    /// `OR REPLACE`, which Flink reads and does not heed.
    pub or_replace: bool,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// `AS 'class'`: the class or the Python path.
    pub class: Text,
    /// `LANGUAGE`; Java without it.
    pub language: Option<FunctionLanguage>,
    /// `USING JAR 'path', ..`
    pub jars: Vec<Text>,
    /// Where the statement begins.
    pub span: Span,
}

/// `ALTER [TEMPORARY [SYSTEM]] FUNCTION`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlterFunction {
    /// Name.
    pub name: Name,
    /// `TEMPORARY`, `TEMPORARY SYSTEM` or neither.
    pub scope: FunctionScope,
    /// `IF EXISTS`.
    pub if_exists: bool,
    /// `AS 'class'`.
    pub class: Text,
    /// `LANGUAGE`; Java without it.
    pub language: Option<FunctionLanguage>,
    /// Where the statement begins.
    pub span: Span,
}

/// `DROP [TEMPORARY] [SYSTEM] FUNCTION`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropFunction {
    /// Name.
    pub name: Name,
    /// `TEMPORARY`.
    pub temporary: bool,
    /// `SYSTEM`.
    pub system: bool,
    /// `IF EXISTS`.
    pub if_exists: bool,
    /// Where the statement begins.
    pub span: Span,
}

/// Where a function is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FunctionScope {
    /// In a catalog.
    Catalog,
    /// `TEMPORARY`: in a catalog's place, for the session.
    Temporary,
    /// `TEMPORARY SYSTEM`: everywhere in the session.
    TemporarySystem,
}

/// `LANGUAGE` of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FunctionLanguage {
    /// `JAVA`
    Java,
    /// `SCALA`
    Scala,
    /// `SQL`
    Sql,
    /// `PYTHON`
    Python,
}

/// `CALL procedure(argument, name => argument, ..)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The procedure.
    pub procedure: Name,
    /// Its arguments in order.
    pub arguments: Vec<CallArgument>,
    /// Where the statement begins.
    pub span: Span,
}

/// An argument of CALL.
#[derive(Debug, Clone, PartialEq)]
pub struct CallArgument {
    /// `name =>`
    pub name: Option<Ident>,
    /// The value.
    pub value: ast::Expr,
    /// Where it stands, its name included.
    pub span: Span,
}

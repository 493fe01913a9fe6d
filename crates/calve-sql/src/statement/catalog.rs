//! Catalogs and databases.

use super::{Ident, Name, Property, Text};

/// `CREATE CATALOG`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateCatalog {
    /// Name.
    pub name: Ident,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// `COMMENT`.
    pub comment: Option<String>,
    /// `WITH`.
    pub properties: Vec<Property>,
}

/// `CREATE DATABASE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateDatabase {
    /// Name.
    pub name: Name,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// `COMMENT`.
    pub comment: Option<String>,
    /// `WITH`.
    pub properties: Vec<Property>,
}

/// What ALTER CATALOG changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AlterCatalog {
    /// `SET ('k' = 'v', ..)`, maybe empty.
    Set(Vec<Property>),
    /// `RESET ('k', ..)`, maybe empty.
    Reset(Vec<Text>),
    /// `COMMENT 'text'`
    Comment(String),
}

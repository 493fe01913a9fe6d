//! `SHOW`.

use calve_types::Result;

use super::Parser;
use crate::statement::{Name, ObjectKind, Show, ShowLike, ShowWhat, Statement};

/// What may stand behind the words of a SHOW.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Clauses {
    /// Nothing.
    None,
    /// `[NOT] LIKE | ILIKE`.
    Like,
    /// `FROM` and `[NOT] LIKE`.
    FromLike,
    /// `FROM` and `[NOT] LIKE | ILIKE`.
    FromAnyLike,
    /// `FROM`, which must stand there, and `[NOT] LIKE`.
    OfTable,
}

/// Lists, by Flink 2.1's grammar.
const LISTS: [(&[&str], ShowWhat, Clauses); 15] = [
    (&["CATALOGS"], ShowWhat::Catalogs, Clauses::Like),
    (&["CURRENT", "CATALOG"], ShowWhat::CurrentCatalog, Clauses::None),
    (&["DATABASES"], ShowWhat::Databases, Clauses::FromAnyLike),
    (&["CURRENT", "DATABASE"], ShowWhat::CurrentDatabase, Clauses::None),
    (&["TABLES"], ShowWhat::Tables, Clauses::FromLike),
    (&["VIEWS"], ShowWhat::Views, Clauses::FromLike),
    (&["FUNCTIONS"], ShowWhat::Functions { user: false }, Clauses::FromAnyLike),
    (&["USER", "FUNCTIONS"], ShowWhat::Functions { user: true }, Clauses::FromAnyLike),
    (&["COLUMNS"], ShowWhat::Columns, Clauses::OfTable),
    (&["MODULES"], ShowWhat::Modules { full: false }, Clauses::None),
    (&["FULL", "MODULES"], ShowWhat::Modules { full: true }, Clauses::None),
    (&["JARS"], ShowWhat::Jars, Clauses::None),
    (&["JOBS"], ShowWhat::Jobs, Clauses::None),
    (&["PROCEDURES"], ShowWhat::Procedures, Clauses::FromAnyLike),
    (&["MODELS"], ShowWhat::Models, Clauses::FromLike),
];

impl Parser {
    pub(super) fn show(&mut self) -> Result<Statement> {
        let span = self.span();
        self.at += 1;
        if self.keyword("CREATE") {
            return self.show_create();
        }
        if self.keyword("PARTITIONS") {
            let table = self.name("a table name")?;
            let partition = if self.keyword("PARTITION") { self.list(Self::partition_value)? } else { vec![] };
            return Ok(Statement::ShowPartitions { table, partition });
        }
        let Some((_, what, clauses)) = LISTS.into_iter().find(|(words, ..)| self.keywords(words)) else {
            let what = "CATALOGS, DATABASES, TABLES or another kind of object";
            if ["CURRENT", "FULL", "USER"].iter().any(|word| self.is_keyword(0, word)) {
                self.at += 1;
                return Err(self.expected(what));
            }
            return Err(self.expected_behind(span, what));
        };
        let from = self.show_from(what, clauses)?;
        let like = self.show_like(clauses)?;
        Ok(Statement::Show(Show { what, from, like, span }))
    }

    /// `SHOW CREATE ..`
    fn show_create(&mut self) -> Result<Statement> {
        if self.keyword("CATALOG") {
            let name = self.ident("a catalog name")?;
            let name = Name { parts: vec![name.value], span: name.span };
            return Ok(Statement::ShowCreate { kind: ObjectKind::Catalog, name });
        }
        let kind = if self.keyword("TABLE") {
            ObjectKind::Table
        } else if self.keyword("VIEW") {
            ObjectKind::View
        } else if self.keyword("MODEL") {
            ObjectKind::Model
        } else {
            return Err(self.expected("CATALOG, TABLE, VIEW or MODEL"));
        };
        Ok(Statement::ShowCreate { kind, name: self.name("the name of an object")? })
    }

    /// `FROM | IN name`
    fn show_from(&mut self, what: ShowWhat, clauses: Clauses) -> Result<Option<Name>> {
        if matches!(clauses, Clauses::None | Clauses::Like) {
            return Ok(None);
        }
        if self.keyword("FROM") || self.keyword("IN") {
            let kind = match what {
                ShowWhat::Columns => "a table name",
                ShowWhat::Databases => "a catalog name",
                _ => "a database name",
            };
            return self.name(kind).map(Some);
        }
        if clauses == Clauses::OfTable { Err(self.expected("FROM or IN")) } else { Ok(None) }
    }

    /// `[NOT] LIKE | ILIKE 'pattern'`
    fn show_like(&mut self, clauses: Clauses) -> Result<Option<ShowLike>> {
        if clauses == Clauses::None {
            return Ok(None);
        }
        let any = matches!(clauses, Clauses::Like | Clauses::FromAnyLike);
        let negated = self.keyword("NOT");
        let ignore_case = any && self.keyword("ILIKE");
        if ignore_case || self.keyword("LIKE") {
            return Ok(Some(ShowLike { pattern: self.string("a pattern in quotes")?, ignore_case, negated }));
        }
        if negated { Err(self.expected(if any { "LIKE or ILIKE" } else { "LIKE" })) } else { Ok(None) }
    }
}

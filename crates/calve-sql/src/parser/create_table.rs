//! `CREATE TABLE`.

use calve_types::{Error, LogicalType, Result};
use sqlparser::tokenizer::Token;

use super::Parser;
use crate::statement::{
    ColumnDef, ColumnKind, CreateTable, Distribution, DistributionKind, Ident, LikeFeature, LikeMode, Name,
    PartitionField, PartitionTransform, PrimaryKey, Statement, TableLike, Watermark,
};

impl Parser {
    /// `CREATE [OR REPLACE] [TEMPORARY] TABLE ..`, `REPLACE TABLE .. AS query`
    pub(super) fn create_table(&mut self) -> Result<Statement> {
        let replace = self.is_keyword(0, "REPLACE");
        self.at += 1;
        let or_replace = !replace && self.keywords(&["OR", "REPLACE"]);
        let temporary = self.keyword("TEMPORARY");
        self.expect_keywords(&["TABLE"])?;
        let if_not_exists = self.if_not_exists();
        let mut table = CreateTable {
            name: self.name("the name of a table")?,
            temporary,
            or_replace,
            replace,
            if_not_exists,
            ..self.empty_elements()
        };
        if self.token(&Token::LParen) {
            self.element(&mut table)?;
            while self.token(&Token::Comma) {
                self.element(&mut table)?;
            }
            self.expect(&Token::RParen)?;
        }
        table.comment = self.comment()?;
        if self.is_keyword(0, "DISTRIBUTED") {
            table.distribution = self.distribution()?;
        }
        if self.keywords(&["PARTITIONED", "BY"]) {
            table.partitioned_by = self.list(Self::partition_field)?;
        }
        table.properties = self.properties()?;
        if replace && !self.is_keyword(0, "AS") {
            return Err(self.expected("AS and a query"));
        }
        if self.is_keyword(0, "LIKE") {
            table.like = Some(self.table_like()?);
        } else if self.keyword("AS") {
            table.query = Some(self.query()?);
        }
        if table.query.is_none()
            && let Some(column) = table.columns.iter().find(|c| c.kind == ColumnKind::OfQuery)
        {
            return Err(Error::new("syntax-error", format!("column '{}' has no type", column.name.value))
                .with_hint("write the type behind the name")
                .at(column.name.span));
        }
        Ok(Statement::CreateTable(Box::new(table)))
    }

    /// A table without a name and without anything in it.
    pub(super) fn empty_elements(&self) -> CreateTable {
        CreateTable {
            name: Name { parts: vec![], span: self.span() },
            temporary: false,
            or_replace: false,
            replace: false,
            if_not_exists: false,
            columns: vec![],
            primary_key: None,
            unique: vec![],
            unique_constraints: vec![],
            watermark: None,
            comment: None,
            distribution: None,
            partitioned_by: vec![],
            properties: vec![],
            like: None,
            query: None,
        }
    }

    /// `LIKE table [(INCLUDING ALL ..)]`
    fn table_like(&mut self) -> Result<TableLike> {
        let span = self.span();
        self.expect_keywords(&["LIKE"])?;
        let table = self.name("a table name")?;
        let mut options = vec![];
        if self.token(&Token::LParen) {
            while !self.token(&Token::RParen) {
                options.push(self.like_option()?);
            }
        }
        Ok(TableLike { table, options, span: span.to(self.last_span()) })
    }

    fn like_option(&mut self) -> Result<(LikeMode, LikeFeature)> {
        let mode = if self.keyword("INCLUDING") {
            LikeMode::Including
        } else if self.keyword("EXCLUDING") {
            LikeMode::Excluding
        } else if self.keyword("OVERWRITING") {
            LikeMode::Overwriting
        } else {
            return Err(self.expected("INCLUDING, EXCLUDING or OVERWRITING"));
        };
        let features = [
            ("ALL", LikeFeature::All),
            ("CONSTRAINTS", LikeFeature::Constraints),
            ("DISTRIBUTION", LikeFeature::Distribution),
            ("GENERATED", LikeFeature::Generated),
            ("METADATA", LikeFeature::Metadata),
            ("OPTIONS", LikeFeature::Options),
            ("PARTITIONS", LikeFeature::Partitions),
            ("WATERMARKS", LikeFeature::Watermarks),
        ];
        match features.into_iter().find(|(word, _)| self.keyword(word)) {
            Some((_, feature)) => Ok((mode, feature)),
            None => Err(self.expected("what is copied, such as OPTIONS or ALL")),
        }
    }

    /// `DISTRIBUTED [BY [HASH | RANGE] (columns)] [INTO n BUCKETS]`; ALTER TABLE says DISTRIBUTION.
    pub(super) fn distribution(&mut self) -> Result<Option<Distribution>> {
        let start = self.span();
        if !self.keyword("DISTRIBUTED") && !self.keyword("DISTRIBUTION") {
            return Ok(None);
        }
        let (mut kind, mut columns, mut buckets) = (None, vec![], None);
        let by = self.keyword("BY");
        if by {
            kind = if self.keyword("HASH") {
                Some(DistributionKind::Hash)
            } else if self.keyword("RANGE") {
                Some(DistributionKind::Range)
            } else {
                None
            };
            columns = self.list(|p| p.ident("a column name"))?;
        }
        if self.keyword("INTO") {
            let span = self.span();
            let number = self.number("the number of buckets")?;
            buckets = match u32::try_from(number) {
                Ok(number) if number > 0 && number <= i32::MAX as u32 => Some(number),
                _ => {
                    return Err(Error::new("syntax-error", "the number of buckets must be between 1 and 2147483647")
                        .with_detail("Bucket count must be a positive integer.")
                        .at(span));
                }
            };
            self.expect_keywords(&["BUCKETS"])?;
        } else if !by {
            return Err(self.expected("BY or INTO"));
        }
        Ok(Some(Distribution { kind, columns, buckets, span: start.to(self.last_span()) }))
    }

    /// A column, a constraint or a watermark.
    pub(super) fn element(&mut self, table: &mut CreateTable) -> Result<()> {
        let span = self.span();
        if self.is_keyword(0, "WATERMARK") && self.is_keyword(1, "FOR") {
            if table.watermark.is_some() {
                return Err(Error::new("syntax-error", "a table has one watermark")
                    .with_detail("Multiple WATERMARK statements is not supported yet.")
                    .at(span));
            }
            self.at += 2;
            let column = self.name("a column name")?;
            self.expect_keywords(&["AS"])?;
            let expr = Box::new(self.expression(&[Token::Comma, Token::RParen])?);
            table.watermark = Some(Watermark { column, expr, span: span.to(self.last_span()) });
            return Ok(());
        }
        if self.is_keyword(0, "CONSTRAINT")
            || self.is_keyword(0, "PRIMARY") && self.is_keyword(1, "KEY")
            || self.is_keyword(0, "UNIQUE") && self.peek(1) == Some(&Token::LParen)
        {
            let name = if self.keyword("CONSTRAINT") { Some(self.ident("the name of the constraint")?) } else { None };
            if self.keyword("UNIQUE") {
                self.list(|p| p.ident("a column name"))?;
                self.enforced();
                table.unique_constraints.push(span.to(self.last_span()));
                return Ok(());
            }
            self.expect_keywords(&["PRIMARY", "KEY"])?;
            let columns = self.list(|p| p.ident("a column name"))?;
            let not_enforced = self.enforced();
            return set_primary_key(table, PrimaryKey { name, columns, not_enforced, span: span.to(self.last_span()) });
        }
        self.column(table)
    }

    /// `[NOT] ENFORCED`: whether it says `NOT ENFORCED`.
    fn enforced(&mut self) -> bool {
        let not = self.keywords(&["NOT", "ENFORCED"]);
        if !not {
            self.keyword("ENFORCED");
        }
        not
    }

    fn column(&mut self, table: &mut CreateTable) -> Result<()> {
        let name = self.ident("a column name")?;
        if self.keyword("AS") {
            let end = self.at;
            let expr = self.computed(end)?;
            let comment = self.comment()?;
            table.columns.push(ColumnDef { name, kind: ColumnKind::Computed(Box::new(expr)), comment });
            return Ok(());
        }
        if matches!(self.peek(0), Some(Token::Comma | Token::RParen)) {
            // all columns have types, or none has
            if table.columns.iter().any(|column| column.kind != ColumnKind::OfQuery) {
                return Err(self.expected("a data type"));
            }
            table.columns.push(ColumnDef { name, kind: ColumnKind::OfQuery, comment: None });
            return Ok(());
        }
        if table.columns.iter().any(|column| column.kind == ColumnKind::OfQuery) {
            return Err(self.expected("',' or ')': the first column has no type"));
        }
        let start = self.span();
        let data_type = self.data_type()?;
        let span = start.to(self.last_span());
        if data_type.logical.is_interval() {
            return Err(Error::new("syntax-error", "a column cannot have an interval type").at(span));
        }
        if matches!(data_type.logical, LogicalType::TimestampTz(_)) {
            return Err(Error::unsupported("TIMESTAMP WITH TIME ZONE")
                .with_hint("use TIMESTAMP_LTZ, or TIMESTAMP for a time without a zone")
                .at(span));
        }
        if data_type.logical == LogicalType::Null {
            return Err(Error::new("syntax-error", "a column cannot have the type NULL").at(span));
        }
        let mut column = ColumnDef { name, kind: ColumnKind::Physical { data_type, span }, comment: None };
        loop {
            let span = self.span();
            if self.keyword("METADATA") {
                let key = if self.keyword("FROM") { Some(self.string("a metadata key in quotes")?) } else { None };
                let is_virtual = self.keyword("VIRTUAL");
                if let ColumnKind::Physical { data_type, .. } = column.kind {
                    column.kind = ColumnKind::Metadata { data_type, key, is_virtual };
                }
            } else if self.keywords(&["PRIMARY", "KEY"]) {
                let not_enforced = self.enforced();
                let key = PrimaryKey {
                    name: None,
                    columns: vec![column.name.clone()],
                    not_enforced,
                    span: span.to(self.last_span()),
                };
                set_primary_key(table, key)?;
            } else if self.keyword("UNIQUE") {
                self.enforced();
                table.unique.push(span.to(self.last_span()));
            } else if self.is_keyword(0, "NOT")
                && let ColumnKind::Physical { data_type, .. } = &mut column.kind
                && data_type.nullable
            {
                self.expect_keywords(&["NOT", "NULL"])?;
                data_type.nullable = false;
            } else if let Some(comment) = self.comment()? {
                column.comment = Some(comment);
            } else {
                break;
            }
        }
        table.columns.push(column);
        Ok(())
    }

    /// Whether the words at `at` say where ALTER TABLE puts a column: `FIRST` or `AFTER c`, and nothing behind.
    fn is_position(&self, at: usize) -> bool {
        let word = |word: &str| {
            matches!(self.tokens.get(at).map(|t| &t.token), Some(Token::Word(w))
                if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(word))
        };
        let ends = |at: usize| {
            matches!(
                self.tokens.get(at).map(|t| &t.token),
                None | Some(Token::Comma | Token::RParen | Token::SemiColon)
            )
        };
        word("FIRST") && ends(at + 1)
            || word("AFTER")
                && matches!(self.tokens.get(at + 1).map(|t| &t.token), Some(Token::Word(_)))
                && ends(at + 2)
    }

    /// The expression of a computed column: up to `,`, `)`, COMMENT or a position.
    fn computed(&mut self, from: usize) -> Result<sqlparser::ast::Expr> {
        let mut depth = 0_usize;
        let mut at = from;
        while let Some(token) = self.tokens.get(at) {
            match &token.token {
                Token::Comma if depth == 0 => break,
                Token::RParen if depth == 0 => break,
                Token::LParen | Token::LBracket => depth += 1,
                Token::RParen | Token::RBracket => depth = depth.saturating_sub(1),
                Token::Word(_) if depth == 0 && at > from && self.is_position(at) => break,
                Token::Word(w) if depth == 0 && w.quote_style.is_none() && w.value.eq_ignore_ascii_case("COMMENT") => {
                    break;
                }
                _ => {}
            }
            at += 1;
        }
        let tokens = self.tokens.get(from..at).unwrap_or_default().to_vec();
        let mut inner = Self::over(tokens, self.span().start);
        self.at = at;
        inner.expression(&[])
    }

    pub(super) fn partition_field(&mut self) -> Result<PartitionField> {
        let start = self.span();
        // the names of transforms are no reserved words here
        let first = match (self.peek(0), self.peek(1)) {
            (Some(Token::Word(w)), Some(Token::LParen)) => {
                let value = w.value.clone();
                self.at += 1;
                Ident { value, span: start }
            }
            _ => self.ident("a partition column")?,
        };
        if !self.token(&Token::LParen) {
            return Ok(PartitionField { span: first.span, column: first, transform: None });
        }
        let mut width = || -> Result<u32> {
            let span = self.span();
            let n = self.number("a whole number")?;
            self.expect(&Token::Comma)?;
            match u32::try_from(n) {
                Ok(n) if n > 0 && n <= i32::MAX as u32 => Ok(n),
                _ => Err(Error::new("syntax-error", "the number must be between 1 and 2147483647").at(span)),
            }
        };
        let transform = match first.value.to_ascii_lowercase().as_str() {
            "years" | "year" => PartitionTransform::Year,
            "months" | "month" => PartitionTransform::Month,
            "days" | "day" => PartitionTransform::Day,
            "hours" | "hour" => PartitionTransform::Hour,
            "bucket" => PartitionTransform::Bucket(width()?),
            "truncate" => PartitionTransform::Truncate(width()?),
            other => {
                return Err(Error::new("syntax-error", format!("unknown partition transform '{other}'"))
                    .with_hint("transforms are years, months, days, hours, bucket(n, column) and truncate(w, column)")
                    .at(first.span));
            }
        };
        let column = self.ident("a partition column")?;
        self.expect(&Token::RParen)?;
        Ok(PartitionField { column, transform: Some(transform), span: start.to(self.last_span()) })
    }
}

fn set_primary_key(table: &mut CreateTable, key: PrimaryKey) -> Result<()> {
    if table.primary_key.is_some() {
        return Err(Error::new("duplicate-primary-key", "a table has one primary key")
            .with_detail("Duplicate primary key definition")
            .at(key.span));
    }
    table.primary_key = Some(key);
    Ok(())
}

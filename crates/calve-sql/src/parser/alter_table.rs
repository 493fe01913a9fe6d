//! `ALTER TABLE`.

use calve_types::{Error, Result};
use sqlparser::tokenizer::Token;

use super::Parser;
use crate::reserved::reserved_word;
use crate::statement::{
    AddedPartition, AlterTable, AlterTableChange, AlteredElements, ColumnKind, ColumnPosition, Ident, Name,
    PartitionField, Statement,
};

impl Parser {
    pub(super) fn alter_table(&mut self) -> Result<Statement> {
        let span = self.span();
        self.expect_keywords(&["ALTER", "TABLE"])?;
        let if_exists = self.if_exists();
        let name = self.name("the name of a table")?;
        self.no_column_word(&name)?;
        let change = if self.is_alter_extension() {
            self.alter_extension()?
        } else if self.keyword("RENAME") {
            self.rename()?
        } else if self.keyword("SET") {
            AlterTableChange::Set(self.maybe_empty(Self::property)?)
        } else if self.keyword("RESET") {
            AlterTableChange::Reset(self.maybe_empty(|p| p.string("an option's name in quotes"))?)
        } else if self.keyword("ADD") {
            if self.is_partition_field() {
                AlterTableChange::AddPartitionField { field: self.altered_field()?, name: self.field_name()? }
            } else if self.is_keyword(0, "PARTITION") || self.is_keyword(0, "IF") && self.is_keyword(1, "NOT") {
                self.add_partitions()?
            } else {
                AlterTableChange::Add(self.altered_elements()?)
            }
        } else if self.keyword("MODIFY") {
            AlterTableChange::Modify(self.altered_elements()?)
        } else if self.is_keyword(0, "REPLACE") && self.is_keyword(1, "PARTITION") {
            self.at += 1;
            let from = self.altered_field()?;
            self.expect_keywords(&["WITH"])?;
            let to = self.partition_field()?;
            AlterTableChange::ReplacePartitionField { from, to, name: self.field_name()? }
        } else if self.keyword("DROP") {
            self.drop_elements()?
        } else {
            return Err(self.expected("RENAME, SET, RESET, ADD, MODIFY or DROP"));
        };
        Ok(Statement::AlterTable(Box::new(AlterTable { name, if_exists, change, span })))
    }

    /// Refuses the word COLUMN, which other databases write behind ADD, MODIFY, DROP and RENAME.
    fn no_column_word(&mut self, table: &Name) -> Result<()> {
        let verb = ["ADD", "MODIFY", "DROP", "RENAME"].into_iter().find(|verb| self.is_keyword(0, verb));
        let Some(verb) = verb.filter(|_| self.is_keyword(1, "COLUMN")) else { return Ok(()) };
        let mut way_out = format!("leave COLUMN out: ALTER TABLE {} {verb}", table.parts.join("."));
        let mut ahead = 2;
        while let Some(Token::Word(word)) = self.peek(ahead) {
            way_out.push_str(&format!(" {word}"));
            ahead += 1;
        }
        if self.peek(ahead).is_some() {
            way_out.push_str(" ..");
        }
        self.at += 1;
        let what = if verb == "RENAME" { "TO or a column name" } else { "a column name" };
        Err(Error { hint: Some(way_out), ..reserved_word(what, "COLUMN", self.span()) })
    }

    /// `PARTITION FIELD ..`, behind ADD, DROP or REPLACE.
    fn is_partition_field(&self) -> bool {
        self.is_keyword(0, "PARTITION") && self.is_keyword(1, "FIELD")
    }

    fn altered_field(&mut self) -> Result<PartitionField> {
        self.expect_keywords(&["PARTITION", "FIELD"])?;
        self.partition_field()
    }

    /// `[AS name]`
    fn field_name(&mut self) -> Result<Option<Ident>> {
        if self.keyword("AS") { self.ident("the name of a partition field").map(Some) } else { Ok(None) }
    }

    fn rename(&mut self) -> Result<AlterTableChange> {
        if self.keyword("TO") {
            return Ok(AlterTableChange::Rename(self.name("the name of a table")?));
        }
        let from = self.name("TO or a column name")?;
        self.expect_keywords(&["TO"])?;
        Ok(AlterTableChange::RenameColumn { from, to: self.name("a column name")? })
    }

    fn add_partitions(&mut self) -> Result<AlterTableChange> {
        let if_not_exists = self.if_not_exists();
        let mut partitions = vec![];
        while partitions.is_empty() || self.is_keyword(0, "PARTITION") {
            self.expect_keywords(&["PARTITION"])?;
            let values = self.list(Self::partition_value)?;
            partitions.push(AddedPartition { values, properties: self.properties()? });
        }
        Ok(AlterTableChange::AddPartitions { if_not_exists, partitions })
    }

    fn drop_elements(&mut self) -> Result<AlterTableChange> {
        if self.is_partition_field() {
            return Ok(AlterTableChange::DropPartitionField(self.altered_field()?));
        }
        let if_exists = self.if_exists();
        if if_exists || self.is_keyword(0, "PARTITION") {
            let mut partitions = vec![];
            while partitions.is_empty() || self.token(&Token::Comma) {
                self.expect_keywords(&["PARTITION"])?;
                partitions.push(self.list(Self::partition_value)?);
            }
            return Ok(AlterTableChange::DropPartitions { if_exists, partitions });
        }
        Ok(if self.keyword("CONSTRAINT") {
            AlterTableChange::DropConstraint(self.ident("the name of the constraint")?)
        } else if self.keywords(&["PRIMARY", "KEY"]) {
            AlterTableChange::DropPrimaryKey
        } else if self.keyword("WATERMARK") {
            AlterTableChange::DropWatermark
        } else if self.keyword("DISTRIBUTION") {
            AlterTableChange::DropDistribution
        } else if self.peek(0) == Some(&Token::LParen) {
            AlterTableChange::DropColumns(self.list(|p| p.name("a column name"))?)
        } else {
            AlterTableChange::DropColumns(vec![self.name("a column name")?])
        })
    }

    /// `element`, `( element, .. )` or `DISTRIBUTION ..`
    fn altered_elements(&mut self) -> Result<AlteredElements> {
        let mut elements = AlteredElements::default();
        if self.is_keyword(0, "DISTRIBUTION") {
            elements.distribution = self.distribution()?;
        } else if self.token(&Token::LParen) {
            self.altered_element(&mut elements)?;
            while self.token(&Token::Comma) {
                self.altered_element(&mut elements)?;
            }
            self.expect(&Token::RParen)?;
        } else {
            self.altered_element(&mut elements)?;
        }
        Ok(elements)
    }

    fn altered_element(&mut self, elements: &mut AlteredElements) -> Result<()> {
        if self.peek(1) == Some(&Token::Period) {
            return Err(Error::unsupported("nested columns in ALTER TABLE").at(self.span()));
        }
        let mut defined = self.empty_elements();
        defined.primary_key = elements.primary_key.take();
        defined.watermark = elements.watermark.take();
        self.element(&mut defined)?;
        elements.primary_key = defined.primary_key;
        elements.watermark = defined.watermark;
        elements.unique.extend(defined.unique);
        elements.unique.extend(defined.unique_constraints);
        for column in defined.columns {
            if column.kind == ColumnKind::OfQuery {
                return Err(self.expected("a data type"));
            }
            let position = if self.keyword("FIRST") {
                Some(ColumnPosition::First)
            } else if self.keyword("AFTER") {
                Some(ColumnPosition::After(self.ident("a column name")?))
            } else {
                None
            };
            elements.columns.push((column, position));
        }
        Ok(())
    }
}

//! What ALTER TABLE has beyond Flink, as Spark spells it: branches, tags, and the order in which rows are written.

use calve_types::{Error, Result, Span};

use super::Parser;
use crate::statement::{AlterTableChange, PutRef, RefKind, SortField, WriteOrder, WriteOrdering};

impl Parser {
    /// Whether `CREATE ..`, `REPLACE BRANCH|TAG ..`, `DROP BRANCH|TAG name` or `WRITE ..` follows. A column may have the
    /// name of any of these words.
    pub(super) fn is_alter_extension(&self) -> bool {
        let is_ref = |ahead| self.is_keyword(ahead, "BRANCH") || self.is_keyword(ahead, "TAG");
        self.is_keyword(0, "CREATE")
            || self.is_keyword(0, "WRITE")
            || self.is_keyword(0, "REPLACE") && is_ref(1)
            || self.is_keyword(0, "DROP") && is_ref(1) && self.peek(2).is_some()
    }

    /// Behind the name of the table.
    pub(super) fn alter_extension(&mut self) -> Result<AlterTableChange> {
        if self.keyword("WRITE") {
            return self.write_order().map(AlterTableChange::Write);
        }
        if self.keyword("DROP") {
            let kind = self.ref_kind()?;
            let if_exists = self.if_exists();
            return Ok(AlterTableChange::DropRef { kind, name: self.ident("a name")?, if_exists });
        }
        let create = self.keyword("CREATE");
        let replace = if create { self.keywords(&["OR", "REPLACE"]) } else { self.keyword("REPLACE") };
        let kind = self.ref_kind()?;
        let if_not_exists = !replace && self.if_not_exists();
        let name = self.ident("a name")?;
        let mut put = PutRef {
            kind,
            name,
            create,
            replace,
            if_not_exists,
            snapshot: None,
            max_age_ms: None,
            min_snapshots: None,
            max_snapshot_age_ms: None,
        };
        if self.keywords(&["AS", "OF", "VERSION"]) {
            put.snapshot = Some(self.positive("the id of a snapshot", i64::MAX)?);
        }
        if self.keyword("RETAIN") {
            put.max_age_ms = Some(self.duration()?);
        }
        if kind == RefKind::Branch && self.keywords(&["WITH", "SNAPSHOT", "RETENTION"]) {
            if self.is_keyword(1, "SNAPSHOTS") {
                let count = self.positive("a number of snapshots", i64::from(i32::MAX))?;
                put.min_snapshots = i32::try_from(count).ok();
                self.at += 1;
            }
            if put.min_snapshots.is_none() || !self.is_end() {
                put.max_snapshot_age_ms = Some(self.duration()?);
            }
        }
        Ok(AlterTableChange::PutRef(Box::new(put)))
    }

    fn ref_kind(&mut self) -> Result<RefKind> {
        match (self.keyword("BRANCH"), self.keyword("TAG")) {
            (true, _) => Ok(RefKind::Branch),
            (_, true) => Ok(RefKind::Tag),
            _ => Err(self.expected("BRANCH or TAG")),
        }
    }

    fn positive(&mut self, what: &str, most: i64) -> Result<i64> {
        let place = self.span();
        match i64::try_from(self.number(what)?) {
            Ok(number) if number > 0 && number <= most => Ok(number),
            _ => Err(out_of_range(most, place)),
        }
    }

    /// `n DAYS`, `n HOURS`, `n MINUTES`, in milliseconds.
    fn duration(&mut self) -> Result<i64> {
        let place = self.span();
        let number = self.positive("a number of days, hours or minutes", i64::MAX)?;
        const UNITS: [(&str, i64); 3] = [("DAYS", 86_400_000), ("HOURS", 3_600_000), ("MINUTES", 60_000)];
        match UNITS.iter().find(|(unit, _)| self.keyword(unit)) {
            Some((_, millis)) => number.checked_mul(*millis).ok_or_else(|| out_of_range(i64::MAX / millis, place)),
            None => Err(self.expected("DAYS, HOURS or MINUTES")),
        }
    }

    /// `[DISTRIBUTED BY PARTITION] [[LOCALLY] ORDERED BY .. | UNORDERED]`, in any order.
    fn write_order(&mut self) -> Result<WriteOrder> {
        let mut write = WriteOrder::default();
        loop {
            let place = self.span();
            let twice = |clause: &str| Error::new("syntax-error", format!("{clause} is given twice")).at(place);
            if self.keywords(&["DISTRIBUTED", "BY", "PARTITION"]) {
                if std::mem::replace(&mut write.by_partition, true) {
                    return Err(twice("DISTRIBUTED BY PARTITION"));
                }
                continue;
            }
            let ordering = if self.keyword("UNORDERED") {
                WriteOrdering::None
            } else {
                let locally = self.keyword("LOCALLY");
                if !self.keywords(&["ORDERED", "BY"]) {
                    if locally {
                        return Err(self.expected("ORDERED BY"));
                    }
                    break;
                }
                WriteOrdering::By { locally, fields: self.sort_fields()? }
            };
            if write.ordering.replace(ordering).is_some() {
                return Err(twice("the order"));
            }
        }
        match write {
            WriteOrder { by_partition: false, ordering: None } => {
                Err(self.expected("ORDERED BY, LOCALLY ORDERED BY, UNORDERED or DISTRIBUTED BY PARTITION"))
            }
            write => Ok(write),
        }
    }

    fn sort_fields(&mut self) -> Result<Vec<SortField>> {
        use sqlparser::tokenizer::Token;
        if self.peek(0) == Some(&Token::LParen) {
            return self.list(Self::sort_field);
        }
        let mut fields = vec![self.sort_field()?];
        while self.token(&Token::Comma) {
            fields.push(self.sort_field()?);
        }
        Ok(fields)
    }

    fn sort_field(&mut self) -> Result<SortField> {
        let field = self.partition_field()?;
        let descending = if self.keyword("ASC") { false } else { self.keyword("DESC") };
        let nulls_first = if self.keyword("NULLS") {
            match (self.keyword("FIRST"), self.keyword("LAST")) {
                (true, _) => true,
                (_, true) => false,
                _ => return Err(self.expected("FIRST or LAST")),
            }
        } else {
            !descending
        };
        Ok(SortField { field, descending, nulls_first })
    }
}

fn out_of_range(most: i64, place: Span) -> Error {
    Error::new("syntax-error", format!("the number must be between 1 and {most}")).at(place)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;
    use crate::parser::parse_one;
    use crate::statement::{PartitionTransform, Statement};

    fn change(text: &str) -> AlterTableChange {
        match parse_one(text).unwrap_or_else(|e| panic!("{text}: {e}")) {
            Statement::AlterTable(alter) => alter.change,
            other => panic!("{other:?}"),
        }
    }

    fn put(text: &str) -> PutRef {
        match change(text) {
            AlterTableChange::PutRef(put) => *put,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn branches_and_tags() {
        let branch = put(
            "ALTER TABLE c.d.t CREATE OR REPLACE BRANCH `my-b` AS OF VERSION 12 RETAIN 2 DAYS WITH SNAPSHOT RETENTION 3 SNAPSHOTS 5 MINUTES",
        );
        assert_eq!((branch.kind, branch.create, branch.replace), (RefKind::Branch, true, true));
        assert_eq!((branch.name.value.as_str(), branch.snapshot), ("my-b", Some(12)));
        assert_eq!(
            (branch.max_age_ms, branch.min_snapshots, branch.max_snapshot_age_ms),
            (Some(172_800_000), Some(3), Some(300_000))
        );
        let tag = put("alter table t create tag if not exists v1 retain 1 hours");
        assert_eq!((tag.kind, tag.if_not_exists, tag.replace), (RefKind::Tag, true, false));
        assert_eq!((tag.max_age_ms, tag.snapshot), (Some(3_600_000), None));
        let replaced = put("ALTER TABLE t REPLACE BRANCH b WITH SNAPSHOT RETENTION 4 HOURS");
        assert_eq!((replaced.create, replaced.replace), (false, true));
        assert_eq!((replaced.min_snapshots, replaced.max_snapshot_age_ms), (None, Some(14_400_000)));
        assert!(matches!(
            change("ALTER TABLE t DROP BRANCH IF EXISTS b"),
            AlterTableChange::DropRef { kind: RefKind::Branch, if_exists: true, name } if name.value == "b"
        ));
        // columns of these names
        assert!(matches!(change("ALTER TABLE t DROP branch"), AlterTableChange::DropColumns(_)));
        for wrong in [
            "ALTER TABLE t CREATE b",
            "ALTER TABLE t CREATE OR REPLACE BRANCH IF NOT EXISTS b",
            "ALTER TABLE t CREATE BRANCH b RETAIN 0 DAYS",
            "ALTER TABLE t CREATE BRANCH b RETAIN 9223372036854775807 DAYS",
            "ALTER TABLE t CREATE BRANCH b RETAIN 1 WEEKS",
            "ALTER TABLE t CREATE BRANCH b WITH SNAPSHOT RETENTION",
            "ALTER TABLE t CREATE BRANCH b WITH SNAPSHOT RETENTION 99999999999 SNAPSHOTS",
            "ALTER TABLE t CREATE TAG b WITH SNAPSHOT RETENTION 1 SNAPSHOTS",
            "ALTER TABLE t CREATE",
            "ALTER TABLE t DROP BRANCH IF EXISTS",
        ] {
            assert_eq!(parse_one(wrong).unwrap_err().code, "syntax-error", "{wrong}");
        }
    }

    #[test]
    fn orders() {
        let AlterTableChange::Write(write) = change(
            "ALTER TABLE t WRITE ORDERED BY a DESC, bucket(4, b) NULLS LAST, c DESC NULLS FIRST DISTRIBUTED BY PARTITION",
        ) else {
            panic!()
        };
        assert!(write.by_partition);
        let Some(WriteOrdering::By { locally: false, fields }) = write.ordering else { panic!() };
        let shown: Vec<_> =
            fields.iter().map(|f| (f.field.column.value.as_str(), f.descending, f.nulls_first)).collect();
        assert_eq!(shown, [("a", true, false), ("b", false, false), ("c", true, true)]);
        assert_eq!(fields[1].field.transform, Some(PartitionTransform::Bucket(4)));
        assert!(matches!(
            change("ALTER TABLE t WRITE LOCALLY ORDERED BY (a, b)"),
            AlterTableChange::Write(WriteOrder { by_partition: false, ordering: Some(WriteOrdering::By { locally: true, fields }) })
                if fields.len() == 2
        ));
        let unordered = WriteOrder { by_partition: false, ordering: Some(WriteOrdering::None) };
        assert_eq!(change("ALTER TABLE t WRITE UNORDERED"), AlterTableChange::Write(unordered));
        for wrong in [
            "ALTER TABLE t WRITE",
            "ALTER TABLE t WRITE LOCALLY",
            "ALTER TABLE t WRITE UNORDERED ORDERED BY a",
            "ALTER TABLE t WRITE DISTRIBUTED BY PARTITION DISTRIBUTED BY PARTITION",
            "ALTER TABLE t WRITE ORDERED BY",
            "ALTER TABLE t WRITE ORDERED BY a NULLS",
        ] {
            assert_eq!(parse_one(wrong).unwrap_err().code, "syntax-error", "{wrong}");
        }
    }
}

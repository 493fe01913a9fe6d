//! A table, its model, and the statements that change both.

use std::collections::{BTreeMap, BTreeSet};

use calve_engine::{ResultBody, Session, StatementResult};
use rand::RngExt;
use rand::rngs::StdRng;

use crate::common::{try_rows, try_run};
use crate::model::{Branch, Column, FIELDS, Key, Kind, MAIN, Row, Rows, cell, hint, partition};

const BRANCH: &str = "audit";
const NAMES: [&str; 7] = ["c0", "c1", "c2", "c3", "c4", "c5", "c6"];

pub struct Table {
    pub session: Session,
    pub random: StdRng,
    pub seed: u64,
    pub script: Vec<String>,
    pub format_version: u8,
    pub copy_on_write: bool,
    pub columns: Vec<Column>,
    /// The id of the next column.
    pub next: usize,
    /// The partition fields of what is written now.
    pub spec: Vec<String>,
    pub branches: BTreeMap<&'static str, Branch>,
    /// In the order of the commits: their ids differ from run to run.
    pub snapshots: Vec<(i64, Rows)>,
    pub tags: Vec<Rows>,
}

impl Table {
    fn roll(&mut self, sides: usize) -> usize {
        self.random.random_range(0..sides)
    }

    fn key(&mut self) -> Key {
        let k = ["a", "b", "ab", "é"][self.roll(4)].to_owned();
        (self.random.random_range(-4..10), k)
    }

    /// A row for the next INSERT; most columns have a value.
    fn row(&mut self) -> Row {
        let mut values = BTreeMap::new();
        for column in self.columns.iter().filter(|column| column.id > 1) {
            if self.random.random_bool(0.8) {
                values.insert(column.id, column.kind.value(&mut self.random));
            }
        }
        Row { values, spec: self.spec.clone() }
    }

    fn tuple(&self, key: &Key, row: &Row) -> String {
        let value = |column: &Column| column.kind.literal(cell(column.id, key, row).as_ref());
        format!("({})", self.columns.iter().map(value).collect::<Vec<_>>().join(", "))
    }

    fn told(&self) -> String {
        format!("CALVE_SEED={} CALVE_SEQUENCES=1\n{};", self.seed, self.script.join(";\n"))
    }

    pub async fn run(&mut self, sql: &str) -> StatementResult {
        self.script.push(sql.to_owned());
        let result = try_run(&mut self.session, sql).await;
        match result {
            Ok(Some(result)) => result,
            Ok(None) => panic!("no statement in {sql:?}"),
            Err(error) => panic!("{error:?}\n{}", self.told()),
        }
    }

    /// Runs a write, after which the branch is `after`; how many rows it tells of.
    async fn write(&mut self, branch: &'static str, sql: &str, after: Branch) -> u64 {
        let result = self.run(sql).await;
        let ResultBody::Written(summaries) = result.body else { panic!("not a write\n{}", self.told()) };
        match summaries[0].snapshot_id {
            Some(id) => {
                self.snapshots.push((id, after.rows.clone()));
                self.branches.insert(branch, after);
            }
            None => {
                let before = self.branches.get(branch).map(|branch| &branch.rows);
                assert_eq!(before, Some(&after.rows), "nothing was written\n{}", self.told());
            }
        }
        summaries[0].rows
    }

    pub async fn check(&mut self, query: &str, rows: &Rows) {
        let result = try_rows(&mut self.session, query).await;
        let mut got = match result {
            Ok(got) => got,
            Err(error) => panic!("{query}\n{error:?}\n{}", self.told()),
        };
        let shown = |(key, row): (&Key, &Row)| -> Vec<Option<String>> {
            self.columns.iter().map(|column| cell(column.id, key, row)).collect()
        };
        let mut want: Vec<Vec<Option<String>>> = rows.iter().map(shown).collect();
        got.sort();
        want.sort();
        assert_eq!(got, want, "{query}, read and expected\n{}", self.told());
    }

    async fn check_branches(&mut self) {
        for (branch, state) in self.branches.clone() {
            self.check(&format!("SELECT * FROM t{}", hint(branch, "")), &state.rows).await;
        }
    }

    /// What a write to a branch begins with: the first write makes it from main.
    fn base(&self, branch: &str) -> Branch {
        self.branches.get(branch).unwrap_or(&self.branches[MAIN]).clone()
    }

    async fn append(&mut self, branch: &'static str) -> bool {
        let mut after = self.base(branch);
        let mut tuples = vec![];
        for _ in 0..=self.roll(6) {
            let (key, row) = (self.key(), self.row());
            if after.rows.contains_key(&key) {
                continue;
            }
            tuples.push(self.tuple(&key, &row));
            after.rows.insert(key, row);
        }
        if tuples.is_empty() {
            return false;
        }
        let hint = hint(branch, "'upsert-enabled' = 'false'");
        self.write(branch, &format!("INSERT INTO t{hint} VALUES {}", tuples.join(", ")), after).await;
        true
    }

    /// Rows of random keys, also several of one key, whose last one counts.
    fn upserted(&mut self) -> (Vec<String>, Rows) {
        let (mut tuples, mut rows, mut key) = (vec![], Rows::new(), self.key());
        for _ in 0..=self.roll(8) {
            if self.random.random_bool(0.75) {
                key = self.key();
            }
            let row = self.row();
            tuples.push(self.tuple(&key, &row));
            rows.insert(key.clone(), row);
        }
        (tuples, rows)
    }

    async fn upsert(&mut self, branch: &'static str) -> bool {
        let mut after = self.base(branch);
        let (tuples, rows) = self.upserted();
        after.rows.extend(rows);
        let mode = ["equality", "position"][self.roll(2)];
        let hint = hint(branch, &format!("'upsert-enabled' = 'true', 'calve.upsert.mode' = '{mode}'"));
        self.write(branch, &format!("INSERT INTO t{hint} VALUES {}", tuples.join(", ")), after).await;
        true
    }

    /// Replaces the partitions of the rows, among the files that have the table's partition fields; or all.
    async fn overwrite(&mut self, branch: &'static str) -> bool {
        let before = self.base(branch);
        if before.rewritten && !self.spec.is_empty() {
            return false;
        }
        let (tuples, new) = self.upserted();
        let partitions: BTreeSet<Vec<String>> = new.keys().map(|key| partition(&self.spec, key)).collect();
        let mut rows = before.rows;
        rows.retain(|key, row| {
            let replaced = row.spec == self.spec && partitions.contains(&partition(&self.spec, key));
            !self.spec.is_empty() && !replaced
        });
        if new.keys().any(|key| rows.contains_key(key)) {
            // in a file with other partition fields: there would be two rows of one key
            return false;
        }
        rows.extend(new);
        let hint = hint(branch, "'upsert-enabled' = 'false'");
        let sql = format!("INSERT OVERWRITE t{hint} VALUES {}", tuples.join(", "));
        self.write(branch, &sql, Branch { rows, rewritten: false }).await;
        true
    }

    /// A condition, and the keys of the rows for which it is true.
    fn condition(&mut self, rows: &Rows, depth: usize) -> (String, BTreeSet<Key>) {
        if depth > 0 && self.random.random_bool(0.4) {
            let (a, of_a) = self.condition(rows, depth - 1);
            let (b, of_b) = self.condition(rows, depth - 1);
            return match self.roll(3) {
                0 => (format!("({a} AND {b})"), of_a.intersection(&of_b).cloned().collect()),
                1 => (format!("({a} OR {b})"), of_a.union(&of_b).cloned().collect()),
                _ => (format!("({a} IS NOT TRUE)"), rows.keys().filter(|key| !of_a.contains(*key)).cloned().collect()),
            };
        }
        let at = self.roll(self.columns.len());
        let Column { id, name, kind } = self.columns[at].clone();
        let at = self.roll(rows.len() + 1);
        let there = rows.iter().nth(at).and_then(|(key, row)| cell(id, key, row));
        let value = there.unwrap_or_else(|| kind.value(&mut self.random));
        let literal = kind.literal(Some(&value));
        let number = |text: &str| text.parse::<i64>().unwrap();
        let form = self.roll(if matches!(kind, Kind::Int | Kind::Long) { 4 } else { 3 });
        let sql = match form {
            0 => format!("({name} IS NULL)"),
            1 => format!("({name} = {literal})"),
            2 => format!("({name} <> {literal})"),
            _ => format!("({name} > {literal})"),
        };
        let holds = |key: &Key, row: &Row| match (form, cell(id, key, row)) {
            (0, cell) => cell.is_none(),
            (_, None) => false,
            (1, Some(cell)) => cell == value,
            (2, Some(cell)) => cell != value,
            (_, Some(cell)) => number(&cell) > number(&value),
        };
        (sql, rows.iter().filter(|(key, row)| holds(key, row)).map(|(key, _)| key.clone()).collect())
    }

    /// Copy-on-write writes whole files anew, with the table's partition fields.
    fn rewritten(&self, before: &Branch, keys: &BTreeSet<Key>) -> bool {
        let other = before.rows.values().any(|row| row.spec != self.spec);
        before.rewritten || (self.copy_on_write && other && !keys.is_empty())
    }

    async fn delete(&mut self, branch: &'static str) -> bool {
        let Some(mut after) = self.branches.get(branch).cloned() else { return false };
        let (condition, keys) = self.condition(&after.rows, 2);
        after.rewritten = self.rewritten(&after, &keys);
        after.rows.retain(|key, _| !keys.contains(key));
        let sql = format!("DELETE FROM t{} WHERE {condition}", hint(branch, ""));
        let changed = self.write(branch, &sql, after).await;
        assert_eq!(changed, keys.len() as u64, "rows deleted\n{}", self.told());
        true
    }

    async fn update(&mut self, branch: &'static str) -> bool {
        let Some(mut after) = self.branches.get(branch).cloned() else { return false };
        let at = self.roll(self.columns.len());
        let Column { id, name, kind } = self.columns[at].clone();
        if id < 2 {
            return false;
        }
        let (condition, keys) = self.condition(&after.rows, 2);
        after.rewritten = self.rewritten(&after, &keys);
        let value = self.random.random_bool(0.8).then(|| kind.value(&mut self.random));
        let counts = matches!(kind, Kind::Int | Kind::Long) && self.random.random_bool(0.5);
        for key in &keys {
            let row = after.rows.get_mut(key).unwrap();
            let old = row.values.remove(&id);
            let new = if counts { old.map(|n| (n.parse::<i64>().unwrap() + 1).to_string()) } else { value.clone() };
            row.values.extend(new.map(|new| (id, new)));
            row.spec = self.spec.clone();
        }
        let set = if counts { format!("{name} + 1") } else { kind.literal(value.as_ref()) };
        let sql = format!("UPDATE t{} SET {name} = {set} WHERE {condition}", hint(branch, ""));
        let changed = self.write(branch, &sql, after).await;
        assert_eq!(changed, keys.len() as u64, "rows updated\n{}", self.told());
        true
    }

    /// Puts a column among the others; how ALTER TABLE says where.
    fn place(&mut self, column: Column, otherwise: usize) -> String {
        match self.roll(4) {
            0 => {
                self.columns.insert(0, column);
                " FIRST".to_owned()
            }
            1 => {
                let at = self.roll(self.columns.len());
                let after = format!(" AFTER {}", self.columns[at].name);
                self.columns.insert(at + 1, column);
                after
            }
            _ => {
                self.columns.insert(otherwise, column);
                String::new()
            }
        }
    }

    /// Adds, drops, renames, widens or moves a column that is not of the key.
    async fn change_columns(&mut self) -> bool {
        let used: Vec<String> = self.columns.iter().map(|column| column.name.clone()).collect();
        let free: Vec<&str> = NAMES.into_iter().filter(|name| !used.iter().any(|used| used == name)).collect();
        let at = self.roll(self.columns.len());
        let mut column = self.columns[at].clone();
        let sql = match self.roll(5) {
            0 | 1 if !free.is_empty() => {
                let kinds = [Kind::Int, Kind::Long, Kind::Float, Kind::Double, Kind::Decimal(6), Kind::Text];
                let (name, kind) = (free[self.roll(free.len())], kinds[self.roll(kinds.len())]);
                let last = self.columns.len();
                let place = self.place(Column { id: self.next, name: name.to_owned(), kind }, last);
                self.next += 1;
                format!("ADD {name} {}{place}", kind.sql())
            }
            _ if column.id < 2 => return false,
            2 if !free.is_empty() => {
                let new = free[self.roll(free.len())];
                self.columns[at].name = new.to_owned();
                format!("RENAME {} TO {new}", column.name)
            }
            3 => {
                self.columns.remove(at);
                format!("DROP {}", column.name)
            }
            _ => {
                self.columns.remove(at);
                column.kind = column.kind.wider();
                let place = self.place(column.clone(), at);
                format!("MODIFY {} {}{place}", column.name, column.kind.sql())
            }
        };
        self.run(&format!("ALTER TABLE t {sql}")).await;
        true
    }

    async fn change_partitions(&mut self) -> bool {
        let field = FIELDS[self.roll(FIELDS.len())];
        let there = self.spec.iter().any(|other| other == field);
        if there || self.spec.len() == 2 {
            let at = self.roll(self.spec.len());
            let gone = self.spec.remove(at);
            self.run(&format!("ALTER TABLE t DROP PARTITION FIELD {gone}")).await;
        } else {
            self.spec.push(field.to_owned());
            self.run(&format!("ALTER TABLE t ADD PARTITION FIELD {field}")).await;
        }
        true
    }

    /// A tag of any snapshot.
    async fn tag(&mut self) -> bool {
        if self.snapshots.is_empty() {
            return false;
        }
        let at = self.roll(self.snapshots.len());
        let (id, rows) = self.snapshots[at].clone();
        let sql = format!("ALTER TABLE t CREATE TAG t{} AS OF VERSION {id}", self.tags.len());
        self.tags.push(rows);
        self.run(&sql).await;
        true
    }

    async fn upgrade(&mut self) -> bool {
        if self.format_version > 2 || self.random.random_bool(0.8) {
            return false;
        }
        self.format_version = 3;
        self.run("ALTER TABLE t SET ('format-version' = '3')").await;
        true
    }

    pub async fn step(&mut self) {
        let branch = if self.random.random_bool(0.25) { BRANCH } else { MAIN };
        let done = match self.roll(24) {
            0..=3 => self.append(branch).await,
            4..=8 => self.upsert(branch).await,
            9..=11 => self.delete(branch).await,
            12..=14 => self.update(branch).await,
            15..=17 => self.overwrite(branch).await,
            18..=20 => self.change_columns().await,
            21 => self.change_partitions().await,
            22 => self.tag().await,
            _ => self.upgrade().await,
        };
        if !done {
            self.upsert(branch).await;
        }
        self.check_branches().await;
    }
}

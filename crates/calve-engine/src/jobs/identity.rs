//! Which job a statement is, and which of the job's writes each of its INSERTs: the ids in the summaries of its snapshots.
//!
//! The option `calve.job-id` names the job of a whole run; without it every statement is a job of its own. The operator id
//! of a write is made of the job's id, the write's text and how many equal ones the run has completed before, so that it is
//! the same whenever the run is made again, whatever else is left out, added or fails. The place of a write, such as `2.1`
//! for the first INSERT of the second statement that writes, tells when a run under the same id is another one.

use std::collections::HashMap;

use calve_iceberg::commit::{JobInfo, parse_job_id};
use calve_sql::{Insert, LexemeKind, lexemes, print};
use calve_types::{Error, Result};

/// The option that names the job.
pub(crate) const JOB_ID: &str = "calve.job-id";

/// The checkpoint id of the end of a bounded input, as Flink's sink writes it.
const END_OF_INPUT: i64 = i64::MAX;

/// The jobs of a session.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    runs: HashMap<String, Run>,
}

/// What the session did under a job id that it was given.
#[derive(Debug, Default)]
struct Run {
    /// Statements that write and have begun.
    statements: u64,
    /// Writes that were completed, by their text.
    completed: HashMap<String, u64>,
}

/// The job of one statement.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    /// 32 hexadecimal digits.
    pub id: String,
    /// Whether `calve.job-id` named it.
    pub is_given: bool,
    /// Its writes, in order.
    writes: Vec<Write>,
}

#[derive(Debug, Clone)]
struct Write {
    text: String,
    info: JobInfo,
}

impl Jobs {
    /// A statement that writes begins; `given` is the value of `calve.job-id`, `texts` are its writes.
    ///
    /// # Errors
    /// `invalid-option` for what is no job id.
    pub fn begin(&mut self, given: Option<&str>, texts: Vec<String>) -> Result<Job> {
        let (id, mut run) = match given {
            Some(id) => {
                let id = check(id)?;
                let run = self.runs.entry(id.clone()).or_default();
                run.statements += 1;
                (id, Some(run))
            }
            None => (uuid::Uuid::now_v7().simple().to_string(), None),
        };
        let mut writes: Vec<Write> = Vec::with_capacity(texts.len());
        for (number, text) in texts.into_iter().enumerate() {
            let completed = run.as_ref().and_then(|run| run.completed.get(&text).copied()).unwrap_or(0);
            let equal = writes.iter().filter(|write| write.text == text).count() as u64;
            let info = JobInfo {
                job_id: id.clone(),
                operator_id: format!("{:032x}", hash(&format!("{id}\n{}\n{text}", completed + equal))),
                checkpoint_id: END_OF_INPUT,
                place: run.as_mut().map(|run| format!("{}.{}", run.statements, number + 1)),
            };
            writes.push(Write { text, info });
        }
        Ok(Job { id, is_given: given.is_some(), writes })
    }

    /// The statement is done: equal writes that follow are others. One that failed counts for nothing, so that it can be
    /// run again in the same session, too.
    pub fn completed(&mut self, job: &Job) {
        if let Some(run) = self.runs.get_mut(&job.id) {
            for write in &job.writes {
                *run.completed.entry(write.text.clone()).or_default() += 1;
            }
        }
    }
}

impl Job {
    /// What the snapshots of its writes say of the job, in order.
    pub fn infos(&self) -> impl Iterator<Item = &JobInfo> {
        self.writes.iter().map(|write| &write.info)
    }

    /// As [`Self::infos`], of the only write of a statement.
    ///
    /// # Errors
    /// `internal` for a job without writes.
    pub fn info(&self) -> Result<&JobInfo> {
        self.infos().next().ok_or_else(|| Error::internal("a job without writes"))
    }
}

/// A job id as it is written into snapshots.
///
/// # Errors
/// `invalid-option` for anything but 32 hexadecimal digits, or a UUID.
pub(crate) fn check(id: &str) -> Result<String> {
    parse_job_id(id).ok_or_else(|| {
        Error::new(
            "invalid-option",
            format!("invalid value '{id}' for option '{JOB_ID}': expected 32 hexadecimal digits"),
        )
        .with_hint("a new one for each run of a script: the output of uuidgen will do")
    })
}

/// An INSERT without what does not matter; `target` is the full name of its table.
pub(crate) fn text_of_insert(insert: &Insert, target: &str) -> String {
    let name = |name: &calve_sql::Name| name.parts.iter().map(|p| print::identifier(p)).collect::<Vec<_>>().join(".");
    let mut text = if insert.overwrite { "INSERT OVERWRITE " } else { "INSERT INTO " }.to_owned();
    text += target;
    for (key, value) in insert.hint.iter().flat_map(|hint| &hint.options) {
        text += &format!(" {}={}", print::string(key), print::string(value));
    }
    for (column, value) in &insert.partition {
        text += &format!(" {}={}", print::identifier(&column.value), print::expr(value));
    }
    for column in insert.columns.iter().flatten() {
        text += &format!(" {}", name(column));
    }
    text + " " + &print::query(&insert.query)
}

/// A statement without its comments and its white space.
pub(crate) fn text_of_statement(text: &str) -> String {
    let words = lexemes(text).into_iter().filter(|lexeme| lexeme.kind != LexemeKind::Comment);
    words.filter_map(|lexeme| text.get(lexeme.range)).collect::<Vec<_>>().join(" ")
}

/// FNV-1a of 128 bits: the same for ever, which the standard library's hashes are not.
fn hash(text: &str) -> u128 {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    text.bytes().fold(OFFSET, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef";

    fn begin(jobs: &mut Jobs, texts: &[&str]) -> Job {
        jobs.begin(Some(ID), texts.iter().map(|t| (*t).to_owned()).collect()).unwrap()
    }

    fn operators(job: &Job) -> Vec<String> {
        job.infos().map(|info| info.operator_id.clone()).collect()
    }

    #[test]
    fn a_run_made_again_has_the_same_ids() {
        let run = || {
            let mut jobs = Jobs::default();
            let mut all = vec![];
            for texts in [&["a", "b", "a"][..], &["a"], &["c"]] {
                let job = begin(&mut jobs, texts);
                jobs.completed(&job);
                all.extend(operators(&job));
            }
            all
        };
        let once = run();
        assert_eq!(once, run());
        let different: std::collections::BTreeSet<_> = once.iter().collect();
        assert_eq!(different.len(), once.len());
        assert!(once.iter().all(|id| parse_job_id(id).as_ref() == Some(id)));
        // FNV's own examples
        assert_eq!(hash(""), 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
        assert_eq!(hash("a"), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
    }

    #[test]
    fn a_statement_that_failed_is_the_same_when_it_comes_again() {
        let mut jobs = Jobs::default();
        let failed = begin(&mut jobs, &["a"]);
        let again = begin(&mut jobs, &["a"]);
        assert_eq!(operators(&failed), operators(&again));
        assert_ne!(failed.info().unwrap().place, again.info().unwrap().place);
        jobs.completed(&again);
        assert_ne!(operators(&begin(&mut jobs, &["a"])), operators(&again));
        let other = jobs.begin(None, vec!["a".to_owned()]).unwrap();
        assert!(!other.is_given && other.info().unwrap().place.is_none() && other.id != ID);
    }

    #[test]
    fn job_ids() {
        assert_eq!(check("01234567-89AB-CDEF-0123-456789abcdef").unwrap(), ID);
        for wrong in ["", "1", "0123456789abcdef0123456789abcdeg", "0123456789abcdef-0123456789abcdef"] {
            assert_eq!(check(wrong).unwrap_err().code, "invalid-option", "{wrong}");
        }
    }

    #[test]
    fn what_does_not_matter_is_left_out() {
        let insert = |sql: &str| {
            let statement = calve_sql::split(sql).remove(0);
            let calve_sql::Statement::Insert(insert) = calve_sql::parse(&statement).unwrap() else { panic!("{sql}") };
            text_of_insert(&insert, "c.d.t")
        };
        let one = insert("INSERT INTO t /*+ OPTIONS('branch'='b') */ (a, c) SELECT 1, b FROM s WHERE b > 'x'");
        assert_eq!(
            one,
            insert("insert into t /*+ OPTIONS('branch' = 'b') */ (a,c) -- why\n select 1,b from s\nwhere b>'x'")
        );
        for other in [
            "INSERT INTO t /*+ OPTIONS('branch'='b2') */ (a, c) SELECT 1, b FROM s WHERE b > 'x'",
            "INSERT INTO t (a, c) SELECT 1, b FROM s WHERE b > 'x'",
            "INSERT INTO t /*+ OPTIONS('branch'='b') */ (a, d) SELECT 1, b FROM s WHERE b > 'x'",
            "INSERT INTO t /*+ OPTIONS('branch'='b') */ (a, c) SELECT 1, b FROM s WHERE b > 'X'",
        ] {
            assert_ne!(one, insert(other));
        }
        assert_eq!(
            text_of_statement("-- c\nDELETE  FROM t\n WHERE a='x  y' /* z */"),
            text_of_statement("DELETE FROM t WHERE a = 'x  y'")
        );
    }
}

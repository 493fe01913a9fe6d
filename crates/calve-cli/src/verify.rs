//! `calve verify-commit`: whether a commit happened whose outcome nobody told.

use std::fmt::Write;
use std::io;

use calve_engine::{CommitMark, CommitVerdict, JobSnapshot, Session, SessionConfig, utc};
use calve_sql::Statement;
use calve_types::Error;
use serde_json::{Value, json};

use crate::args::{VerifyArgs, VerifyFormat};
use crate::diagnostics::{Diagnostics, say};
use crate::exit::Exit;
use crate::invocation::{self, Script};
use crate::{run, write_all};

/// What is known of a commit to one table.
struct Answer {
    table: String,
    verdict: Result<CommitVerdict, Error>,
}

/// Asks the tables and prints what they know.
pub fn run(args: VerifyArgs) -> Exit {
    let mark = match mark(&args) {
        Ok(mark) => mark,
        Err(why) => {
            say(format_args!("calve: {why}"));
            return Exit::Usage;
        }
    };
    let scripts = match args.init.iter().map(|path| invocation::read(path)).collect::<Result<Vec<_>, _>>() {
        Ok(scripts) => scripts,
        Err(why) => {
            say(format_args!("calve: {why}"));
            return Exit::Usage;
        }
    };
    let config = SessionConfig { options: args.define.clone(), ..SessionConfig::default() };
    let mut session = match Session::new(config) {
        Ok(session) => session,
        Err(error) => {
            tell(&error, &Script { name: "<command line>".to_owned(), text: String::new() }, 1);
            return Exit::Usage;
        }
    };
    run::on_runtime(async {
        for script in &scripts {
            if let Err((error, line)) = define(&mut session, script).await {
                tell(&error, script, line);
                return Exit::CommitUnknown;
            }
        }
        let mut answers = Vec::with_capacity(args.tables.len());
        for table in &args.tables {
            answers.push(match session.verify_commit(table, &args.branch, &mark).await {
                Ok((table, verdict)) => Answer { table, verdict: Ok(verdict) },
                Err(error) => Answer { table: table.clone(), verdict: Err(error) },
            });
        }
        let exit = answers.iter().map(Answer::exit).fold(Exit::Done, Exit::worst);
        let report: Result<String, serde_json::Error> = match args.output {
            VerifyFormat::Text => Ok(answers.iter().map(|answer| answer.text(&args.branch, &mark)).collect()),
            VerifyFormat::Jsonl => answers
                .iter()
                .map(|answer| serde_json::to_string(&answer.object(&args.branch, &mark)).map(|line| line + "\n"))
                .collect(),
        };
        match report {
            Ok(report) => write_all(report.as_bytes(), exit),
            Err(e) => {
                say(format_args!("calve: {}", io::Error::from(e)));
                Exit::CommitUnknown
            }
        }
    })
}

/// Which commit the command line asks for.
fn mark(args: &VerifyArgs) -> Result<CommitMark, String> {
    let id = |name: &str, text: &String| {
        calve_engine::job_id(text).ok_or_else(|| format!("--{name}: '{text}' is not 32 hexadecimal digits"))
    };
    match (&args.job_id, args.snapshot_id) {
        (_, Some(snapshot_id)) => Ok(CommitMark::Snapshot(snapshot_id)),
        (Some(job_id), None) => {
            let operator_id = args.operator_id.as_ref().map(|text| id("operator-id", text)).transpose()?;
            Ok(CommitMark::Job { job_id: id("job-id", job_id)?, operator_id })
        }
        (None, None) => Err("name the commit by --job-id or --snapshot-id".to_owned()),
    }
}

/// Runs what a script says of catalogs; everything else in it is passed over. An error comes with the line of its statement.
async fn define(session: &mut Session, script: &Script) -> Result<(), (Error, u32)> {
    for statement in calve_sql::split(&script.text) {
        let is_definition = calve_sql::parse(&statement).is_ok_and(|parsed| {
            matches!(
                parsed,
                Statement::CreateCatalog(_)
                    | Statement::AlterCatalog { .. }
                    | Statement::UseCatalog { .. }
                    | Statement::UseDatabase { .. }
                    | Statement::Set { option: Some(_) }
                    | Statement::Reset { .. }
            )
        });
        if !is_definition {
            continue;
        }
        match session.execute(&statement).await {
            Ok(_) => {}
            // two scripts may define one, and a store of catalogs may have it
            Err(error) if error.code == "catalog-exists" => {}
            Err(error) => return Err((error, statement.line)),
        }
    }
    Ok(())
}

fn tell(error: &Error, script: &Script, line: u32) {
    Diagnostics::for_stderr().print_error(error, script, line);
}

impl Answer {
    fn exit(&self) -> Exit {
        match &self.verdict {
            Ok(CommitVerdict::Committed(_) | CommitVerdict::TakenBack(_)) => Exit::Done,
            Ok(CommitVerdict::NotCommitted) => Exit::Problems,
            Ok(CommitVerdict::Expired { .. }) | Err(_) => Exit::CommitUnknown,
        }
    }

    fn text(&self, branch: &str, mark: &CommitMark) -> String {
        let table = &self.table;
        let wanted = match mark {
            CommitMark::Snapshot(id) => format!("snapshot {id}"),
            CommitMark::Job { job_id, operator_id: None } => format!("a snapshot of job {job_id}"),
            CommitMark::Job { job_id, operator_id: Some(id) } => format!("a snapshot of operator {id} of job {job_id}"),
        };
        match &self.verdict {
            Ok(CommitVerdict::Committed(found)) => format!("committed: {table} has {}\n", described(found)),
            Ok(CommitVerdict::TakenBack(found)) => format!(
                "committed: {table} had {}, which no branch has any more: it was rolled back or replaced\n",
                described(found)
            ),
            Ok(CommitVerdict::NotCommitted) => {
                format!("not committed: branch '{branch}' of {table} does not have {wanted}\n")
            }
            Ok(CommitVerdict::Expired { since }) => format!(
                "cannot tell: branch '{branch}' of {table} does not have {wanted}, and its snapshots before {} have expired\n",
                utc(*since)
            ),
            Err(error) => {
                let mut line = format!("cannot tell: {table}: {error}");
                for more in [&error.detail, &error.hint].into_iter().flatten() {
                    // a String takes everything
                    let _ = write!(line, "; {more}");
                }
                line + "\n"
            }
        }
    }

    fn object(&self, branch: &str, mark: &CommitMark) -> Value {
        let mut object = json!({"table": self.table, "branch": branch});
        let Some(fields) = object.as_object_mut() else { return object };
        let mut set = |key: &str, value: Value| drop(fields.insert(key.to_owned(), value));
        if let CommitMark::Job { job_id, operator_id } = mark {
            set("job_id", job_id.as_str().into());
            if let Some(id) = operator_id {
                set("operator_id", id.as_str().into());
            }
        }
        let found = match &self.verdict {
            Ok(CommitVerdict::Committed(found)) => {
                set("status", "committed".into());
                Some(found)
            }
            Ok(CommitVerdict::TakenBack(found)) => {
                set("status", "taken-back".into());
                Some(found)
            }
            Ok(CommitVerdict::NotCommitted) => {
                set("status", "not-committed".into());
                None
            }
            Ok(CommitVerdict::Expired { since }) => {
                set("status", "unknown".into());
                set("expired_before", utc(*since).into());
                None
            }
            Err(error) => {
                set("status", "unknown".into());
                set(
                    "error",
                    json!({"code": error.code, "message": error.message, "detail": error.detail, "hint": error.hint}),
                );
                None
            }
        };
        match (found, mark) {
            (Some(found), _) => {
                set("snapshot_id", found.snapshot_id.to_string().into());
                set("committed_at", utc(found.committed_at).into());
                set("operation", found.operation.as_str().into());
                set("rows", found.rows.into());
                set("data_files", found.data_files.into());
                set("delete_files", found.delete_files.into());
            }
            (None, CommitMark::Snapshot(id)) => set("snapshot_id", id.to_string().into()),
            (None, CommitMark::Job { .. }) => {}
        }
        object
    }
}

fn described(found: &JobSnapshot) -> String {
    let rows = match found.rows {
        1 => "1 row added".to_owned(),
        rows => format!("{rows} rows added"),
    };
    format!("snapshot {} of {} ({}, {rows})", found.snapshot_id, utc(found.committed_at), found.operation)
}

/// What stands before the hint of a commit of unknown outcome.
const COMMAND: &str = "calve verify-commit ";

/// An error with the command that asks for its outcome completed: by the scripts that define its catalogs, and the options
/// that say where catalogs are kept.
pub fn completed(error: Error, scripts: &[String], options: &[(String, String)]) -> Error {
    let Some(behind) = error.hint.as_ref().and_then(|hint| hint.strip_prefix(COMMAND)) else { return error };
    let mut command = COMMAND.to_owned();
    for (key, value) in options.iter().filter(|(key, _)| key.starts_with("table.catalog-store.")) {
        command += &format!("-D {} ", quoted(&format!("{key}={value}")));
    }
    match scripts {
        // there is no file to name
        [] => command += "-i CATALOGS.sql ",
        scripts => scripts.iter().for_each(|script| command += &format!("-i {} ", quoted(script))),
    }
    let hint = format!("{command}{behind}");
    error.with_hint(hint)
}

/// A word that a shell takes as it is.
fn quoted(word: &str) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '/' | '=' | ':');
    match !word.is_empty() && !word.starts_with('-') && word.chars().all(harmless) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn the_command_names_the_scripts_of_the_run() {
        let error = Error::new("commit-unknown", "lost").with_hint("calve verify-commit --job-id x t\ntells");
        let hint = |scripts: &[&str], options: &[(&str, &str)]| {
            let scripts: Vec<String> = scripts.iter().map(|s| (*s).to_owned()).collect();
            let options: Vec<_> = options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
            completed(error.clone(), &scripts, &options).hint.unwrap()
        };
        assert_eq!(hint(&[], &[]), "calve verify-commit -i CATALOGS.sql --job-id x t\ntells");
        assert_eq!(
            hint(&["a.sql", "it's.sql"], &[("a", "b"), ("table.catalog-store.kind", "file")]),
            "calve verify-commit -D table.catalog-store.kind=file -i a.sql -i 'it'\\''s.sql' --job-id x t\ntells"
        );
        let other = Error::new("io", "no").with_hint("look");
        assert_eq!(completed(other.clone(), &[], &[]), other);
    }
}

//! `calve check`: problems of scripts, which are not run.

mod json;
mod sarif;
mod text;

use std::io::{self, IsTerminal};

use calve_engine::{CheckConfig, Checker, Finding, Severity};
use calve_types::Error;

use crate::args::{CheckArgs, ReportFormat};
use crate::diagnostics::{Diagnostics, colours_on, say};
use crate::exit::Exit;
use crate::invocation::{self, Script};
use crate::{kind, run, write_all};

/// A script and what was found in it, by place.
#[derive(Debug)]
struct Checked {
    script: Script,
    findings: Vec<Finding>,
}

/// Checks scripts and prints what was found.
pub fn run(args: CheckArgs) -> Exit {
    let scripts = args.files.iter().chain(&args.init).map(|path| invocation::read(path));
    let mut scripts = match scripts.collect::<Result<Vec<_>, _>>() {
        Ok(scripts) => scripts,
        Err(why) => {
            say(format_args!("calve: {why}"));
            return Exit::Usage;
        }
    };
    let init = args.init.as_ref().and_then(|_| scripts.pop());
    let config = CheckConfig { options: args.define, offline: args.offline, portable: args.portable };
    run::on_runtime(async {
        let checked = match check_all(&config, init, scripts).await {
            Ok(checked) => checked,
            Err(error) => {
                let script = Script { name: "<command line>".to_owned(), text: String::new() };
                Diagnostics::for_stderr().print_error(&error, &script, 1);
                return Exit::Usage;
            }
        };
        let is_wrong = checked.iter().flat_map(|c| &c.findings).any(|finding| finding.severity > Severity::Note);
        let report = match args.format {
            ReportFormat::Text => text::report(&checked, &Diagnostics::new(colours_on(io::stdout().is_terminal()))),
            ReportFormat::Json => json::report(&checked),
            ReportFormat::Sarif => sarif::report(&checked),
        };
        write_all(report.as_bytes(), if is_wrong { Exit::Problems } else { Exit::Done })
    })
}

/// Checks each script in a session of its own. What is wrong with the script that all begin with is told once, before
/// the others.
async fn check_all(config: &CheckConfig, init: Option<Script>, scripts: Vec<Script>) -> Result<Vec<Checked>, Error> {
    let mut all = Vec::with_capacity(scripts.len() + 1);
    let mut of_init = None;
    for script in scripts {
        let mut checker = Checker::new(config.clone())?;
        if let Some(init) = &init {
            let findings = statements(&mut checker, init).await;
            of_init.get_or_insert(findings);
        }
        checker.begin_script();
        let mut findings = statements(&mut checker, &script).await;
        findings.extend(checker.end());
        // what the end tells may be about the beginning
        findings.sort_by_key(|finding| (!finding.span.is_known(), finding.span.start));
        all.push(Checked { script, findings });
    }
    if let (Some(script), Some(findings)) = (init, of_init) {
        all.insert(0, Checked { script, findings });
    }
    Ok(all)
}

async fn statements(checker: &mut Checker, script: &Script) -> Vec<Finding> {
    let mut findings = vec![];
    for statement in calve_sql::split(&script.text) {
        if kind::ends_script(&statement.text) {
            break;
        }
        findings.extend(checker.statement(&statement).await);
    }
    findings
}

/// How many findings there are of a severity.
fn count(checked: &[Checked], severity: Severity) -> usize {
    checked.iter().flat_map(|c| &c.findings).filter(|finding| finding.severity == severity).count()
}

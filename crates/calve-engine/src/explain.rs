//! EXPLAIN under Flink's three headings.

use calve_planner::{Rel, Sink, bind, explain};
use calve_sql::Statement;
use calve_types::{Error, Result, Span};
use datafusion::physical_plan::displayable;

use crate::listing;
use crate::query::Query;
use crate::result::Rows;
use crate::session::Session;
use crate::spill::Joins;

/// What EXPLAIN can add to the plan (Flink's `ExplainDetail`) and calve does not.
const UNSUPPORTED_DETAILS: [&str; 2] = ["JSON_EXECUTION_PLAN", "PLAN_ADVICE"];

impl Session {
    /// EXPLAIN of a query, an INSERT, a CREATE TABLE AS or a statement set. The first part is the bound algebra in Flink's
    /// notation, the second the optimised plan, the third what runs. Costs and changelog modes are not estimated: the
    /// details that ask for them change nothing.
    pub(crate) async fn explain(&self, statement: &Statement, details: &[String], place: Span) -> Result<Rows> {
        if let Some(detail) = details.iter().find(|d| UNSUPPORTED_DETAILS.contains(&d.as_str())) {
            return Err(Error::unsupported(format!("EXPLAIN {detail}")).at(place));
        }
        let text = match statement {
            Statement::Query(query) => {
                let resolved = self.resolve(statement).await?;
                let rel = bind::query(query, &resolved)?;
                self.explain_all(&[(explain::tree(&rel), None, &rel)]).await?
            }
            Statement::Insert(_) | Statement::StatementSet(_) => {
                let (sinks, _) = self.bind_inserts(statement).await?;
                self.explain_sinks(&sinks).await?
            }
            Statement::CreateTable(create) if create.query.is_some() => {
                let (planned, resolved) = self.plan_table_as(create, &mut vec![]).await?;
                self.explain_sinks(&[bind::insert(&planned.insert, &resolved)?]).await?
            }
            _ => return Err(Error::unsupported("EXPLAIN of this statement").at(place)),
        };
        listing::names("result", vec![text], &self.context()?)
    }

    async fn explain_sinks(&self, sinks: &[Sink]) -> Result<String> {
        let parts: Vec<_> =
            sinks.iter().map(|sink| (explain::sink_tree(sink), Some(sink_line(sink)), &sink.input)).collect();
        self.explain_all(&parts).await
    }

    /// For each query its syntax tree, the line of its sink, and what it is.
    async fn explain_all(&self, parts: &[(String, Option<String>, &Rel)]) -> Result<String> {
        let partitions = self.options.parallelism();
        let queries: Vec<Query<'_>> = parts.iter().map(|(_, _, rel)| Query { rel, partitions }).collect();
        let job = self.runner()?.plan_all(&queries, Joins::Hash).await?;
        let syntax: Vec<&str> = parts.iter().map(|(tree, ..)| tree.as_str()).collect();
        let (mut optimised, mut running) = (vec![], vec![]);
        for (planned, (_, sink, _)) in job.queries.iter().zip(parts) {
            optimised.push(below(sink.as_deref(), &planned.logical().display_indent().to_string()));
            running.push(below(sink.as_deref(), &displayable(planned.plan.as_ref()).indent(false).to_string()));
        }
        for shared in &job.shared {
            let readers: Vec<String> = shared.queries.iter().map(|query| (query + 1).to_string()).collect();
            running.push(format!(
                "SharedScan(table=[{}], read once for the INSERTs {})\n",
                shared.table,
                readers.join(", ")
            ));
        }
        Ok(format!(
            "== Abstract Syntax Tree ==\n{}\n== Optimized Physical Plan ==\n{}\n== Optimized Execution Plan ==\n{}",
            syntax.join("\n"),
            optimised.join("\n"),
            running.join("\n")
        ))
    }
}

fn sink_line(sink: &Sink) -> String {
    let columns: Vec<&str> = sink.table.physical_columns().map(|c| c.name.as_str()).collect();
    format!("Sink(table=[{}], fields=[{}])", sink.table.path, columns.join(", "))
}

/// A plan as lines, each ended, below its sink.
fn below(sink: Option<&str>, plan: &str) -> String {
    let (head, indent) = match sink {
        Some(sink) => (format!("{sink}\n"), "  "),
        None => (String::new(), ""),
    };
    plan.trim_end().lines().fold(head, |text, line| format!("{text}{indent}{line}\n"))
}

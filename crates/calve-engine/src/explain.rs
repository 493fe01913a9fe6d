//! EXPLAIN under Flink's three headings.

use std::sync::Arc;

use calve_planner::{Rel, Sink, bind, explain};
use calve_sql::Statement;
use calve_types::{Error, Result, Span};
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, displayable};

use crate::listing;
use crate::query::Query;
use crate::result::Rows;
use crate::session::Session;
use crate::spill::Joins;

/// The detail that adds a fourth part: what runs, as JSON.
const JSON: &str = "JSON_EXECUTION_PLAN";
/// The detail that adds advice to the optimised plan.
const ADVICE: &str = "PLAN_ADVICE";

impl Session {
    /// EXPLAIN of a query, an INSERT, a DELETE, UPDATE or MERGE, a CREATE TABLE AS or a statement set. The first part is the bound algebra in Flink's
    /// notation, the second the optimised plan, the third what runs, and with `JSON_EXECUTION_PLAN` the fourth is that as
    /// JSON. Costs and changelog modes are not estimated: the details that ask for them change nothing.
    pub(crate) async fn explain(&self, statement: &Statement, details: &[String], place: Span) -> Result<Rows> {
        if !self.options.is_streaming() && details.iter().any(|detail| detail == ADVICE) {
            return Err(Error::unsupported("EXPLAIN PLAN_ADVICE in batch mode")
                .with_detail("EXPLAIN PLAN_ADVICE is not supported under batch mode.")
                .at(place));
        }
        let text = match statement {
            Statement::Query(query) => {
                let resolved = self.resolve(statement).await?;
                let rel = bind::query(query, &resolved)?;
                self.explain_all(&[(explain::tree(&rel), None, &rel)], details, true).await?
            }
            Statement::Insert(_) | Statement::StatementSet(_) => {
                let (sinks, _) = self.bind_inserts(statement).await?;
                self.explain_sinks(&sinks, details).await?
            }
            Statement::Delete(_) | Statement::Update(_) | Statement::Merge(_) => {
                let bound = self.bind_change(statement).await?;
                let change = &bound.change;
                let line = format!("{}(table=[{}])", change.kind.name(), change.table.path);
                self.explain_all(&[(explain::change_tree(change), Some(line), &change.rows)], details, false).await?
            }
            Statement::CreateTable(create) if create.query.is_some() => {
                let (planned, resolved) = self.plan_table_as(create, &mut vec![]).await?;
                self.explain_sinks(&[bind::insert(&planned.insert, &resolved)?], details).await?
            }
            _ => return Err(Error::unsupported("EXPLAIN of this statement").at(place)),
        };
        listing::names("result", vec![text], &self.context()?)
    }

    async fn explain_sinks(&self, sinks: &[Sink], details: &[String]) -> Result<String> {
        let parts: Vec<_> =
            sinks.iter().map(|sink| (explain::sink_tree(sink), Some(sink_line(sink)), &sink.input)).collect();
        self.explain_all(&parts, details, true).await
    }

    /// For each query its syntax tree, the line of its sink, and what it is. With `changes` rows may change in streaming
    /// mode.
    async fn explain_all(
        &self,
        parts: &[(String, Option<String>, &Rel)],
        details: &[String],
        changes: bool,
    ) -> Result<String> {
        if self.dry {
            parts.iter().try_for_each(|(_, _, rel)| self.check_query(rel))?;
            return Ok(String::new());
        }
        let partitions = self.options.parallelism();
        let runner = self.runner()?;
        let node = |rel| if changes { runner.changelog(rel) } else { Ok(None) };
        let nodes = parts.iter().map(|(_, _, rel)| node(rel)).collect::<Result<Vec<_>>>()?;
        let queries: Vec<Query<'_>> = parts
            .iter()
            .zip(&nodes)
            .map(|((_, _, rel), node)| Query { changes: node.as_ref(), ..Query::of_rows(rel, partitions) })
            .collect();
        let job = runner.plan_all(&queries, Joins::Hash).await?;
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
        let has = |detail: &str| details.iter().any(|d| d == detail);
        let (with_advice, advice) = match has(ADVICE) {
            true => (" With Advice", "\nNo available advice...\n"),
            false => ("", ""),
        };
        let mut text = format!(
            "== Abstract Syntax Tree ==\n{}\n== Optimized Physical Plan{with_advice} ==\n{}{advice}\n\
             == Optimized Execution Plan ==\n{}",
            syntax.join("\n"),
            optimised.join("\n"),
            running.join("\n")
        );
        if has(JSON) {
            let plans: Vec<_> = job.queries.iter().map(|planned| &planned.plan).collect();
            text.push_str(&format!("\n== Physical Execution Plan ==\n{}\n", json(&plans)?));
        }
        Ok(text)
    }
}

/// Plans as one graph in the form of Flink's JSON: each operator behind those it reads.
fn json(plans: &[&Arc<dyn ExecutionPlan>]) -> Result<String> {
    let mut nodes = vec![];
    for plan in plans {
        add_node(plan, &mut nodes);
    }
    serde_json::to_string_pretty(&serde_json::json!({ "nodes": nodes })).map_err(Error::internal)
}

/// Adds an operator and what it reads; its number.
fn add_node(plan: &Arc<dyn ExecutionPlan>, nodes: &mut Vec<serde_json::Value>) -> usize {
    let inputs: Vec<usize> = plan.children().into_iter().map(|child| add_node(child, nodes)).collect();
    let id = nodes.len() + 1;
    let mut node = serde_json::json!({
        "id": id,
        "type": plan.name(),
        "pact": if inputs.is_empty() { "Data Source" } else { "Operator" },
        "contents": displayable(plan.as_ref()).one_line().to_string().trim_end(),
        "parallelism": plan.output_partitioning().partition_count(),
    });
    if let (Some(node), false) = (node.as_object_mut(), inputs.is_empty()) {
        let inputs = inputs.into_iter().map(|id| serde_json::json!({ "id": id, "ship_strategy": "FORWARD" }));
        node.insert("predecessors".to_owned(), inputs.collect());
    }
    nodes.push(node);
    id
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

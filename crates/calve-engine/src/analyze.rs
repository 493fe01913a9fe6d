//! `EXPLAIN ANALYZE`, an extension: runs a statement and tells what each operator of its plan did.
//!
//! A query's rows are read to their end and dropped. A statement that writes writes and commits, as in PostgreSQL, Spark
//! and DuckDB; its job, its errors and what a cancelled one leaves are those of the statement alone.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use calve_iceberg::scan::counters;
use calve_sql::Statement;
use calve_types::{Error, Result, Span};
use datafusion::physical_plan::metrics::{MetricValue, MetricsSet};
use datafusion::physical_plan::{ExecutionPlan, displayable};
use futures::TryStreamExt;

use crate::error::from_datafusion;
use crate::listing;
use crate::progress::{ProgressCounts, Ran};
use crate::result::{ResultBody, StatementKind, StatementResult, Warning};
use crate::session::Session;

/// No line is longer, in characters, unless it is indented very deep.
const WIDTH: usize = 120;
/// What is left of a line that is indented very deep.
const NARROW: usize = 40;
/// The begin of a line with what an operator did; those of operators begin with a letter.
const MARK: &str = "| ";

impl Session {
    /// Runs a statement and tells of the run.
    ///
    /// # Errors
    /// Those of the statement.
    pub(crate) async fn explain_analyze(&mut self, statement: Statement, place: Span) -> Result<StatementResult> {
        self.progress().keep_plans();
        let run = async {
            let result = Box::pin(self.run(statement)).await?;
            Ok::<_, Error>((counted(result.body).await?, result.warnings, result.job_id))
        };
        let result = run.await;
        // a plan may hold memory, also after an error
        let plans = self.progress().take_plans();
        let (outcome, more, job_id) = result?;
        let mut warnings = vec![Warning::new("not-portable", "not portable to Flink: EXPLAIN ANALYZE").at(place)];
        warnings.extend(more);
        if self.dry {
            return Ok(StatementResult::unrun(StatementKind::Command, warnings));
        }
        let text = text(&plans, &outcome, &self.progress().counts());
        let rows = listing::names("result", vec![text], &self.context()?)?;
        Ok(StatementResult { kind: StatementKind::Command, body: ResultBody::Rows(rows), warnings, job_id })
    }
}

/// What came of the statement, in a line or several. A query runs here.
async fn counted(body: ResultBody) -> Result<Vec<String>> {
    match body {
        ResultBody::Done => Ok(vec![]),
        ResultBody::Written(writes) => Ok(writes.iter().map(ToString::to_string).collect()),
        ResultBody::Rows(mut rows) => {
            let mut count = 0;
            while let Some(batch) = rows.batches.try_next().await.map_err(from_datafusion)? {
                count += batch.num_rows() as u64;
            }
            let what = if rows.changelog { "change" } else { "row" };
            Ok(vec![plural(count, what)])
        }
    }
}

fn text(plans: &[Ran], outcome: &[String], counts: &ProgressCounts) -> String {
    let mut text = String::from("== Executed Plan ==\n");
    for (number, ran) in plans.iter().enumerate() {
        if number > 0 {
            text.push('\n');
        }
        let depth = match &ran.taker {
            None => 0,
            Some(taker) => {
                line(&mut text, 0, &taker.name);
                if let Some(written) = &taker.written {
                    let count = |n: &std::sync::atomic::AtomicU64| n.load(Ordering::Relaxed);
                    let mut parts = vec![format!("rows {}", grouped(count(&written.rows)))];
                    parts.push(format!("files {}", grouped(count(&written.files))));
                    let bytes = count(&written.bytes);
                    parts.extend((bytes > 0).then(|| format!("written {}", size(bytes))));
                    metrics_lines(&mut text, 0, &parts);
                }
                1
            }
        };
        operators(&mut text, depth, ran.plan.as_ref());
    }
    if plans.is_empty() {
        text.push_str("nothing ran\n");
    }
    text.push_str("\n== Execution ==\n");
    for outcome in outcome {
        text.push_str(&format!("{outcome}\n"));
    }
    let mut read = format!("{} read", plural(counts.rows_read, "row"));
    if counts.bytes_read > 0 {
        read += &format!(" ({})", size(counts.bytes_read));
    }
    let seconds = counts.elapsed.as_secs_f64();
    text + &format!("{read}, {seconds:.2} seconds, memory {} at most\n", size(counts.memory_peak))
}

/// An operator with what it did, and below it those it reads.
fn operators(text: &mut String, depth: usize, plan: &dyn ExecutionPlan) {
    line(text, depth, &named(displayable(plan).one_line().to_string().trim_end()));
    if let Some(metrics) = plan.metrics() {
        metrics_lines(text, depth, &parts(&metrics));
    }
    for child in plan.children() {
        operators(text, depth + 1, child.as_ref());
    }
}

/// An operator as DataFusion writes it, without the paths of its files: how many were read is among its metrics.
fn named(operator: &str) -> String {
    let Some((before, files)) = operator.split_once("file_groups={") else { return operator.to_owned() };
    let Some((groups, after)) = files.split_once("]}, ").or_else(|| files.split_once("}, ")) else {
        return operator.to_owned();
    };
    let count = groups.split_once(':').map_or(groups, |(count, _)| count);
    format!("{before}{count}, {after}")
}

/// A line that is cut where it is too long: EXPLAIN shows the whole.
fn line(text: &mut String, depth: usize, what: &str) {
    let (indent, width) = indent(depth);
    text.push_str(&indent);
    if what.chars().count() > width {
        text.extend(what.chars().take(width - 1).chain(['…']));
    } else {
        text.push_str(what);
    }
    text.push('\n');
}

/// The parts in as few lines as they need.
fn metrics_lines(text: &mut String, depth: usize, parts: &[String]) {
    let (indent, width) = indent(depth);
    let mut filled = String::new();
    for part in parts {
        // with the mark and two commas
        if !filled.is_empty() && filled.chars().count() + part.chars().count() + 5 > width {
            text.push_str(&format!("{indent}{MARK}{filled},\n"));
            filled.clear();
        }
        filled = if filled.is_empty() { part.clone() } else { format!("{filled}, {part}") };
    }
    if !filled.is_empty() {
        text.push_str(&format!("{indent}{MARK}{filled}\n"));
    }
}

fn indent(depth: usize) -> (String, usize) {
    let indent = "  ".repeat(depth);
    let width = WIDTH.saturating_sub(indent.len()).max(NARROW);
    (indent, width)
}

/// The metrics of an operator, all partitions together.
#[derive(Default)]
struct Sums {
    named: BTreeMap<String, u64>,
    /// Pruned and matched.
    pruning: BTreeMap<String, (u64, u64)>,
    memory: u64,
    table: Option<String>,
}

impl Sums {
    fn new(metrics: &MetricsSet) -> Self {
        let mut sums = Self::default();
        for metric in metrics.iter() {
            let value = metric.value();
            let label = metric.labels().iter().find(|label| label.name() == counters::TABLE);
            sums.table = sums.table.or_else(|| label.map(|label| label.value().to_owned()));
            match value {
                MetricValue::PruningMetrics { name, pruning_metrics } => {
                    let (pruned, matched) = sums.pruning.entry(name.to_string()).or_default();
                    *pruned += pruning_metrics.pruned() as u64;
                    *matched += pruning_metrics.matched() as u64;
                }
                // of operators that keep rows, in bytes: the most that each partition held
                MetricValue::Gauge { name, gauge } if name.ends_with("mem_used") => sums.memory += gauge.value() as u64,
                MetricValue::CurrentMemoryUsage(gauge) => sums.memory += gauge.value() as u64,
                MetricValue::Ratio { .. } | MetricValue::Custom { .. } => {}
                value if value.is_timestamp() => {}
                value => *sums.named.entry(value.name().to_owned()).or_default() += value.as_usize() as u64,
            }
        }
        sums
    }

    /// A sum if the operator has it and it is not 0.
    fn some(&self, name: &str) -> Option<u64> {
        self.named.get(name).copied().filter(|n| *n > 0)
    }
}

/// What an operator did, in the order in which it is told. What does not apply to it is left out.
fn parts(metrics: &MetricsSet) -> Vec<String> {
    let sums = Sums::new(metrics);
    let mut parts = vec![];
    parts.extend(sums.table.as_ref().map(|table| format!("table {table}")));
    parts.extend(sums.named.get("output_rows").map(|rows| format!("rows {}", grouped(*rows))));
    // readers of files count the time in which they work, not that in which they wait for storage, under another name
    let time = sums.some("elapsed_compute").or(sums.some("time_elapsed_processing"));
    let time = time.or(sums.some("join_time"));
    parts.extend(time.map(|nanos| format!("time {}", duration(nanos))));
    parts.extend((sums.memory > 0).then(|| format!("memory {}", size(sums.memory))));
    parts.extend(sums.some("build_input_rows").map(|rows| format!("build side {}", plural(rows, "row"))));
    if let Some(times) = sums.some("spill_count") {
        let bytes = sums.some("spilled_bytes").unwrap_or(0);
        parts.push(format!("spilled {} in {}", size(bytes), plural(times, "file")));
    }
    parts.extend(sums.some("bytes_scanned").map(|bytes| format!("read {}", size(bytes))));
    if sums.named.contains_key(counters::FILES_PLANNED) {
        scan_parts(&sums, &mut parts);
    }
    let pruned = |name: &str| sums.pruning.get(name).copied().unwrap_or_default();
    let (by_statistics, kept) = pruned("row_groups_pruned_statistics");
    let by_bloom_filter = pruned("row_groups_pruned_bloom_filter").0;
    let by_limit = pruned("limit_pruned_row_groups").0;
    if by_statistics + by_bloom_filter + by_limit > 0 {
        let all = by_statistics + kept;
        let read = kept.saturating_sub(by_bloom_filter).saturating_sub(by_limit);
        parts.push(format!("row groups {} of {}", grouped(read), grouped(all)));
    }
    let (pages, kept) = pruned("page_index_pages_pruned");
    if pages > 0 {
        parts.push(format!("pages {} of {}", grouped(kept), grouped(pages + kept)));
    }
    parts
}

/// What a scan of an Iceberg table read and what it did not need to.
fn scan_parts(sums: &Sums, parts: &mut Vec<String>) {
    let of = |name: &str| sums.named.get(name).copied().unwrap_or(0);
    let (pruned, beyond) = (of(counters::FILES_PRUNED), of(counters::FILES_BEYOND_LIMIT));
    let all = of(counters::FILES_PLANNED) + pruned + beyond;
    let mut files = format!("files {} of {}", grouped(of(counters::FILES_READ)), grouped(all));
    if pruned > 0 {
        files += &format!(" ({} pruned)", grouped(pruned));
    }
    parts.push(files);
    let more = [
        (counters::MANIFESTS_PRUNED, "manifests pruned"),
        (counters::DELETED_BY_POSITION, "deleted by position"),
        (counters::DELETED_BY_KEY, "deleted by key"),
    ];
    parts.extend(more.iter().filter_map(|(name, what)| Some(format!("{what} {}", grouped(sums.some(name)?)))));
}

fn plural(n: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// A number with commas: `12,500`.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Bytes: `512 B`, `1.50 MiB`.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = bytes as f64;
    let mut unit = "B";
    for larger in UNITS {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = larger;
    }
    if unit == "B" { format!("{bytes} B") } else { format!("{value:.2} {unit}") }
}

/// A time of some nanoseconds: `0.05 ms`, `2.50 s`.
fn duration(nanos: u64) -> String {
    let time = Duration::from_nanos(nanos);
    if time < Duration::from_secs(1) {
        format!("{:.2} ms", time.as_secs_f64() * 1e3)
    } else {
        format!("{:.2} s", time.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!([0, 999, 1_000, 12_345_678].map(grouped), ["0", "999", "1,000", "12,345,678"]);
        assert_eq!(
            [0, 1_023, 1_536, 3 << 20, 5 << 40].map(size),
            ["0 B", "1023 B", "1.50 KiB", "3.00 MiB", "5.00 TiB"]
        );
        assert_eq!([50_000, 2_500_000_000].map(duration), ["0.05 ms", "2.50 s"]);
    }

    #[test]
    fn lines_fit_the_screen() {
        for depth in [0, 3, 80] {
            let mut text = String::new();
            line(&mut text, depth, &"é".repeat(300));
            metrics_lines(&mut text, depth, &std::array::from_fn::<_, 10, _>(|_| "x".repeat(30)));
            let width = (depth * 2 + NARROW + 1).max(WIDTH);
            assert!(text.lines().count() > 2 && text.lines().all(|line| line.chars().count() <= width), "{text}");
        }
    }

    #[test]
    fn paths_of_files_are_left_out() {
        let scan = "DataSourceExec: file_groups={2 groups: [[a/b.parquet, c], [d]]}, projection=[a], file_type=iceberg";
        assert_eq!(named(scan), "DataSourceExec: 2 groups, projection=[a], file_type=iceberg");
        assert_eq!(named("FilterExec: a@0 > 5"), "FilterExec: a@0 > 5");
    }
}

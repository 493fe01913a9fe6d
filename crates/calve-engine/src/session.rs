//! A session and the one place where statements are told apart.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};

use calve_connectors::{ConnectorContext, PrintLines};
use calve_functions::{EvalContext, TimeZone};
use calve_planner::{Rel, Sink};
use calve_sql::{Insert, ScriptStatement, Statement, StatementSet};
use calve_types::{Error, Result, Span};
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use futures::FutureExt;

use crate::catalogs::Catalogs;
use crate::catalogs::object::BaseKind;
use crate::catalogs::store::{CatalogStore, is_of_store};
use crate::ddl::ctas::Filling;
use crate::ddl::module::Modules;
use crate::error::from_datafusion;
use crate::jobs::{Commits, JOB_ID, Job, Jobs, OpenSet, text_of_insert, text_of_statement};
use crate::options::Options;
use crate::pool::Pool;
use crate::progress::Progress;
use crate::query::{Query, Runner};
use crate::resolve::{Resolved, check_sink, full_path};
use crate::result::{ResultBody, Rows, Settled, StatementKind, StatementResult, Warning, WriteSummary};
use crate::{ddl, jobs, listing, secrets, show};

/// How a session begins.
#[derive(Clone, Default)]
pub struct SessionConfig {
    /// Options, as `-D` gives them; later ones win.
    pub options: Vec<(String, String)>,
    /// Memory that queries and writes may use together, in bytes; `None` is no limit.
    pub memory_limit: Option<u64>,
    /// Takes the lines of print tables while a statement runs, without their line ends; `None` writes them to standard
    /// output. A caller that reports a statement's lines beside its result (jsonl's `stdout`) collects them here: all of
    /// an INSERT's lines have arrived when [`Session::execute`] returns.
    pub print: Option<PrintLines>,
}

impl std::fmt::Debug for SessionConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionConfig")
            .field("options", &self.options)
            .field("memory_limit", &self.memory_limit)
            .finish_non_exhaustive()
    }
}

/// Catalogs, options and what is current: everything statements share.
pub struct Session {
    pub(crate) catalogs: Catalogs,
    pub(crate) options: Options,
    pub(crate) modules: Modules,
    runtime: Arc<RuntimeEnv>,
    commits: Commits,
    jobs: Mutex<Jobs>,
    /// The text of the statement that runs.
    text: String,
    open_set: OpenSet,
    progress: Arc<Progress>,
    print: PrintLines,
    /// The table of a CREATE TABLE AS that is being filled: it goes again if the statement is cancelled.
    pub(crate) filling: Option<Filling>,
    /// Warnings about the options the session began with, for its first statement.
    pub(crate) pending: Vec<Warning>,
    /// Statements are bound and not run, as `check` wants it: no row is read or written.
    pub(crate) dry: bool,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("catalogs", &self.catalogs).finish_non_exhaustive()
    }
}

impl Session {
    /// A session with Flink's default catalog.
    ///
    /// # Errors
    /// `invalid-option` for an option with a wrong value; `missing-option` and `io` for a catalog store that is none.
    pub fn new(config: SessionConfig) -> Result<Self> {
        let limit = config.memory_limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let pool = Arc::new(Pool::new(limit));
        let runtime = RuntimeEnvBuilder::new().with_memory_pool(pool.clone()).build_arc().map_err(from_datafusion)?;
        let mut checked = Options::default();
        let mut pending = vec![];
        for (key, value) in &config.options {
            pending.extend(checked.set(key, value)?);
        }
        let mut catalogs = Catalogs::default();
        if let Some(store) = CatalogStore::of(|key| checked.get(key))? {
            catalogs.use_store(store);
        }
        let session = Self {
            catalogs,
            options: Options::new(config.options),
            modules: Modules::default(),
            runtime,
            commits: Commits::default(),
            jobs: Mutex::default(),
            text: String::new(),
            open_set: OpenSet::default(),
            progress: Arc::new(Progress::new(pool)),
            print: config.print.unwrap_or_else(|| Arc::new(print_line)),
            filling: None,
            pending,
            dry: false,
        };
        session.context()?;
        Ok(session)
    }

    /// What an option was set to, or its default; `None` if it has neither.
    pub fn option(&self, key: &str) -> Option<&str> {
        self.options.get(key)
    }

    /// What functions know of the session, for a statement that starts now.
    pub(crate) fn context(&self) -> Result<EvalContext> {
        let zone = match self.options.get("table.local-time-zone") {
            Some(name) => TimeZone::parse(name)?,
            None => local_time_zone(),
        };
        Ok(EvalContext::new(zone))
    }

    /// Executes a statement. A query's rows run as they are read; an INSERT is over when this returns.
    ///
    /// # Errors
    /// Whatever is wrong with the statement, with its place in the script, or what failed while it ran.
    pub async fn execute(&mut self, statement: &ScriptStatement) -> Result<StatementResult> {
        // what a cancelled statement left, if nobody asked for it
        self.settle().await;
        self.progress.begin();
        self.filling = None;
        self.text.clone_from(&statement.text);
        // nothing should panic; what does anyway costs one statement, not the script
        let run = AssertUnwindSafe(Box::pin(async { self.run(secrets::parse(statement)?).await }));
        let result = run.catch_unwind().await.unwrap_or_else(|panic| Err(panicked(panic.as_ref())));
        let mut result = result.map_err(|error| self.with_aftermath(error))?;
        result.warnings.splice(0..0, std::mem::take(&mut self.pending));
        let notices = self.catalogs.take_notices().into_iter();
        result.warnings.extend(notices.map(|notice| Warning::new("overridden-option", notice)));
        let left = left_files(&self.catalogs.take_left());
        result.warnings.extend(left.map(|files| Warning::new("files-left", files)));
        Ok(result)
    }

    /// The error of a statement, with what else is to be told in its detail: the files that it may have left, and what the
    /// servers of catalogs override. To be called for one that was cancelled, behind [`Session::settle`].
    pub fn with_aftermath(&self, error: Error) -> Error {
        let notices = self.catalogs.take_notices().into_iter().map(|notice| format!("{notice}."));
        let left = left_files(&self.catalogs.take_left()).map(|files| format!("What may be left: {files}."));
        let told: Vec<String> = error.detail.iter().cloned().chain(notices).chain(left).collect();
        if told.is_empty() { error } else { error.with_detail(told.join(" ")) }
    }

    /// After a cancelled [`Session::execute`]: waits until its tasks have ended, and for what it may have begun that cannot
    /// be stopped: the commits of all of its INSERTs, or its change of a catalog. What that did, or why it did not, or not
    /// all; `None` if the statement had not begun it: then nothing is left of it.
    pub async fn settle(&self) -> Option<Result<Settled>> {
        let settled = self.commits.settle().await;
        let is_out = match &settled {
            None => true,
            Some(Ok(_)) => false,
            Some(Err(error)) => !error.may_have_committed(),
        };
        if let Some(filling) = self.filling.as_ref().filter(|_| is_out) {
            filling.undo().await;
        }
        settled
    }

    pub(crate) fn commits(&self) -> &Commits {
        &self.commits
    }

    /// How far the running statement is; to be asked from another task while [`Session::execute`] runs or a query's rows
    /// are read.
    pub fn progress(&self) -> Arc<Progress> {
        self.progress.clone()
    }

    /// Whether `BEGIN STATEMENT SET` still waits for its END. The INSERTs of a set that a script leaves open never run.
    pub fn has_open_statement_set(&self) -> bool {
        self.open_set.is_open()
    }

    /// Has the END of the open statement set, if there is one, refuse to run it: to be called by whoever goes on after a
    /// failed statement that nobody will correct. Without it the set is the INSERTs that did not fail, as at the prompt of
    /// Flink's client.
    pub fn spoil_statement_set(&mut self) {
        self.open_set.spoil();
    }

    pub(crate) async fn run(&mut self, statement: Statement) -> Result<StatementResult> {
        self.open_set.admit(&statement)?;
        self.catalogs.look_into_store();
        let mut warnings = vec![];
        let body = match statement {
            Statement::Query(_) => {
                let (rel, warnings) = self.bind_query(&statement).await?;
                if self.dry {
                    self.check_query(&rel)?;
                    return Ok(StatementResult::unrun(StatementKind::Query, warnings));
                }
                let rows = self.query(rel).await?;
                return Ok(StatementResult {
                    kind: StatementKind::Query,
                    body: ResultBody::Rows(rows),
                    warnings,
                    job_id: None,
                });
            }
            Statement::Insert(insert) if self.open_set.is_open() => return self.add_to_set(insert).await,
            Statement::Insert(_) | Statement::StatementSet(_) => return self.insert(&statement).await,
            Statement::BeginStatementSet { .. } => {
                self.open_set.begin();
                ResultBody::Done
            }
            Statement::EndStatementSet { span } => match self.open_set.end(span)? {
                inserts if inserts.is_empty() => ResultBody::Done,
                inserts => return self.end_set(inserts, span).await,
            },
            Statement::Set { option: Some((key, value)) } => {
                self.set(&key, &value, &mut warnings)?;
                ResultBody::Done
            }
            Statement::Set { option: None } => {
                let shown = self.options.all().iter().map(|(k, v)| (Some(k.clone()), Some(secrets::shown(k, v))));
                let (keys, values) = shown.unzip();
                let columns = vec![listing::Column::Text("key", keys), listing::Column::Text("value", values)];
                ResultBody::Rows(listing::rows(columns, &self.context()?)?)
            }
            Statement::Reset { key: Some(key) } => {
                self.options.reset(&key);
                ResultBody::Done
            }
            Statement::Reset { key: None } => {
                self.options.reset_all();
                ResultBody::Done
            }
            Statement::CreateCatalog(create) => ddl::catalog::create(&mut self.catalogs, create, &mut warnings).await?,
            Statement::DropCatalog { name, if_exists } => ddl::catalog::drop(&mut self.catalogs, &name, if_exists)?,
            Statement::UseCatalog { name } => {
                self.catalogs.use_catalog(&name.value).map_err(|e| e.at(name.span))?;
                ResultBody::Done
            }
            Statement::CreateDatabase(create) => {
                ddl::database::create(&mut self.catalogs, &self.commits, create).await?
            }
            Statement::DropDatabase { name, if_exists, cascade } => {
                ddl::database::drop(&mut self.catalogs, &self.commits, &name, if_exists, cascade).await?
            }
            Statement::UseDatabase { name } => ddl::database::select(&mut self.catalogs, &name).await?,
            Statement::CreateTable(create) if create.query.is_some() => return self.create_table_as(*create).await,
            Statement::CreateTable(create) => {
                ddl::table::create(&mut self.catalogs, &self.options, &self.commits, &create, &mut warnings).await?
            }
            Statement::DropTable { name, if_exists, temporary } => {
                ddl::table::drop(&mut self.catalogs, &self.commits, &name, BaseKind::Table, if_exists, temporary)
                    .await?
            }
            Statement::CreateView(create) => self.create_view(*create).await?,
            Statement::AlterView { name, change } => self.alter_view(&name, change, &mut warnings).await?,
            Statement::DropView { name, if_exists, temporary } => {
                ddl::table::drop(&mut self.catalogs, &self.commits, &name, BaseKind::View, if_exists, temporary).await?
            }
            Statement::Show(what) => ResultBody::Rows(self.show(&what).await?),
            Statement::ShowCreate { kind, name } => ResultBody::Rows(self.show_create(kind, &name).await?),
            Statement::ShowPartitions { table, partition } => {
                ResultBody::Rows(self.show_partitions(&table, &partition).await?)
            }
            Statement::DescribeTable { name, .. } => ResultBody::Rows(self.describe(&name).await?),
            Statement::DescribeCatalog { name, extended } => {
                ResultBody::Rows(show::describe_catalog(&self.catalogs, &name, extended, &self.context()?)?)
            }
            Statement::Explain { statement, analyze: true, span, .. } => {
                return self.explain_analyze(*statement, span).await;
            }
            Statement::Explain { statement, details, span, .. } => {
                ResultBody::Rows(self.explain(&statement, &details, span).await?)
            }
            Statement::AlterTable(alter) => self.alter_table(&alter, &mut warnings).await?,
            Statement::AlterCatalog { name, change } => {
                ddl::catalog::alter(&mut self.catalogs, &name, change, &mut warnings).await?
            }
            Statement::AlterDatabase { name, properties } => {
                ddl::database::alter(&mut self.catalogs, &self.commits, &name, &properties, &mut warnings).await?
            }
            Statement::CreateFunction(create) => ddl::function::create(&mut self.catalogs, &create)?,
            Statement::AlterFunction(alter) => ddl::function::alter(&mut self.catalogs, &alter)?,
            Statement::DropFunction(drop) => ddl::function::drop(&mut self.catalogs, &drop)?,
            Statement::DescribeFunction { name, extended } => {
                ResultBody::Rows(self.describe_function(&name, extended)?)
            }
            Statement::LoadModule { name, properties } => self.modules.load(&name, &properties)?,
            Statement::UnloadModule { name } => self.modules.unload(&name)?,
            Statement::UseModules { names } => self.modules.use_only(&names)?,
            Statement::AnalyzeTable(analyze) => self.analyze(&analyze).await?,
            Statement::Delete(_) | Statement::Update(_) | Statement::Merge(_) => return self.change(&statement).await,
            refused @ (Statement::TruncateTable { .. }
            | Statement::Call(_)
            | Statement::AddJar { .. }
            | Statement::RemoveJar { .. }
            | Statement::CompilePlan(_)
            | Statement::ExecutePlan { .. }
            | Statement::StopJob(_)
            | Statement::DescribeJob { .. }
            | Statement::DescribeDatabase { .. }
            | Statement::CreateModel(_)
            | Statement::AlterModel(_)
            | Statement::DropModel { .. }
            | Statement::DescribeModel { .. }
            | Statement::CreateMaterializedTable(_)
            | Statement::AlterMaterializedTable { .. }
            | Statement::DropMaterializedTable { .. }
            | Statement::Other { .. }) => return Err(self.refusal(&refused).await),
        };
        Ok(StatementResult { kind: StatementKind::Command, body, warnings, job_id: None })
    }

    fn set(&mut self, key: &str, value: &str, warnings: &mut Vec<Warning>) -> Result<()> {
        if key == "table.local-time-zone" {
            TimeZone::parse(value)?;
        }
        warnings.extend(self.options.set(key, value)?);
        if is_of_store(key) {
            let message = format!("option '{key}' has no effect in a session that has begun: give it with -D");
            warnings.push(Warning::new("ineffective-option", message));
        }
        Ok(())
    }

    pub(crate) async fn resolve(&self, statement: &Statement) -> Result<Resolved<'_>> {
        Resolved::load(&self.catalogs, &self.options, calve_planner::tables::referenced(statement)).await
    }

    /// What connectors know of the session, for a statement that starts now.
    pub(crate) fn connectors(&self) -> Result<ConnectorContext> {
        let batch = !self.options.is_streaming();
        Ok(ConnectorContext { eval: self.context()?, print: self.print.clone(), batch })
    }

    pub(crate) fn runner(&self) -> Result<Runner<'_>> {
        let connectors = self.connectors()?;
        Ok(Runner::new(&self.options, Arc::clone(&self.runtime), connectors, self.progress.clone()))
    }

    async fn bind_query(&self, statement: &Statement) -> Result<(Rel, Vec<Warning>)> {
        let Statement::Query(query) = statement else { return Err(Error::internal("not a query")) };
        let resolved = self.resolve(statement).await?;
        let warnings = resolved.warnings(statement).into_iter().chain(resolved.table_warnings()).collect();
        Ok((calve_planner::bind::query(query, &resolved)?, warnings))
    }

    async fn query(&self, rel: Rel) -> Result<Rows> {
        let runner = self.runner()?;
        let node = runner.changelog(&rel)?;
        let query = Query { changes: node.as_ref(), ..Query::of_rows(&rel, self.options.parallelism()) };
        let batches = runner.stream(&query).await?;
        let times = (0..rel.fields.len()).map(|column| rel.printed_time(column)).collect();
        let rows = Rows::new(rel.fields, batches, *runner.context());
        Ok(Rows { changelog: node.is_some(), times, ..rows })
    }

    /// An INSERT or a statement set: one job.
    pub(crate) async fn insert(&self, statement: &Statement) -> Result<StatementResult> {
        let text = |insert: &Insert| match full_path(&self.catalogs, &insert.table.parts) {
            Some(path) => text_of_insert(insert, &path.to_string()),
            None => text_of_insert(insert, &insert.table.parts.join(".")),
        };
        let job = self.begin_job(inserts(statement).iter().map(text).collect())?;
        self.insert_as(statement, &job).await
    }

    /// As [`Self::insert`], as the writes of a job that has begun.
    pub(crate) async fn insert_as(&self, statement: &Statement, job: &Job) -> Result<StatementResult> {
        let (sinks, warnings) = self.bind_inserts(statement).await?;
        self.run_sinks(sinks, job, warnings).await
    }

    /// Begins the job of a statement that is no INSERT and has one write.
    ///
    /// # Errors
    /// As [`Self::begin_job`].
    pub(crate) fn begin_job_of_text(&self) -> Result<Job> {
        self.begin_job(vec![text_of_statement(&self.text)])
    }

    /// Begins the job of a statement with these writes.
    ///
    /// # Errors
    /// `invalid-option` for a value of `calve.job-id` that is none.
    pub(crate) fn begin_job(&self, texts: Vec<String>) -> Result<Job> {
        let given = self.options.get(JOB_ID).filter(|_| !self.dry);
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner).begin(given, texts)
    }

    /// What a statement wrote that is done with its job.
    pub(crate) fn written(&self, job: &Job, written: Vec<WriteSummary>, warnings: Vec<Warning>) -> StatementResult {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner).completed(job);
        let body = ResultBody::Written(written);
        StatementResult { kind: StatementKind::Insert, body, warnings, job_id: Some(job.id.clone()) }
    }

    /// Runs what INSERTs were bound to, as one job.
    pub(crate) async fn run_sinks(
        &self,
        sinks: Vec<Sink>,
        job: &Job,
        mut warnings: Vec<Warning>,
    ) -> Result<StatementResult> {
        if self.dry {
            sinks.iter().try_for_each(|sink| self.check_insert(sink))?;
            return Ok(StatementResult::unrun(StatementKind::Insert, warnings));
        }
        // on the heap: what awaits it is deep enough
        let run = Box::pin(jobs::run(self.runner()?, &sinks, job, &self.commits, &mut warnings));
        let written = run.await?;
        for (sink, written) in sinks.iter().zip(&written) {
            if written.replaced_files.is_some() && written.snapshot_id.is_none() {
                warnings.push(Warning::new("nothing-replaced", nothing_replaced(&written.table)).at(sink.span));
            }
        }
        Ok(self.written(job, written, warnings))
    }

    pub(crate) async fn bind_inserts(&self, statement: &Statement) -> Result<(Vec<Sink>, Vec<Warning>)> {
        self.bind_inserts_in(&self.resolve(statement).await?, statement)
    }

    /// As [`Self::bind_inserts`], with tables that were loaded.
    pub(crate) fn bind_inserts_in(
        &self,
        resolved: &Resolved<'_>,
        statement: &Statement,
    ) -> Result<(Vec<Sink>, Vec<Warning>)> {
        let mut warnings = vec![];
        let mut sinks = vec![];
        for insert in inserts(statement) {
            let sink = calve_planner::bind::insert(insert, resolved)?;
            check_sink(&sink.table).map_err(|e| e.at(sink.span))?;
            warnings.extend(jobs::warning(&self.runner()?, &sink)?);
            sinks.push(sink);
            warnings.extend(resolved.warnings(&Statement::Insert(insert.clone())));
        }
        warnings.extend(resolved.table_warnings());
        Ok((sinks, warnings))
    }

    /// An INSERT between BEGIN STATEMENT SET and END is checked now and runs at END.
    async fn add_to_set(&mut self, insert: Insert) -> Result<StatementResult> {
        let statement = Statement::Insert(insert);
        let (sinks, warnings) = self.bind_inserts(&statement).await?;
        if self.dry {
            sinks.iter().try_for_each(|sink| self.check_insert(sink))?;
        }
        if let Statement::Insert(insert) = statement {
            self.open_set.add(insert);
        }
        Ok(StatementResult { kind: StatementKind::Insert, body: ResultBody::Done, warnings, job_id: None })
    }

    /// END: binds the INSERTs again, so that all of them see one version of every table. Their warnings were given.
    async fn end_set(&self, inserts: Vec<Insert>, span: Span) -> Result<StatementResult> {
        let result = self.insert(&Statement::StatementSet(StatementSet { inserts, span })).await;
        // places in earlier statements mean nothing to whoever reads the error of this one
        let result = result.map_err(|error| Error { span: None, ..error })?;
        let warnings = result.warnings.into_iter().filter(|w| matches!(w.code, "nothing-replaced" | "resumed"));
        let warnings = warnings.map(|warning| Warning { span: None, ..warning }).collect();
        Ok(StatementResult { warnings, ..result })
    }
}

/// Names files that could not be deleted: the first ones.
fn left_files(left: &[String]) -> Option<String> {
    const NAMED: usize = 20;
    if left.is_empty() {
        return None;
    }
    let named: Vec<String> = left.iter().take(NAMED).map(|location| format!("'{location}'")).collect();
    let more = match left.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!("files that no table refers to, and that could not be deleted: {}{more}", named.join(", ")))
}

/// Of an overwrite without rows.
fn nothing_replaced(table: &str) -> String {
    format!("the query gives no rows: nothing is replaced in '{table}', as in Flink; DELETE FROM removes rows")
}

/// The INSERTs of a statement.
fn inserts(statement: &Statement) -> &[Insert] {
    match statement {
        Statement::Insert(insert) => std::slice::from_ref(insert),
        Statement::StatementSet(set) => &set.inserts,
        _ => &[],
    }
}

/// The error for a panic.
pub(crate) fn panicked(panic: &(dyn Any + Send)) -> Error {
    let text =
        panic.downcast_ref::<&str>().map(|s| (*s).to_owned()).or_else(|| panic.downcast_ref::<String>().cloned());
    Error::internal(text.unwrap_or_else(|| "a panic".to_owned()))
}

/// A line of a print table on standard output.
fn print_line(line: String) {
    use std::io::Write;
    // whoever reads may have gone: that ends the output, not the job
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// The machine's time zone: `TZ`, else UTC.
fn local_time_zone() -> TimeZone {
    std::env::var("TZ").ok().and_then(|name| TimeZone::parse(&name).ok()).unwrap_or(TimeZone::UTC)
}

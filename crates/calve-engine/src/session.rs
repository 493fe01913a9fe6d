//! A session and the one place where statements are told apart.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use calve_functions::{EvalContext, TimeZone};
use calve_planner::Rel;
use calve_sql::{ScriptStatement, Statement};
use calve_types::{Error, Result};
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use futures::FutureExt;

use crate::catalogs::Catalogs;
use crate::error::from_datafusion;
use crate::insert::Commits;
use crate::options::Options;
use crate::query::Runner;
use crate::resolve::{Resolved, full_path};
use crate::result::{ResultBody, Rows, StatementKind, StatementResult, Warning};
use crate::{ddl, insert, listing, show};

/// How a session begins.
#[derive(Debug, Clone, Default)]
pub struct SessionConfig {
    /// Options, as `-D` gives them; later ones win.
    pub options: Vec<(String, String)>,
    /// Memory that queries and writes may use together, in bytes; `None` is no limit.
    pub memory_limit: Option<u64>,
}

/// Catalogs, options and what is current: everything statements share.
pub struct Session {
    pub(crate) catalogs: Catalogs,
    pub(crate) options: Options,
    runtime: Arc<RuntimeEnv>,
    commits: Commits,
    /// Warnings about the options the session began with, for its first statement.
    pending: Vec<Warning>,
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
    /// `invalid-option` for an option with a wrong value.
    pub fn new(config: SessionConfig) -> Result<Self> {
        let mut builder = RuntimeEnvBuilder::new();
        if let Some(limit) = config.memory_limit {
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            builder = builder.with_memory_pool(Arc::new(FairSpillPool::new(limit)));
        }
        let runtime = Arc::new(builder.build().map_err(from_datafusion)?);
        let mut checked = Options::default();
        let mut pending = vec![];
        for (key, value) in &config.options {
            pending.extend(checked.set(key, value)?);
        }
        let session = Self {
            catalogs: Catalogs::default(),
            options: Options::new(config.options),
            runtime,
            commits: Commits::default(),
            pending,
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
        // nothing should panic; what does anyway costs one statement, not the script
        let run = AssertUnwindSafe(async { self.run(calve_sql::parse(statement)?).await });
        let mut result = run.catch_unwind().await.unwrap_or_else(|panic| Err(panicked(panic.as_ref())))?;
        result.warnings.splice(0..0, std::mem::take(&mut self.pending));
        Ok(result)
    }

    /// After a cancelled [`Session::execute`]: waits for the commit it may have begun. The new snapshot's id, or why the
    /// commit is not in; `None` if the statement had not begun to commit.
    pub async fn settle(&self) -> Option<Result<i64>> {
        self.commits.settle().await
    }

    async fn run(&mut self, statement: Statement) -> Result<StatementResult> {
        let mut warnings = vec![];
        let body = match statement {
            Statement::Query(_) => {
                let (rel, warnings) = self.bind_query(&statement).await?;
                let rows = self.query(rel).await?;
                return Ok(StatementResult {
                    kind: StatementKind::Query,
                    body: ResultBody::Rows(rows),
                    warnings,
                    job_id: None,
                });
            }
            Statement::Insert(_) => return self.insert(&statement).await,
            Statement::Set { option: Some((key, value)) } => {
                self.set(&key, &value, &mut warnings)?;
                ResultBody::Done
            }
            Statement::Set { option: None } => {
                let (keys, values) = self.options.all().iter().map(|(k, v)| (Some(k.clone()), Some(v.clone()))).unzip();
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
            Statement::CreateCatalog(create) => ddl::catalog::create(&mut self.catalogs, create, &mut warnings)?,
            Statement::DropCatalog { name, if_exists } => ddl::catalog::drop(&mut self.catalogs, &name, if_exists)?,
            Statement::UseCatalog { name } => {
                self.catalogs.use_catalog(&name.value).map_err(|e| e.at(name.span))?;
                ResultBody::Done
            }
            Statement::CreateDatabase(create) => ddl::database::create(&mut self.catalogs, create).await?,
            Statement::DropDatabase { name, if_exists, cascade } => {
                ddl::database::drop(&mut self.catalogs, &name, if_exists, cascade).await?
            }
            Statement::UseDatabase { name } => ddl::database::select(&mut self.catalogs, &name).await?,
            Statement::CreateTable(create) => ddl::table::create(&mut self.catalogs, *create, &mut warnings).await?,
            Statement::DropTable { name, if_exists, temporary } => {
                ddl::table::drop(&mut self.catalogs, &name, if_exists, temporary).await?
            }
            Statement::Show(what) => ResultBody::Rows(show::show(&self.catalogs, &what, &self.context()?).await?),
            Statement::DescribeTable { name, .. } => ResultBody::Rows(self.describe(&name).await?),
            Statement::DescribeCatalog { name, extended } => {
                ResultBody::Rows(show::catalog(&self.catalogs, &name, extended, &self.context()?)?)
            }
            Statement::Explain { statement, .. } => ResultBody::Rows(self.explain(&statement).await?),
            Statement::CreateView(create) => return Err(Error::unsupported("CREATE VIEW").at(create.name.span)),
            Statement::AlterView { name, .. } => return Err(Error::unsupported("ALTER VIEW").at(name.span)),
            Statement::DropView { name, .. } => return Err(Error::unsupported("DROP VIEW").at(name.span)),
            Statement::ShowCreate { name, .. } => return Err(Error::unsupported("SHOW CREATE").at(name.span)),
            Statement::ShowPartitions { table, .. } => return Err(Error::unsupported("SHOW PARTITIONS").at(table.span)),
            Statement::BeginStatementSet { span } | Statement::EndStatementSet { span } => {
                return Err(Error::unsupported("BEGIN STATEMENT SET").at(span));
            }
            Statement::StatementSet(set) => return Err(Error::unsupported("STATEMENT SET").at(set.span)),
            Statement::Other { feature, span } => return Err(Error::unsupported(feature).at(span)),
        };
        Ok(StatementResult { kind: StatementKind::Command, body, warnings, job_id: None })
    }

    fn set(&mut self, key: &str, value: &str, warnings: &mut Vec<Warning>) -> Result<()> {
        if key == "table.local-time-zone" {
            TimeZone::parse(value)?;
        }
        warnings.extend(self.options.set(key, value)?);
        Ok(())
    }

    async fn resolve(&self, statement: &Statement) -> Result<Resolved<'_>> {
        Resolved::load(&self.catalogs, &self.options, calve_planner::tables::referenced(statement)).await
    }

    fn runner(&self) -> Result<Runner<'_>> {
        Ok(Runner::new(&self.options, Arc::clone(&self.runtime), self.context()?))
    }

    async fn bind_query(&self, statement: &Statement) -> Result<(Rel, Vec<Warning>)> {
        let Statement::Query(query) = statement else { return Err(Error::internal("not a query")) };
        let resolved = self.resolve(statement).await?;
        Ok((calve_planner::bind::query(query, &resolved)?, resolved.warnings(statement)))
    }

    async fn query(&self, rel: Rel) -> Result<Rows> {
        let runner = self.runner()?;
        let batches = runner.stream(&rel, self.options.parallelism()).await?;
        Ok(Rows { columns: rel.fields, batches, context: *runner.context() })
    }

    async fn insert(&self, statement: &Statement) -> Result<StatementResult> {
        let Statement::Insert(insert) = statement else { return Err(Error::internal("not an INSERT")) };
        let resolved = self.resolve(statement).await?;
        let warnings = resolved.warnings(statement);
        let sink = calve_planner::bind::insert(insert, &resolved)?;
        let job_id = uuid::Uuid::new_v4().simple().to_string();
        let summary = insert::run(&self.runner()?, &sink, &job_id, &self.commits).await?;
        Ok(StatementResult {
            kind: StatementKind::Insert,
            body: ResultBody::Written(summary),
            warnings,
            job_id: Some(job_id),
        })
    }

    async fn describe(&self, name: &calve_sql::Name) -> Result<Rows> {
        let reference = calve_planner::tables::Reference { parts: name.parts.clone(), hints: vec![], span: name.span };
        let resolved = Resolved::load(&self.catalogs, &self.options, vec![reference]).await?;
        show::table(&resolved, full_path(&self.catalogs, &name.parts), name, &self.context()?)
    }

    async fn explain(&self, statement: &Statement) -> Result<Rows> {
        let resolved = self.resolve(statement).await?;
        let tree = match statement {
            Statement::Query(query) => calve_planner::explain::tree(&calve_planner::bind::query(query, &resolved)?),
            Statement::Insert(insert) => {
                calve_planner::explain::sink_tree(&calve_planner::bind::insert(insert, &resolved)?)
            }
            _ => return Err(Error::unsupported("EXPLAIN of this statement")),
        };
        listing::names("result", vec![format!("== Abstract Syntax Tree ==\n{tree}")], &self.context()?)
    }
}

/// The error for a panic.
pub(crate) fn panicked(panic: &(dyn Any + Send)) -> Error {
    let text =
        panic.downcast_ref::<&str>().map(|s| (*s).to_owned()).or_else(|| panic.downcast_ref::<String>().cloned());
    Error::internal(text.unwrap_or_else(|| "a panic".to_owned()))
}

/// The machine's time zone: `TZ`, else UTC.
fn local_time_zone() -> TimeZone {
    std::env::var("TZ").ok().and_then(|name| TimeZone::parse(&name).ok()).unwrap_or(TimeZone::UTC)
}

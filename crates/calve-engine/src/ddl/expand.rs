//! The text that a view keeps: its query with full names of tables, and columns with the name of their table in front, as
//! Flink keeps it. The rows come from the query itself; a name that is not understood here stays as it was written.

use std::ops::ControlFlow;

use calve_planner::CatalogReader;
use calve_sql::ast::{
    self, Expr, Ident, JoinConstraint, JoinOperator, ObjectName, ObjectNamePart, SelectItem,
    SelectItemQualifiedWildcardKind, SetExpr, TableFactor, VisitMut, VisitorMut,
};
use calve_sql::{Query, print};

use crate::resolve::{Resolved, complete};

/// As much stack as a query may need that the parser lets pass, in bytes; only what is used costs memory.
const STACK: usize = 64 << 20;

/// The text of a view's query.
pub(super) fn text(query: &Query, resolved: &Resolved<'_>) -> String {
    stacker::maybe_grow(STACK / 2, STACK, || {
        let mut query = query.clone();
        Expander { resolved }.query(&mut query.ast, None);
        print::query(&query)
    })
}

/// What stands in FROM.
#[derive(Debug, Clone)]
struct Source {
    /// The name in front of its columns.
    name: Option<Ident>,
    /// Its columns; `None` if they are not known.
    columns: Option<Vec<String>>,
}

/// What names mean at a place of the query.
struct Scope<'s> {
    /// What stands in FROM.
    sources: Vec<Source>,
    /// The queries of WITH.
    queries: Vec<Source>,
    /// Names that stay as they are: those that ORDER BY takes from the select list.
    kept: Vec<String>,
    outer: Option<&'s Scope<'s>>,
}

impl<'s> Scope<'s> {
    fn inside(outer: Option<&'s Scope<'s>>) -> Self {
        Self { sources: vec![], queries: vec![], kept: vec![], outer }
    }

    fn outwards(&self) -> impl Iterator<Item = &Scope<'s>> {
        std::iter::successors(Some(self), |scope| scope.outer)
    }

    /// The columns of a query of WITH; `None` if there is none of that name.
    fn with(&self, name: &str) -> Option<Option<Vec<String>>> {
        let named = |source: &&Source| source.name.as_ref().is_some_and(|n| n.value == name);
        self.outwards().find_map(|scope| scope.queries.iter().rev().find(named)).map(|found| found.columns.clone())
    }

    /// The name that stands in front of a column; `None` if there is none, or more than one may.
    fn table_of(&self, column: &str) -> Option<Ident> {
        for scope in self.outwards() {
            if scope.kept.iter().any(|kept| kept == column) {
                return None;
            }
            let has = |s: &&Source| s.columns.as_ref().is_some_and(|columns| columns.iter().any(|c| c == column));
            let mut found = scope.sources.iter().filter(has);
            match (found.next(), found.next()) {
                (Some(source), None) => return source.name.clone(),
                (Some(_), Some(_)) => return None,
                _ if scope.sources.iter().any(|s| s.columns.is_none()) => return None,
                _ => {}
            }
        }
        None
    }

    fn has_table(&self, name: &str) -> bool {
        self.outwards().any(|s| s.sources.iter().any(|s| s.name.as_ref().is_some_and(|n| n.value == name)))
    }
}

struct Expander<'a> {
    resolved: &'a Resolved<'a>,
}

impl Expander<'_> {
    /// Expands a query; the names of its columns, if all are known.
    fn query(&self, query: &mut ast::Query, outer: Option<&Scope<'_>>) -> Option<Vec<String>> {
        let mut scope = Scope::inside(outer);
        for cte in query.with.iter_mut().flat_map(|with| &mut with.cte_tables) {
            let columns = self.query(&mut cte.query, Some(&scope));
            scope.queries.push(Source { name: Some(cte.alias.name.clone()), columns: renamed(columns, &cte.alias) });
        }
        let (columns, sources) = self.set(&mut query.body, &scope);
        if let Some(order_by) = &mut query.order_by {
            let mut scope = Scope::inside(Some(&scope));
            scope.sources = sources;
            if let SetExpr::Select(select) = query.body.as_ref() {
                let alias = |item: &SelectItem| match item {
                    SelectItem::ExprWithAlias { alias, .. } => Some(alias.value.clone()),
                    _ => None,
                };
                scope.kept = select.projection.iter().filter_map(alias).collect();
            }
            self.expressions(order_by, &scope);
        }
        columns
    }

    /// Expands the body of a query; its columns, and what stands in the FROM of a single SELECT.
    fn set(&self, body: &mut SetExpr, outer: &Scope<'_>) -> (Option<Vec<String>>, Vec<Source>) {
        stacker::maybe_grow(128 << 10, 4 << 20, || match body {
            SetExpr::Select(select) => self.select(select, outer),
            SetExpr::Query(query) => (self.query(query, Some(outer)), vec![]),
            SetExpr::SetOperation { left, right, .. } => {
                let (columns, _) = self.set(left, outer);
                self.set(right, outer);
                (columns, vec![])
            }
            SetExpr::Values(values) => {
                let count = values.rows.first().map_or(0, Vec::len);
                self.expressions(values, outer);
                (Some((0..count).map(|i| format!("EXPR${i}")).collect()), vec![])
            }
            _ => (None, vec![]),
        })
    }

    fn select(&self, select: &mut ast::Select, outer: &Scope<'_>) -> (Option<Vec<String>>, Vec<Source>) {
        let mut scope = Scope::inside(Some(outer));
        for table in &mut select.from {
            let source = self.factor(&mut table.relation, &scope);
            scope.sources.push(source);
            for join in &mut table.joins {
                let source = self.factor(&mut join.relation, &scope);
                scope.sources.push(source);
                if let Some(on) = condition(&mut join.join_operator) {
                    self.expressions(on, &scope);
                }
            }
        }
        self.expressions(&mut select.projection, &scope);
        self.expressions(&mut select.selection, &scope);
        self.expressions(&mut select.group_by, &scope);
        self.expressions(&mut select.having, &scope);
        self.expressions(&mut select.qualify, &scope);
        self.expressions(&mut select.named_window, &scope);
        let columns = columns_of(&select.projection, &scope.sources);
        (columns, scope.sources)
    }

    fn factor(&self, factor: &mut TableFactor, scope: &Scope<'_>) -> Source {
        match factor {
            TableFactor::Table { name, alias, args: None, .. } => {
                let parts: Vec<String> =
                    name.0.iter().filter_map(|part| part.as_ident().map(|ident| ident.value.clone())).collect();
                let own = name.0.last().and_then(|part| part.as_ident().cloned());
                let columns = match parts.as_slice() {
                    [table] if scope.with(table).is_some() => scope.with(table).flatten(),
                    _ => self.full_name(name, &parts),
                };
                named(columns, alias.as_ref(), own)
            }
            TableFactor::Derived { subquery, alias, .. } => {
                let columns = self.query(subquery, Some(scope));
                named(columns, alias.as_ref(), None)
            }
            TableFactor::NestedJoin { alias, .. } => named(None, alias.as_ref(), None),
            other => {
                self.expressions(other, scope);
                let alias = match other {
                    TableFactor::Table { alias, .. }
                    | TableFactor::Function { alias, .. }
                    | TableFactor::TableFunction { alias, .. }
                    | TableFactor::UNNEST { alias, .. } => alias.as_ref(),
                    _ => None,
                };
                named(None, alias, None)
            }
        }
    }

    /// Completes a table's name; its columns.
    fn full_name(&self, name: &mut ObjectName, parts: &[String]) -> Option<Vec<String>> {
        let path = complete(parts, self.resolved.current())?;
        let last = name.0.last().cloned()?;
        // the last part stays where it is: hints stand behind it
        let part = |text: &str| ObjectNamePart::Identifier(Ident::new(text));
        name.0 = vec![part(&path.catalog), part(&path.database), last];
        self.resolved.columns(&path)
    }

    /// Expands the names in expressions, and the queries in them.
    fn expressions(&self, expressions: &mut impl VisitMut, scope: &Scope<'_>) {
        let _: ControlFlow<()> = expressions.visit(&mut Names { expander: self, scope, depth: 0 });
    }
}

struct Names<'n> {
    expander: &'n Expander<'n>,
    scope: &'n Scope<'n>,
    /// How many queries the place is inside of: they have been expanded as a whole.
    depth: usize,
}

impl VisitorMut for Names<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut ast::Query) -> ControlFlow<()> {
        if self.depth == 0 {
            self.expander.query(query, Some(self.scope));
        }
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _query: &mut ast::Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if self.depth > 0 {
            return ControlFlow::Continue(());
        }
        match expr {
            Expr::Identifier(name) => {
                if let Some(table) = self.scope.table_of(&name.value) {
                    *expr = Expr::CompoundIdentifier(vec![table, name.clone()]);
                }
            }
            // a field of a column
            Expr::CompoundIdentifier(parts) => {
                if let Some(first) = parts.first()
                    && !self.scope.has_table(&first.value)
                    && let Some(table) = self.scope.table_of(&first.value)
                {
                    parts.insert(0, table);
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// A source under its alias.
fn named(columns: Option<Vec<String>>, alias: Option<&ast::TableAlias>, own: Option<Ident>) -> Source {
    match alias {
        Some(alias) => Source { name: Some(alias.name.clone()), columns: renamed(columns, alias) },
        None => Source { name: own, columns },
    }
}

/// Columns under the names that an alias lists, if it lists any.
fn renamed(columns: Option<Vec<String>>, alias: &ast::TableAlias) -> Option<Vec<String>> {
    if alias.columns.is_empty() {
        return columns;
    }
    Some(alias.columns.iter().map(|column| column.name.value.clone()).collect())
}

fn condition(join: &mut JoinOperator) -> Option<&mut Expr> {
    match join {
        JoinOperator::Join(on)
        | JoinOperator::Inner(on)
        | JoinOperator::Left(on)
        | JoinOperator::LeftOuter(on)
        | JoinOperator::Right(on)
        | JoinOperator::RightOuter(on)
        | JoinOperator::FullOuter(on) => match on {
            JoinConstraint::On(on) => Some(on),
            _ => None,
        },
        _ => None,
    }
}

/// The names of a select list, if all are known.
fn columns_of(items: &[SelectItem], sources: &[Source]) -> Option<Vec<String>> {
    let mut columns = vec![];
    for (i, item) in items.iter().enumerate() {
        match item {
            SelectItem::ExprWithAlias { alias, .. } => columns.push(alias.value.clone()),
            SelectItem::UnnamedExpr(Expr::Identifier(name)) => columns.push(name.value.clone()),
            SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts)) => columns.push(parts.last()?.value.clone()),
            SelectItem::UnnamedExpr(_) => columns.push(format!("EXPR${i}")),
            SelectItem::Wildcard(_) => {
                for source in sources {
                    columns.extend(source.columns.clone()?);
                }
            }
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) => {
                let name = &name.0.last()?.as_ident()?.value;
                let source = sources.iter().find(|s| s.name.as_ref().is_some_and(|n| n.value == *name))?;
                columns.extend(source.columns.clone()?);
            }
            _ => return None,
        }
    }
    Some(columns)
}

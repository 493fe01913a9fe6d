//! Queries.

use sqlparser::ast::{
    Distinct, GroupByExpr, Join, JoinConstraint, JoinOperator, LimitClause, NamedWindowExpr, OrderByKind, Query,
    Select, SelectItem, SelectItemQualifiedWildcardKind, SetExpr, SetOperator, SetQuantifier, TableAlias, TableFactor,
    TableSample, TableSampleKind, TableVersion, TableWithJoins,
};

use super::{Printer, string};

/// The body of a query that has nothing else.
fn plain_body(query: &Query) -> Option<&SetExpr> {
    let plain =
        query.with.is_none() && query.order_by.is_none() && query.limit_clause.is_none() && query.fetch.is_none();
    plain.then_some(query.body.as_ref())
}

/// INTERSECT binds stronger than UNION and EXCEPT.
fn strength(op: SetOperator) -> u8 {
    if op == SetOperator::Intersect { 2 } else { 1 }
}

impl Printer<'_> {
    pub(super) fn query(&mut self, query: &Query) {
        if let Some(with) = &query.with {
            self.text(if with.recursive { "WITH RECURSIVE " } else { "WITH " });
            self.list(&with.cte_tables, ", ", |p, cte| {
                p.name(&cte.alias.name);
                p.alias_columns(&cte.alias);
                p.text(" AS (");
                p.query(&cte.query);
                p.text(")");
            });
            self.text(" ");
        }
        self.set(&query.body, 0);
        if let Some(order_by) = &query.order_by
            && let OrderByKind::Expressions(items) = &order_by.kind
        {
            self.text("\nORDER BY ");
            self.order_by(items);
        }
        let (mut limit, mut offset) = (None, None);
        match &query.limit_clause {
            Some(LimitClause::LimitOffset { limit: l, offset: o, .. }) => {
                (limit, offset) = (l.as_ref(), o.as_ref().map(|o| &o.value));
            }
            Some(LimitClause::OffsetCommaLimit { offset: o, limit: l }) => (limit, offset) = (Some(l), Some(o)),
            None => {}
        }
        if let Some(fetch) = &query.fetch {
            limit = fetch.quantity.as_ref().or(limit);
        }
        if let Some(offset) = offset {
            self.text("\nOFFSET ");
            self.expr(offset);
            self.text(" ROWS");
        }
        if let Some(limit) = limit {
            self.text("\nFETCH NEXT ");
            self.expr(limit);
            self.text(" ROWS ONLY");
        }
    }

    /// A SELECT, VALUES or set operation inside one that binds with `outer`; 0 is none.
    fn set(&mut self, body: &SetExpr, outer: u8) {
        match body {
            SetExpr::Select(select) => self.select(select),
            SetExpr::Values(values) => {
                self.text("VALUES ");
                self.list(&values.rows, ",\n", |p, row| {
                    p.text("ROW(");
                    p.exprs(row);
                    p.text(")");
                });
            }
            SetExpr::SetOperation { op, set_quantifier, left, right } => {
                let own = strength(*op);
                let enclosed = own < outer;
                if enclosed {
                    self.text("(");
                }
                self.set(left, own);
                self.text(&format!("\n{op}"));
                if *set_quantifier == SetQuantifier::All {
                    self.text(" ALL");
                }
                self.text("\n");
                self.set(right, own + 1);
                if enclosed {
                    self.text(")");
                }
            }
            SetExpr::Query(query) => match plain_body(query) {
                Some(body) => self.set(body, outer),
                None => {
                    self.text("(");
                    self.query(query);
                    self.text(")");
                }
            },
            other => self.text(&other.to_string()),
        }
    }

    fn select(&mut self, select: &Select) {
        self.text("SELECT ");
        match &select.distinct {
            Some(Distinct::Distinct) => self.text("DISTINCT "),
            Some(Distinct::All) => self.text("ALL "),
            _ => {}
        }
        self.list(&select.projection, ", ", |p, item| p.item(item));
        if !select.from.is_empty() {
            self.text("\nFROM ");
            self.list(&select.from, ",\n", |p, table| p.joined(table, "\n"));
        }
        if let Some(condition) = &select.selection {
            self.text("\nWHERE ");
            self.expr(condition);
        }
        if let GroupByExpr::Expressions(items, _) = &select.group_by
            && !items.is_empty()
        {
            self.text("\nGROUP BY ");
            self.exprs(items);
        }
        if let Some(condition) = &select.having {
            self.text("\nHAVING ");
            self.expr(condition);
        }
        if !select.named_window.is_empty() {
            self.text("\nWINDOW ");
            self.list(&select.named_window, ",\n", |p, window| {
                p.name(&window.0);
                p.text(" AS ");
                match &window.1 {
                    NamedWindowExpr::NamedWindow(name) => p.name(name),
                    NamedWindowExpr::WindowSpec(spec) => p.window(spec),
                }
            });
        }
        if let Some(condition) = &select.qualify {
            self.text("\nQUALIFY ");
            self.expr(condition);
        }
    }

    fn item(&mut self, item: &SelectItem) {
        match item {
            SelectItem::UnnamedExpr(expr) => self.expr(expr),
            SelectItem::ExprWithAlias { expr, alias } => {
                self.expr(expr);
                self.text(" AS ");
                self.name(alias);
            }
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) => {
                self.object_name(name);
                self.text(".*");
            }
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::Expr(expr), _) => {
                self.expr(expr);
                self.text(".*");
            }
            SelectItem::Wildcard(_) => self.text("*"),
        }
    }

    /// A table and what is joined to it; `gap` stands before each JOIN.
    fn joined(&mut self, table: &TableWithJoins, gap: &str) {
        match &table.relation {
            // joins associate to the left
            TableFactor::NestedJoin { table_with_joins, alias: None } => self.joined(table_with_joins, gap),
            relation => self.relation(relation),
        }
        for join in &table.joins {
            self.join(join, gap);
        }
    }

    fn join(&mut self, join: &Join, gap: &str) {
        let none = JoinConstraint::None;
        let (words, constraint) = match &join.join_operator {
            JoinOperator::Join(c) | JoinOperator::Inner(c) => ("INNER JOIN", c),
            JoinOperator::Left(c) | JoinOperator::LeftOuter(c) => ("LEFT JOIN", c),
            JoinOperator::Right(c) | JoinOperator::RightOuter(c) => ("RIGHT JOIN", c),
            JoinOperator::FullOuter(c) => ("FULL JOIN", c),
            JoinOperator::CrossJoin(c) => ("CROSS JOIN", c),
            _ => ("JOIN", &none),
        };
        self.text(gap);
        if matches!(constraint, JoinConstraint::Natural) {
            self.text("NATURAL ");
        }
        self.text(&format!("{words} "));
        self.relation(&join.relation);
        match constraint {
            JoinConstraint::On(condition) => {
                self.text(" ON ");
                self.expr(condition);
            }
            JoinConstraint::Using(columns) => {
                self.text(" USING (");
                self.list(columns, ", ", |p, column| p.object_name(column));
                self.text(")");
            }
            JoinConstraint::Natural | JoinConstraint::None => {}
        }
    }

    pub(super) fn relation(&mut self, relation: &TableFactor) {
        match relation {
            TableFactor::Table { name, alias, args: None, version, sample, .. } => {
                self.object_name(name);
                if let Some(hint) = self.hints.and_then(|hints| hints.options_for(name)) {
                    self.text("\n/*+ `OPTIONS`(");
                    self.list(&hint.options, ", ", |p, (key, value)| {
                        p.text(&format!("{} = {}", string(key), string(value)));
                    });
                    self.text(") */");
                }
                if let Some(TableVersion::ForSystemTimeAsOf(time)) = version {
                    self.text(" FOR SYSTEM_TIME AS OF ");
                    self.expr(time);
                }
                self.aliased(alias.as_ref(), sample.as_ref());
            }
            TableFactor::Derived { lateral, subquery, alias, sample } => {
                self.text(if *lateral { "LATERAL (" } else { "(" });
                self.query(subquery);
                self.text(")");
                self.aliased(alias.as_ref(), sample.as_ref());
            }
            TableFactor::UNNEST { alias, array_exprs, with_ordinality, .. } => {
                self.text("UNNEST(");
                self.exprs(array_exprs);
                self.text(if *with_ordinality { ") WITH ORDINALITY" } else { ")" });
                self.aliased(alias.as_ref(), None);
            }
            TableFactor::Table { name, alias, args: Some(args), .. } => {
                self.object_name(name);
                self.text("(");
                self.list(&args.args, ", ", |p, argument| p.argument(argument));
                self.text(")");
                self.aliased(alias.as_ref(), None);
            }
            TableFactor::MatchRecognize { .. } => self.match_recognize(relation),
            TableFactor::TableFunction { expr, alias } => {
                self.text("TABLE(");
                self.expr(expr);
                self.text(")");
                self.aliased(alias.as_ref(), None);
            }
            TableFactor::Function { lateral, name, args, alias } if name.to_string().eq_ignore_ascii_case("TABLE") => {
                self.text(if *lateral { "LATERAL TABLE(" } else { "TABLE(" });
                self.list(args, ", ", |p, argument| p.argument(argument));
                self.text(")");
                self.aliased(alias.as_ref(), None);
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                self.text("(");
                self.joined(table_with_joins, " ");
                self.text(")");
                self.aliased(alias.as_ref(), None);
            }
            other => self.text(&other.to_string()),
        }
    }

    pub(super) fn aliased(&mut self, alias: Option<&TableAlias>, sample: Option<&TableSampleKind>) {
        if let Some(TableSampleKind::BeforeTableAlias(sample)) = sample {
            self.sample(sample);
        }
        if let Some(alias) = alias {
            self.text(" AS ");
            self.name(&alias.name);
            self.alias_columns(alias);
        }
        if let Some(TableSampleKind::AfterTableAlias(sample)) = sample {
            self.sample(sample);
        }
    }

    fn alias_columns(&mut self, alias: &TableAlias) {
        if !alias.columns.is_empty() {
            self.text(" (");
            self.list(&alias.columns, ", ", |p, column| p.name(&column.name));
            self.text(")");
        }
    }

    fn sample(&mut self, sample: &TableSample) {
        self.text(" TABLESAMPLE ");
        if let Some(method) = &sample.name {
            self.text(&method.to_string());
        }
        if let Some(quantity) = &sample.quantity {
            self.text("(");
            self.expr(&quantity.value);
            self.text(")");
        }
        if let Some(seed) = &sample.seed {
            self.text(" REPEATABLE(");
            self.value(&seed.value);
            self.text(")");
        }
    }
}

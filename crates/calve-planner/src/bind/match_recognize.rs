//! `t MATCH_RECOGNIZE (PARTITION BY .. ORDER BY .. MEASURES .. PATTERN (..) DEFINE ..)`.
//!
//! An expression of MEASURES or DEFINE looks at the rows of a match: `A.price` is the price of the last row of A,
//! `FIRST(A.price, 1)` that of its second row, `AVG(A.price)` an aggregate of its rows, and a name without a variable looks at
//! all rows of the match. Each of these becomes a column of its own first; what is left is an expression like any other.

use std::cell::RefCell;
use std::ops::ControlFlow;

use calve_sql::ast::{self, Ident, VisitMut as _};
use calve_stream::pattern::{Element, Skip};
use calve_types::{Error, LogicalType, Result, Span};

use super::from::{Source, derived};
use super::scope::{Aggregates, Env, Namespace, Scope, Table};
use super::{Binder, expr as syntax, names, span, window};
use crate::expr::{Expr, ExprKind, SortKey};
use crate::matching::{Formula, Match, Navigation, NavigationValue};
use crate::rel::{Field, Rel, RelKind};

/// The clauses.
pub(super) struct Clauses<'a> {
    pub partition_by: &'a [ast::Expr],
    pub order_by: &'a [ast::OrderByExpr],
    pub measures: &'a [ast::Measure],
    pub rows_per_match: Option<&'a ast::RowsPerMatch>,
    pub after_match_skip: Option<&'a ast::AfterMatchSkip>,
    pub pattern: &'a ast::MatchRecognizePattern,
    pub symbols: &'a [ast::SymbolDefinition],
    pub alias: Option<&'a ast::TableAlias>,
}

impl Binder<'_> {
    /// # Errors
    /// What Flink refuses of patterns, and unknown names.
    pub(super) fn match_recognize(&self, clauses: &Clauses<'_>, input: Source, env: Env<'_>) -> Result<Source> {
        let (input, namespace) = input;
        let place = clauses.symbols.first().map(|s| span::ident(&s.symbol)).unwrap_or_default();
        if let Some(ast::RowsPerMatch::AllRows(_)) = clauses.rows_per_match {
            return Err(refused("ALL ROWS PER MATCH", "All rows per match mode is not supported yet.", place));
        }
        let scope = Scope::new(env, &namespace, "MATCH_RECOGNIZE clause");
        let mut partition = vec![];
        for key in clauses.partition_by {
            match self.expr(key, &scope)?.kind {
                ExprKind::Column(column) => partition.push(column),
                _ => {
                    return Err(Error::unsupported("PARTITION BY an expression in MATCH_RECOGNIZE")
                        .with_hint("compute it in a subquery")
                        .at(syntax::span_of(key)));
                }
            }
        }
        let (order, time) = self.match_order(clauses.order_by, &input, &scope, place)?;
        let elements = elements(clauses.pattern, place)?;
        let skip = skip(clauses.after_match_skip, &elements)?;

        let rows = Rows { binder: self, env, namespace: &namespace, elements: &elements, time };
        let mut definitions: Vec<Option<Formula>> = elements.iter().map(|_| None).collect();
        let mut within = None;
        for symbol in clauses.symbols {
            if symbol.symbol.value == calve_sql::WITHIN {
                within = Some(self.within(&symbol.definition, &scope)?);
                continue;
            }
            let Some(element) = elements.iter().position(|e| e.name == symbol.symbol.value) else { continue };
            let definition = rows.formula(std::iter::once(&symbol.definition), true)?;
            let condition = definition.exprs.first();
            if condition.is_some_and(|e| !matches!(e.data_type.logical, LogicalType::Boolean | LogicalType::Null)) {
                return Err(Error::new(
                    "invalid-argument",
                    format!("the definition of '{}' is no condition", symbol.symbol.value),
                )
                .with_detail("DEFINE clause must be a condition")
                .at(syntax::span_of(&symbol.definition)));
            }
            if let Some(slot) = definitions.get_mut(element) {
                *slot = Some(definition);
            }
        }
        let mut fields: Vec<Field> = partition.iter().filter_map(|i| namespace.fields.get(*i)).cloned().collect();
        let measures = rows.formula(clauses.measures.iter().map(|m| &m.expr), false)?;
        for (measure, expr) in clauses.measures.iter().zip(&measures.exprs) {
            let name = measure.alias.value.clone();
            if fields.iter().any(|f| f.name == name) {
                return Err(Error::new("duplicate-column", format!("'{name}' is the name of two columns of a match"))
                    .with_hint("give each measure a name of its own")
                    .at(span::ident(&measure.alias)));
            }
            fields.push(Field { name, data_type: expr.data_type.clone() });
        }
        if fields.is_empty() {
            return Err(refused("MATCH_RECOGNIZE without MEASURES", "Columns ambiguously defined: {}", place));
        }
        let matching = Match { input, partition, order, time, elements, skip, within, definitions, measures };
        let rel = Rel { kind: RelKind::Match(Box::new(matching)), fields };
        derived(rel, None, clauses.alias)
    }

    /// `WITHIN INTERVAL ..`, in milliseconds.
    fn within(&self, interval: &ast::Expr, scope: &Scope<'_>) -> Result<i64> {
        let bound = self.expr(interval, scope)?;
        if !bound.data_type.logical.is_interval() {
            return Err(Error::new("invalid-argument", "WITHIN needs an interval").at(bound.span));
        }
        window::millis(&bound)
    }

    /// The order, and its first key's column of time.
    fn match_order(
        &self,
        keys: &[ast::OrderByExpr],
        input: &Rel,
        scope: &Scope<'_>,
        place: Span,
    ) -> Result<(Vec<SortKey>, usize)> {
        let streaming = self.streaming();
        let way_out = match streaming {
            true if (0..input.fields.len()).any(|column| input.time(column).is_some()) => {
                "ORDER BY the column with the watermark, ascending"
            }
            true => window::no_attribute_hint(input, true),
            false => "ORDER BY a timestamp first, ascending",
        };
        let wrong = |streams: &str, batches: &str, place: Span| {
            Error::new("invalid-match-order", "MATCH_RECOGNIZE needs the rows in the order of a column of time")
                .with_detail(if streaming { streams } else { batches })
                .with_hint(way_out)
                .at(place)
        };
        let mut order = vec![];
        for key in keys {
            let expr = self.expr(&key.expr, scope)?;
            let descending = key.options.asc == Some(false);
            order.push(SortKey { expr, descending, nulls_first: key.options.nulls_first.unwrap_or(!descending) });
        }
        let Some(first) = order.first() else {
            return Err(wrong(
                "You must specify either rowtime or proctime for order by.",
                "You must specify non-empty order by.",
                place,
            ));
        };
        let time = match first.expr.kind {
            ExprKind::Column(column) if streaming => Some(column).filter(|column| input.time(*column).is_some()),
            ExprKind::Column(column) => {
                let logical = &first.expr.data_type.logical;
                Some(column).filter(|_| matches!(logical, LogicalType::Timestamp(_) | LogicalType::TimestampLtz(_)))
            }
            _ => None,
        };
        let Some(time) = time else {
            return Err(wrong(
                "You must specify either rowtime or proctime for order by as the first one.",
                "You must specify time point for order by as the first one.",
                first.expr.span,
            ));
        };
        if first.descending {
            return Err(wrong(
                "Primary sort order of a streaming table must be ascending on time.",
                "Primary sort order of a table must be ascending on time.",
                first.expr.span,
            ));
        }
        Ok((order, time))
    }
}

fn refused(feature: &str, detail: &str, place: Span) -> Error {
    Error::unsupported(feature).with_detail(detail).at(place)
}

/// The variables of a pattern, in order.
fn elements(pattern: &ast::MatchRecognizePattern, place: Span) -> Result<Vec<Element>> {
    let mut found: Vec<Element> = vec![];
    collect(pattern, &mut found, place)?;
    for (i, element) in found.iter().enumerate() {
        if found.iter().take(i).any(|e| e.name == element.name) {
            let detail = "Pattern variables must be unique. That might change in the future.";
            return Err(refused(&format!("the pattern variable '{}' twice", element.name), detail, place));
        }
    }
    if let Some(last) = found.last()
        && last.greedy
        && last.max != Some(last.min)
    {
        let detail = "Greedy quantifiers are not allowed as the last element of a Pattern yet. Finish your pattern with \
                      either a simple variable or reluctant quantifier.";
        return Err(refused("a greedy quantifier at the end of a pattern", detail, place)
            .with_hint("make it reluctant, as in B+?, or end the pattern with a variable that has no quantifier"));
    }
    if found.iter().all(|e| e.min == 0) {
        return Err(refused(
            "a pattern that matches no row",
            "The pattern can match an empty sequence of rows.",
            place,
        ));
    }
    Ok(found)
}

fn collect(pattern: &ast::MatchRecognizePattern, found: &mut Vec<Element>, place: Span) -> Result<()> {
    use ast::MatchRecognizePattern as P;
    match pattern {
        P::Symbol(ast::MatchRecognizeSymbol::Named(name)) => {
            found.push(Element { name: name.value.clone(), min: 1, max: Some(1), greedy: true });
            Ok(())
        }
        P::Symbol(_) => Err(refused("'^' and '$' in a pattern", "Anchors are not supported.", place)),
        P::Concat(parts) => parts.iter().try_for_each(|part| collect(part, found, place)),
        P::Group(inner) => collect(inner, found, place),
        P::Repetition(inner, quantifier) => {
            use ast::RepetitionQuantifier as Q;
            let (min, max) = match quantifier {
                Q::ZeroOrMore => (0, None),
                Q::OneOrMore => (1, None),
                Q::AtMostOne => (0, Some(1)),
                Q::Exactly(n) => (*n, Some(*n)),
                Q::AtLeast(n) => (*n, None),
                Q::AtMost(n) => (0, Some(*n)),
                Q::Range(n, m) => (*n, Some(*m)),
            };
            // `A*?` is a repetition of a repetition
            if let P::Repetition(repeated, _) = inner.as_ref()
                && matches!(quantifier, Q::AtMostOne)
                && matches!(repeated.as_ref(), P::Symbol(_))
            {
                collect(inner, found, place)?;
                if let Some(last) = found.last_mut() {
                    last.greedy = false;
                    if (last.min, last.max) == (0, Some(1)) {
                        let detail = "Reluctant optional variables are not supported yet.";
                        return Err(refused("'??' in a pattern", detail, place));
                    }
                }
                return Ok(());
            }
            let P::Symbol(_) = inner.as_ref() else {
                return Err(refused("a quantifier of a group", "Group patterns are not supported yet.", place));
            };
            collect(inner, found, place)?;
            if max == Some(0) || max.is_some_and(|max| max < min) {
                return Err(Error::new("invalid-pattern", format!("no number of rows is in {quantifier}"))
                    .with_hint("{n,m} takes n to m rows, at least 1")
                    .at(place));
            }
            if let Some(last) = found.last_mut() {
                (last.min, last.max) = (min, max);
                // to Flink an optional variable is not greedy: what it could take may as well be another's
                last.greedy = (min, max) != (0, Some(1));
            }
            Ok(())
        }
        P::Alternation(_) => {
            Err(refused("'|' in a pattern", "Currently, CEP doesn't support branching patterns.", place))
        }
        P::Permute(_) => Err(refused("PERMUTE", "Currently, CEP doesn't support PERMUTE patterns.", place)),
        P::Exclude(_) => {
            Err(refused("'{- -}' in a pattern", "Currently, CEP doesn't support '{-' '-}' patterns.", place))
        }
    }
}

fn skip(skip: Option<&ast::AfterMatchSkip>, elements: &[Element]) -> Result<Skip> {
    let of = |name: &Ident| {
        elements.iter().position(|e| e.name == name.value).ok_or_else(|| {
            let error =
                Error::new("unknown-pattern-variable", format!("'{}' is no variable of the pattern", name.value))
                    .with_detail(format!("Unknown pattern '{}'", name.value));
            names::did_you_mean(error, &name.value, elements.iter().map(|e| e.name.as_str())).at(span::ident(name))
        })
    };
    Ok(match skip {
        None | Some(ast::AfterMatchSkip::ToNextRow) => Skip::ToNextRow,
        Some(ast::AfterMatchSkip::PastLastRow) => Skip::PastLastRow,
        Some(ast::AfterMatchSkip::ToFirst(name)) => Skip::ToFirst(of(name)?),
        Some(ast::AfterMatchSkip::ToLast(name)) => Skip::ToLast(of(name)?),
    })
}

/// What the expressions of a pattern can look at.
struct Rows<'a> {
    binder: &'a Binder<'a>,
    env: Env<'a>,
    /// The input's columns.
    namespace: &'a Namespace,
    elements: &'a [Element],
    time: usize,
}

impl Rows<'_> {
    /// Expressions over rows of a match; `open` says that the match is on its way, so that any variable may lack rows.
    fn formula<'e>(&self, exprs: impl Iterator<Item = &'e ast::Expr>, open: bool) -> Result<Formula> {
        let mut navigator = Navigator { rows: self, open, found: vec![], fields: vec![] };
        let mut rewritten = vec![];
        for expr in exprs {
            let mut expr = expr.clone();
            if let ControlFlow::Break(error) = expr.visit(&mut navigator) {
                return Err(error);
            }
            rewritten.push(expr);
        }
        let Navigator { found, fields, .. } = navigator;
        let columns = 0..fields.len();
        let values = Namespace::of(Table { name: None, path: None, columns, base: true }, fields);
        let scope = Scope::new(self.env, &values, "MATCH_RECOGNIZE clause");
        let exprs = rewritten.iter().map(|e| self.binder.expr(e, &scope)).collect::<Result<_>>()?;
        Ok(Formula { navigations: found, exprs })
    }

    fn element(&self, name: &Ident) -> Option<usize> {
        self.elements.iter().position(|e| e.name == name.value)
    }

    /// The input's columns under a variable's name.
    fn columns_of(&self, variable: Option<usize>) -> Namespace {
        let name = variable.and_then(|v| self.elements.get(v)).map(|e| e.name.clone());
        let columns = 0..self.namespace.fields.len();
        Namespace::of(Table { name, path: None, columns, base: true }, self.namespace.fields.clone())
    }

    /// The variable that an expression looks at, `None` for all rows.
    fn variable_of(&self, expr: &ast::Expr) -> Result<Option<usize>> {
        let mut found: Option<Option<usize>> = None;
        let mut several = false;
        let done = ast::visit_expressions(expr, |e| {
            let variable = match e {
                ast::Expr::Identifier(_) => None,
                ast::Expr::CompoundIdentifier(parts) => match parts.first() {
                    Some(first) => match self.element(first) {
                        Some(element) => Some(element),
                        None if parts.len() > 1 && !self.is_column(first) => {
                            return ControlFlow::Break(self.no_variable(first));
                        }
                        None => None,
                    },
                    None => None,
                },
                _ => return ControlFlow::Continue(()),
            };
            several |= found.is_some_and(|before| before != variable);
            found = Some(variable);
            ControlFlow::Continue(())
        });
        if let ControlFlow::Break(error) = done {
            return Err(error);
        }
        if several {
            return Err(Error::new("invalid-argument", "an argument looks at rows of several pattern variables")
                .with_detail(format!("Multiple pattern variables in '{expr}'"))
                .at(syntax::span_of(expr)));
        }
        Ok(found.flatten())
    }

    fn is_column(&self, name: &Ident) -> bool {
        self.namespace.fields.iter().any(|f| f.name == name.value)
    }

    fn no_variable(&self, name: &Ident) -> Error {
        let error = Error::new("unknown-pattern-variable", format!("'{}' is no variable of the pattern", name.value))
            .with_detail(format!("Table '{}' not found", name.value));
        names::did_you_mean(error, &name.value, self.elements.iter().map(|e| e.name.as_str())).at(span::ident(name))
    }
}

/// Replaces what looks at rows by columns.
struct Navigator<'a> {
    rows: &'a Rows<'a>,
    open: bool,
    found: Vec<Navigation>,
    fields: Vec<Field>,
}

impl ast::VisitorMut for Navigator<'_> {
    type Break = Error;

    fn pre_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<Error> {
        match self.replaced(expr) {
            Ok(Some(new)) => {
                *expr = new;
                ControlFlow::Continue(())
            }
            Ok(None) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }
}

/// The name of a value's column: no name of SQL text.
fn placeholder(index: usize) -> String {
    format!("\u{0}{index}")
}

impl Navigator<'_> {
    fn replaced(&mut self, expr: &ast::Expr) -> Result<Option<ast::Expr>> {
        match expr {
            ast::Expr::Subquery(_) | ast::Expr::Exists { .. } | ast::Expr::InSubquery { .. } => {
                Err(Error::unsupported("a subquery in MATCH_RECOGNIZE").at(syntax::span_of(expr)))
            }
            ast::Expr::Identifier(name) if name.value.starts_with('\u{0}') || !self.rows.is_column(name) => Ok(None),
            ast::Expr::Identifier(_) => {
                let value = self.value(expr, None)?;
                self.column(None, NavigationValue::Last(value, 0), expr).map(|c| Some(ast::Expr::Identifier(c)))
            }
            ast::Expr::CompoundIdentifier(parts) if parts.first().is_some_and(|p| p.value.starts_with('\u{0}')) => {
                Ok(None)
            }
            ast::Expr::CompoundIdentifier(_) => {
                let variable = self.rows.variable_of(expr)?;
                let value = self.value(expr, variable)?;
                self.column(variable, NavigationValue::Last(value, 0), expr).map(|c| Some(ast::Expr::Identifier(c)))
            }
            ast::Expr::Function(function) => self.function(expr, function),
            _ => Ok(None),
        }
    }

    fn function(&mut self, expr: &ast::Expr, function: &ast::Function) -> Result<Option<ast::Expr>> {
        let Ok([name]) = <[&Ident; 1]>::try_from(names::parts(&function.name)?) else { return Ok(None) };
        let place = syntax::span_of(expr);
        let list = match &function.args {
            ast::FunctionArguments::List(list) => list,
            _ => return Ok(None),
        };
        let args: Vec<&ast::Expr> = list
            .args
            .iter()
            .filter_map(|arg| match arg {
                ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(e)) => Some(e),
                _ => None,
            })
            .collect();
        let upper = name.value.to_ascii_uppercase();
        let (variable, value) = match (upper.as_str(), args.as_slice()) {
            ("FIRST" | "LAST", [value, offset @ ..]) if offset.len() < 2 => {
                let offset = match offset.first() {
                    None => 0,
                    Some(ast::Expr::Value(ast::ValueWithSpan { value: ast::Value::Number(n, _), .. })) => {
                        n.parse::<usize>().map_err(|_| wrong_offset(&upper, place))?
                    }
                    Some(_) => return Err(wrong_offset(&upper, place)),
                };
                let variable = self.rows.variable_of(value)?;
                let value = self.value(value, variable)?;
                let value = if upper == "FIRST" {
                    NavigationValue::First(value, offset)
                } else {
                    NavigationValue::Last(value, offset)
                };
                (variable, value)
            }
            // MEASURES are computed of whole matches, DEFINE of what a match has so far
            ("FINAL" | "RUNNING", [inner]) => {
                return Ok(Some(self.replaced(inner)?.unwrap_or_else(|| (*inner).clone())));
            }
            ("PREV" | "NEXT", _) => {
                return Err(Error::unsupported(format!("{upper} in MATCH_RECOGNIZE"))
                    .with_detail(format!("Cannot use PREV/NEXT in MEASURE '{expr}'"))
                    .with_hint("LAST(v.column, n) looks back among the rows of the match")
                    .at(place));
            }
            ("MATCH_ROWTIME", []) => {
                let mut value = self.rows.namespace.field(self.rows.time, place);
                value.data_type.nullable = false;
                (None, NavigationValue::Last(value, 0))
            }
            (name, _) if calve_functions::aggregate(name).is_some() => {
                if list.duplicate_treatment.is_some() {
                    return Err(Error::unsupported("DISTINCT in MATCH_RECOGNIZE")
                        .with_detail(format!("DISTINCT/ALL not allowed with {expr} function"))
                        .at(place));
                }
                let mut variable = None;
                for arg in &args {
                    variable = variable.or(self.rows.variable_of(arg)?);
                }
                let namespace = self.rows.columns_of(variable);
                let calls = RefCell::new(vec![]);
                let mut scope = Scope::new(self.rows.env, &namespace, "MATCH_RECOGNIZE clause");
                scope.aggregates = Aggregates::Collected { calls: &calls, grouped: false, groups: None };
                self.rows.binder.expr(expr, &scope)?;
                let call = calls.borrow_mut().pop().ok_or_else(|| Error::internal("an aggregate without a call"))?;
                if call.filter.is_some() {
                    return Err(Error::unsupported("FILTER in MATCH_RECOGNIZE").at(place));
                }
                (variable, NavigationValue::Aggregate(call))
            }
            _ => return Ok(None),
        };
        self.column(variable, value, expr).map(|c| Some(ast::Expr::Identifier(c)))
    }

    /// An expression over a row.
    fn value(&self, expr: &ast::Expr, variable: Option<usize>) -> Result<Expr> {
        let namespace = self.rows.columns_of(variable);
        self.rows.binder.expr(expr, &Scope::new(self.rows.env, &namespace, "MATCH_RECOGNIZE clause"))
    }

    /// The name of a value's column.
    fn column(&mut self, variable: Option<usize>, value: NavigationValue, at: &ast::Expr) -> Result<Ident> {
        // all rows of a match are at least one; a variable may have none yet, or none at all
        let optional = variable.is_some_and(|v| self.open || self.rows.elements.get(v).is_none_or(|e| e.min == 0));
        let data_type = match &value {
            NavigationValue::First(expr, offset) | NavigationValue::Last(expr, offset) => {
                let nullable = expr.data_type.nullable || optional || *offset > 0;
                expr.data_type.with_nullable(nullable)
            }
            NavigationValue::Aggregate(call) => call.data_type.clone(),
        };
        let name = placeholder(self.fields.len());
        self.fields.push(Field { name: name.clone(), data_type });
        self.found.push(Navigation { variable, value });
        let mut ident = Ident::with_quote('`', name);
        ident.span = ast::Spanned::span(at);
        Ok(ident)
    }
}

fn wrong_offset(name: &str, place: Span) -> Error {
    Error::new("invalid-argument", format!("the second argument of {name} must be a number of rows"))
        .with_hint(format!("{name}(v.column, 1) looks one row further"))
        .at(place)
}

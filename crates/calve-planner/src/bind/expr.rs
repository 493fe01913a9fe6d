//! Expressions.

use calve_sql::ast;
use calve_types::{Error, LogicalType, Result, Span, Value, rules};

use super::scope::{Aggregates, Scope, fields};
use super::{Binder, call, coerce, datetime, interval, literal, nested, operator, span};
use crate::expr::{Expr, ExprKind};

impl Binder<'_> {
    /// An expression; a bare NULL keeps the type NULL.
    pub(super) fn expr(&self, e: &ast::Expr, scope: &Scope<'_>) -> Result<Expr> {
        let bound = nested(|| self.expr_inner(e, scope))?;
        Ok(match scope.aggregates {
            Aggregates::Collected { groups: Some(groups), .. } => groups.seen(bound),
            _ => bound,
        })
    }

    /// An expression that must have a type of its own.
    ///
    /// # Errors
    /// `invalid-argument` for a bare NULL, and those of expressions.
    pub(super) fn value(&self, e: &ast::Expr, scope: &Scope<'_>) -> Result<Expr> {
        let bound = self.expr(e, scope)?;
        match bound.data_type.logical {
            LogicalType::Null => Err(untyped_null(bound.span)),
            _ => Ok(bound),
        }
    }

    /// A condition: a BOOLEAN.
    ///
    /// # Errors
    /// `type-mismatch` for another type, and those of expressions.
    pub(super) fn condition(&self, e: &ast::Expr, scope: &Scope<'_>, clause: &str) -> Result<Expr> {
        let bound = self.value(e, scope)?;
        if bound.data_type.logical != LogicalType::Boolean {
            return Err(Error::new(
                "type-mismatch",
                format!("the {clause} needs a condition, not {}", bound.data_type.logical),
            )
            .with_detail(format!("{clause} must be a condition"))
            .at(bound.span));
        }
        Ok(bound)
    }

    fn expr_inner(&self, e: &ast::Expr, scope: &Scope<'_>) -> Result<Expr> {
        use ast::Expr as E;
        match e {
            E::Identifier(name) => scope.resolve(&[name]),
            E::CompoundIdentifier(parts) => scope.resolve(&parts.iter().collect::<Vec<_>>()),
            E::CompoundFieldAccess { root, access_chain } => self.access(root, access_chain, scope),
            E::Value(value) => literal::value(value),
            E::TypedString(typed) => self.typed_string(typed),
            E::Interval(i) => {
                let word = self.places.nearest(span_of(&i.value).start, &["INTERVAL"], 2);
                interval::interval(i, word)
            }
            E::Nested(inner) => self.expr(inner, scope),
            E::UnaryOp { op, expr } => self.unary(*op, expr, scope),
            E::BinaryOp { left, op, right } => self.binary(left, op, right, scope),
            E::IsNull(x) => self.apply("IS NULL", &[x], scope),
            E::IsNotNull(x) => self.apply("IS NOT NULL", &[x], scope),
            E::IsTrue(x) => self.apply("IS TRUE", &[x], scope),
            E::IsNotTrue(x) => self.apply("IS NOT TRUE", &[x], scope),
            E::IsFalse(x) => self.apply("IS FALSE", &[x], scope),
            E::IsNotFalse(x) => self.apply("IS NOT FALSE", &[x], scope),
            E::IsUnknown(x) => self.apply("IS UNKNOWN", &[x], scope),
            E::IsNotUnknown(x) => self.apply("IS NOT UNKNOWN", &[x], scope),
            E::IsDistinctFrom(a, b) => self.apply("IS DISTINCT FROM", &[a, b], scope),
            E::IsNotDistinctFrom(a, b) => self.apply("IS NOT DISTINCT FROM", &[a, b], scope),
            E::Between { expr, negated, low, high } => {
                self.apply(if *negated { "NOT BETWEEN" } else { "BETWEEN" }, &[expr, low, high], scope)
            }
            E::InList { expr, list, negated } => {
                let x = self.expr(expr, scope)?;
                let values = list.iter().map(|v| self.expr(v, scope)).collect::<Result<Vec<_>>>()?;
                let types: Vec<_> = values.iter().map(|v| v.data_type.clone()).collect();
                if rules::common_type(&types).is_none() {
                    let place = values.first().map(|first| self.with_word(first.span, &["("])).unwrap_or_default();
                    return Err(Error::new("type-mismatch", "the values of the list of IN have no common type")
                        .with_detail("Values in expression list must have compatible types")
                        .at(place));
                }
                let args = std::iter::once(x).chain(values).collect();
                call::function(if *negated { "NOT IN" } else { "IN" }, args, Span::default())
            }
            E::Like { negated, any: false, expr, pattern, escape_char } => {
                let name = if *negated { "NOT LIKE" } else { "LIKE" };
                self.matching(name, expr, pattern, escape_char.as_ref(), scope)
            }
            E::SimilarTo { negated, expr, pattern, escape_char } => {
                let name = if *negated { "NOT SIMILAR TO" } else { "SIMILAR TO" };
                self.matching(name, expr, pattern, escape_char.as_ref(), scope)
            }
            E::ILike { expr, .. } => Err(call::unknown("ILIKE", None, span_of(expr))),
            E::RLike { expr, .. } => Err(call::unknown("RLIKE", None, span_of(expr))),
            E::Case { operand, conditions, else_result, case_token, end_token } => {
                let place = span::of(&case_token.0).to(span::of(&end_token.0));
                self.case(operand.as_deref(), conditions, else_result.as_deref(), place, scope)
            }
            E::Cast { kind, expr, data_type, array: false, format: None } => {
                let safe = match kind {
                    ast::CastKind::Cast => false,
                    ast::CastKind::TryCast => true,
                    ast::CastKind::SafeCast | ast::CastKind::DoubleColon => {
                        return Err(Error::unsupported("SAFE_CAST and ::").at(span_of(e)));
                    }
                };
                self.cast(expr, data_type, safe, scope)
            }
            E::Subquery(query) => self.scalar_subquery(query, scope),
            E::Exists { subquery, negated } => self.exists(subquery, *negated, scope),
            E::InSubquery { expr, subquery, negated } => self.in_subquery(expr, subquery, *negated, scope),
            E::AnyOp { left, compare_op, right, .. } => self.quantified(left, compare_op, right, false, scope),
            E::AllOp { left, compare_op, right } => self.quantified(left, compare_op, right, true, scope),
            E::Function(function) => self.function(function, scope),
            E::Array(array) => {
                let elements = array.elem.iter().map(|a| self.expr(a, scope)).collect::<Result<Vec<_>>>()?;
                let place = elements.first().map(|first| self.with_word(first.span, &["ARRAY"])).unwrap_or_default();
                if !elements.is_empty() && elements.iter().all(|e| e.data_type.logical == LogicalType::Null) {
                    return Err(Error::new("invalid-argument", "an ARRAY of bare NULLs has no type")
                        .with_detail("Parameters must be of the same type")
                        .with_hint("give one of them a type: CAST(NULL AS STRING)")
                        .at(place));
                }
                call::function("ARRAY", elements, place)
            }
            E::Tuple(values) => {
                let values = values.iter().map(|v| self.expr(v, scope)).collect::<Result<Vec<_>>>()?;
                let place = values.first().map(|first| self.with_word(first.span, &["("])).unwrap_or_default();
                call::function("ROW", values, place)
            }
            E::Extract { field, expr, .. } => {
                let unit = call::symbol(&field.to_string(), span_of(expr));
                let value = self.expr(expr, scope)?;
                let place = self.word_before(value.span, "EXTRACT", 4);
                call::function("EXTRACT", vec![unit, value], place)
            }
            E::Ceil { expr, field } => self.rounded("CEIL", expr, field, scope),
            E::Floor { expr, field } => self.rounded("FLOOR", expr, field, scope),
            E::Position { expr, r#in } => self.apply_from("POSITION", &[expr, r#in], scope),
            E::Substring { expr, substring_from, substring_for, .. } => {
                let args = [Some(expr), substring_from.as_ref(), substring_for.as_ref()];
                let args: Vec<&ast::Expr> = args.into_iter().flatten().map(|a| &**a).collect();
                self.apply_from("SUBSTRING", &args, scope)
            }
            E::Overlay { expr, overlay_what, overlay_from, overlay_for } => {
                let args = [Some(expr), Some(overlay_what), Some(overlay_from), overlay_for.as_ref()];
                let args: Vec<&ast::Expr> = args.into_iter().flatten().map(|a| &**a).collect();
                self.apply_from("OVERLAY", &args, scope)
            }
            E::Trim { expr, trim_where, trim_what, trim_characters: None } => {
                let side = trim_where.as_ref().map_or_else(|| "BOTH".to_owned(), ToString::to_string);
                let what = match trim_what {
                    Some(what) => self.expr(what, scope)?,
                    None => literal::string(" ", Span::default()),
                };
                let value = self.expr(expr, scope)?;
                let place = self.word_before(if what.span.is_known() { what.span } else { value.span }, "TRIM", 4);
                call::function("TRIM", vec![call::symbol(&side, place), what, value], place)
            }
            E::AtTimeZone { timestamp, .. } => Err(Error::unsupported("AT TIME ZONE").at(span_of(timestamp))),
            E::Collate { expr, .. } => Err(Error::unsupported("COLLATE").at(span_of(expr))),
            E::GroupingSets(_) | E::Cube(_) | E::Rollup(_) => Err(Error::unsupported("GROUPING SETS").at(span_of(e))),
            E::Wildcard(token) => {
                Err(Error::new("syntax-error", "'*' stands only in a select list and in COUNT(*)")
                    .at(span::of(&token.0)))
            }
            other => Err(Error::unsupported(format!("the expression {}", shortened(other))).at(span_of(other))),
        }
    }

    /// A call of a function that stands as a word before its first operand.
    fn apply_from(&self, name: &str, args: &[&ast::Expr], scope: &Scope<'_>) -> Result<Expr> {
        let args = args.iter().map(|a| self.expr(a, scope)).collect::<Result<Vec<_>>>()?;
        let place = args.first().map(|first| self.with_word(first.span, &[name])).unwrap_or_default();
        call::function(name, args, place)
    }

    /// The place of an operand together with the function's word, a few tokens before it.
    fn word_before(&self, place: Span, word: &str, count: usize) -> Span {
        match self.places.nearest(place.start, &[word], count) {
            Some(start) => Span { start, ..place },
            None => place,
        }
    }

    /// A function or operator by name.
    pub(super) fn apply(&self, name: &str, args: &[&ast::Expr], scope: &Scope<'_>) -> Result<Expr> {
        self.apply_at(name, args, Span::default(), scope)
    }

    fn apply_at(&self, name: &str, args: &[&ast::Expr], place: Span, scope: &Scope<'_>) -> Result<Expr> {
        let args = args.iter().map(|a| self.expr(a, scope)).collect::<Result<Vec<_>>>()?;
        call::function(name, args, place)
    }

    fn unary(&self, op: ast::UnaryOperator, operand: &ast::Expr, scope: &Scope<'_>) -> Result<Expr> {
        match op {
            ast::UnaryOperator::Not => {
                let operand = self.expr(operand, scope)?;
                let place = self.with_word(operand.span, &["NOT"]);
                call::function("NOT", vec![operand], place)
            }
            ast::UnaryOperator::Minus => {
                if let Some(number) = negative_number(operand) {
                    return number.map(|n| Expr { span: self.with_word(n.span, &["-"]), ..n });
                }
                let operand = self.expr(operand, scope)?;
                let place = self.with_word(operand.span, &["-"]);
                operator::negate(operand, place)
            }
            ast::UnaryOperator::Plus => {
                let operand = self.expr(operand, scope)?;
                let place = self.with_word(operand.span, &["+"]);
                operator::plus(operand, place)
            }
            other => Err(Error::unsupported(format!("the operator {other}")).at(span_of(operand))),
        }
    }

    fn binary(&self, left: &ast::Expr, op: &ast::BinaryOperator, right: &ast::Expr, scope: &Scope<'_>) -> Result<Expr> {
        let name = operator::binary_name(op).map_err(|e| e.at(span_of(left).to(span_of(right))))?;
        if !matches!(op, ast::BinaryOperator::And | ast::BinaryOperator::Or) {
            return self.apply(name, &[left, right], scope);
        }
        // A chain of ANDs leans to the left; as a balanced tree it is never deep.
        let mut operands = vec![right];
        let mut rest = left;
        while let ast::Expr::BinaryOp { left, op: next, right } = rest {
            if next != op {
                break;
            }
            operands.push(right);
            rest = left;
        }
        operands.push(rest);
        let operands = operands.into_iter().rev().map(|e| self.expr(e, scope)).collect::<Result<Vec<_>>>()?;
        operator::balanced(name, operands)
    }

    fn matching(
        &self,
        name: &str,
        x: &ast::Expr,
        pattern: &ast::Expr,
        escape: Option<&ast::Value>,
        scope: &Scope<'_>,
    ) -> Result<Expr> {
        let mut args = vec![self.expr(x, scope)?, self.expr(pattern, scope)?];
        if let Some(escape) = escape {
            args.push(literal::value(&escape.clone().into())?);
        }
        call::function(name, args, Span::default())
    }

    fn case(
        &self,
        operand: Option<&ast::Expr>,
        conditions: &[ast::CaseWhen],
        otherwise: Option<&ast::Expr>,
        place: Span,
        scope: &Scope<'_>,
    ) -> Result<Expr> {
        let operand = operand.map(|e| self.expr(e, scope)).transpose()?;
        let mut branches = Vec::new();
        for when in conditions {
            let condition = self.expr(&when.condition, scope)?;
            let condition = match &operand {
                Some(operand) => {
                    let at = condition.span;
                    call::function("=", vec![operand.clone(), condition], at)?
                }
                None if condition.data_type.logical == LogicalType::Boolean => condition,
                None => {
                    return Err(Error::new(
                        "type-mismatch",
                        format!("WHEN needs a condition, not {}", condition.data_type.logical),
                    )
                    .with_detail("Expected a boolean type")
                    .at(condition.span.to(place)));
                }
            };
            branches.push((condition, self.expr(&when.result, scope)?));
        }
        let otherwise = otherwise.map(|e| self.expr(e, scope)).transpose()?;
        operator::case(branches, otherwise, place)
    }

    fn cast(&self, e: &ast::Expr, target: &ast::DataType, safe: bool, scope: &Scope<'_>) -> Result<Expr> {
        let expr = self.expr(e, scope)?;
        let place = self.with_word(expr.span, &["CAST", "TRY_CAST"]);
        let mut target = calve_sql::decode_type(target).map_err(|error| error.at(place))?;
        // Flink has no other TIME in queries, whatever precision is written.
        if let LogicalType::Time(precision) = &mut target.logical {
            *precision = 0;
        }
        if !rules::supports_explicit_cast(&expr.data_type, &target) {
            return Err(Error::new(
                "invalid-cast",
                format!("a value of type {} cannot be cast to {}", expr.data_type.logical, target.logical),
            )
            .with_detail(format!(
                "Cast function cannot convert value of type {} to type {}",
                rules::sql_name(&expr.data_type.logical),
                rules::sql_name(&target.logical)
            ))
            .at(place));
        }
        let data_type = target.with_nullable(safe || expr.data_type.nullable);
        if let ExprKind::Literal(Value::Null) = expr.kind {
            return Ok(literal::literal(Value::Null, data_type, place));
        }
        // a cast of a time attribute is none any more, whatever its type
        let may_be_time = matches!(expr.data_type.logical, LogicalType::Timestamp(3) | LogicalType::TimestampLtz(3));
        if expr.data_type.logical == data_type.logical && !safe && !(may_be_time && self.streaming()) {
            return Ok(Expr { data_type, span: place, ..expr });
        }
        Ok(Expr { kind: ExprKind::Cast { expr: Box::new(expr), safe }, data_type, span: place })
    }

    /// `a.b[1]['k'].c`
    fn access(&self, root: &ast::Expr, chain: &[ast::AccessExpr], scope: &Scope<'_>) -> Result<Expr> {
        let mut name: Vec<&ast::Ident> = match root {
            ast::Expr::Identifier(first) => vec![first],
            ast::Expr::CompoundIdentifier(parts) => parts.iter().collect(),
            _ => Vec::new(),
        };
        let mut rest = chain;
        if !name.is_empty() {
            while let Some((ast::AccessExpr::Dot(ast::Expr::Identifier(part)), tail)) = rest.split_first() {
                name.push(part);
                rest = tail;
            }
        }
        let mut value = if name.is_empty() { self.expr(root, scope)? } else { scope.resolve(&name)? };
        for step in rest {
            value = match step {
                ast::AccessExpr::Dot(ast::Expr::Identifier(part)) => fields(value, &[part])?,
                ast::AccessExpr::Dot(ast::Expr::CompoundIdentifier(parts)) => {
                    fields(value, &parts.iter().collect::<Vec<_>>())?
                }
                ast::AccessExpr::Subscript(ast::Subscript::Index { index }) => {
                    let index = self.expr(index, scope)?;
                    let place = value.span.to(index.span);
                    call::function("ITEM", vec![value, index], place)?
                }
                ast::AccessExpr::Dot(other) => {
                    return Err(
                        Error::unsupported(format!("'.{}' after an expression", shortened(other))).at(value.span)
                    );
                }
                ast::AccessExpr::Subscript(_) => return Err(Error::unsupported("slices of arrays").at(value.span)),
            };
        }
        Ok(value)
    }

    fn typed_string(&self, typed: &ast::TypedString) -> Result<Expr> {
        let place = self.with_word(span::of(&typed.value), &["DATE", "TIME", "TIMESTAMP"]);
        let ast::Value::SingleQuotedString(text) = &typed.value.value else {
            return Err(Error::unsupported(format!("the literal {typed}")).at(place));
        };
        match &typed.data_type {
            ast::DataType::Date => datetime::date(text, place),
            ast::DataType::Time(None, ast::TimezoneInfo::None) => datetime::time(text, place),
            ast::DataType::Timestamp(None, ast::TimezoneInfo::None) => datetime::timestamp(text, place),
            other => Err(Error::unsupported(format!("literals of type {other}")).at(place)),
        }
    }

    fn rounded(&self, name: &str, e: &ast::Expr, field: &ast::CeilFloorKind, scope: &Scope<'_>) -> Result<Expr> {
        let value = self.expr(e, scope)?;
        let place = self.with_word(value.span, &[name]);
        match field {
            ast::CeilFloorKind::DateTimeField(ast::DateTimeField::NoDateTime) => {
                call::function(name, vec![value], place)
            }
            ast::CeilFloorKind::DateTimeField(unit) => {
                let unit = call::symbol(&unit.to_string(), value.span);
                call::function(name, vec![value, unit], place)
            }
            ast::CeilFloorKind::Scale(_) => Err(Error::unsupported(format!("{name} with a scale")).at(value.span)),
        }
    }
}

/// Whether an error is that of [`untyped_null`].
pub(super) fn is_untyped_null(error: &Error) -> bool {
    error.detail.as_deref() == Some(ILLEGAL_NULL)
}

/// Flink's words for a NULL that has no type.
const ILLEGAL_NULL: &str = "Illegal use of 'NULL'";

/// The error for a NULL that has no type.
pub(super) fn untyped_null(place: Span) -> Error {
    Error::new("invalid-argument", "a bare NULL has no type here")
        .with_detail(ILLEGAL_NULL)
        .with_hint("give it one: CAST(NULL AS STRING)")
        .at(place)
}

/// The arguments if a call is `ROW(..)`.
pub(super) fn row_arguments(function: &ast::Function) -> Option<Vec<&ast::Expr>> {
    let is_row = matches!(function.name.0.as_slice(), [name] if name.as_ident().is_some_and(|n| n.value.eq_ignore_ascii_case("ROW")));
    let ast::FunctionArguments::List(list) = &function.args else { return None };
    let args: Option<Vec<&ast::Expr>> = list
        .args
        .iter()
        .map(|arg| match arg {
            ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(e)) => Some(e),
            _ => None,
        })
        .collect();
    args.filter(|_| is_row)
}

/// `-1`, `- 1`, `-(1)`, `- -1`: a number with its sign.
fn negative_number(operand: &ast::Expr) -> Option<Result<Expr>> {
    let mut negative = true;
    let mut e = operand;
    loop {
        match e {
            ast::Expr::Nested(inner) => e = inner,
            ast::Expr::UnaryOp { op: ast::UnaryOperator::Minus, expr } => {
                negative = !negative;
                e = expr;
            }
            ast::Expr::Value(value) => {
                let ast::Value::Number(digits, false) = &value.value else { return None };
                return Some(literal::number(digits, negative, span::of(value)));
            }
            _ => return None,
        }
    }
}

/// The place of an expression, as far as the parser recorded it.
pub(super) fn span_of(e: &ast::Expr) -> Span {
    // The parser's own walk goes as deep as the expression.
    stacker::maybe_grow(1 << 20, 16 << 20, || span::of(e))
}

/// The place of a query.
pub(super) fn query_span(query: &ast::Query) -> Span {
    set_expr_span(&query.body)
}

/// The place where the first SELECT or VALUES of a query's body stands.
pub(super) fn set_expr_span(body: &ast::SetExpr) -> Span {
    match body {
        ast::SetExpr::Select(select) => span::of(&select.select_token.0),
        ast::SetExpr::Query(query) => nested(|| set_expr_span(&query.body)),
        ast::SetExpr::SetOperation { left, .. } => nested(|| set_expr_span(left)),
        ast::SetExpr::Values(values) => values.rows.iter().flatten().next().map(span_of).unwrap_or_default(),
        _ => Span::default(),
    }
}

fn shortened(e: &ast::Expr) -> String {
    let text = e.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// `expr` cast to a type that differs from its own.
pub(super) fn as_type(expr: Expr, logical: &LogicalType) -> Expr {
    let target = logical.clone().with_nullable(expr.data_type.nullable);
    coerce::to(expr, &target)
}

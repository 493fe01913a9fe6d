//! Operators whose operands are already bound.

use calve_sql::ast;
use calve_types::{DataType, Error, LogicalType, Result, Span, rules};

use super::{call, coerce};
use crate::expr::{Expr, ExprKind};

/// The function behind an infix operator.
///
/// # Errors
/// `not-supported` for operators of other dialects.
pub(super) fn binary_name(op: &ast::BinaryOperator) -> Result<&'static str> {
    use ast::BinaryOperator as B;
    Ok(match op {
        B::Plus => "+",
        B::Minus => "-",
        B::Multiply => "*",
        B::Divide => "/",
        B::Modulo => "%",
        B::StringConcat => "||",
        B::Gt => ">",
        B::Lt => "<",
        B::GtEq => ">=",
        B::LtEq => "<=",
        B::Eq => "=",
        B::NotEq => "<>",
        B::And => "AND",
        B::Or => "OR",
        B::Overlaps => "OVERLAPS",
        other => return Err(Error::unsupported(format!("the operator {other}"))),
    })
}

/// `-x`
pub(super) fn negate(operand: Expr, place: Span) -> Result<Expr> {
    call::function("-", vec![operand], place)
}

/// `+x`: the operand itself.
pub(super) fn plus(operand: Expr, place: Span) -> Result<Expr> {
    if operand.data_type.logical.is_numeric() || operand.data_type.logical.is_interval() {
        return Ok(operand);
    }
    let types = format!("<{}>", rules::sql_name(&operand.data_type.logical));
    Err(Error::new("invalid-argument", format!("cannot apply '+' to {types}"))
        .with_detail(format!(
            "Cannot apply '+' to arguments of type '+{types}'. Supported form(s): '+<NUMERIC>'\n'+<DATETIME_INTERVAL>'"
        ))
        .at(place))
}

/// The operands of AND or OR as a tree of least depth, in their order.
pub(super) fn balanced(name: &str, mut operands: Vec<Expr>) -> Result<Expr> {
    while operands.len() > 1 {
        let mut halved = Vec::with_capacity(operands.len().div_ceil(2));
        let mut rest = operands.into_iter();
        while let Some(first) = rest.next() {
            halved.push(match rest.next() {
                Some(second) => call::function(name, vec![first, second], Span::default())?,
                None => first,
            });
        }
        operands = halved;
    }
    operands.pop().ok_or_else(|| Error::internal("no operands"))
}

/// `CASE WHEN c THEN v .. ELSE e END`, whose values get their common type.
pub(super) fn case(branches: Vec<(Expr, Expr)>, otherwise: Option<Expr>, place: Span) -> Result<Expr> {
    let values = || branches.iter().map(|(_, v)| v).chain(&otherwise);
    if values().all(|v| v.data_type.logical == LogicalType::Null) {
        return Err(Error::new("type-mismatch", "a CASE needs a value that is not NULL")
            .with_detail("ELSE clause or at least one THEN clause must be non-NULL")
            .at(place));
    }
    let types: Vec<DataType> = values().map(|v| v.data_type.clone()).collect();
    let common = rules::common_type(&types).ok_or_else(|| {
        let names: Vec<String> = types.iter().map(|t| t.logical.to_string()).collect();
        Error::new("type-mismatch", format!("the values of CASE have no common type: {}", names.join(", ")))
            .with_detail("Illegal mixing of types in CASE or COALESCE statement")
            .at(place)
    })?;
    let nullable = otherwise.is_none() || types.iter().any(|t| t.nullable);
    let branches = branches.into_iter().map(|(c, v)| (c, coerce::to(v, &common))).collect();
    let otherwise = otherwise.map(|e| Box::new(coerce::to(e, &common)));
    Ok(Expr { kind: ExprKind::Case { branches, otherwise }, data_type: common.with_nullable(nullable), span: place })
}

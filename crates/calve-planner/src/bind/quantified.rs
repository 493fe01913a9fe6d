//! Comparisons with all rows of a query: `x > ANY (SELECT ..)`, `x <= ALL (SELECT ..)`.

use calve_functions::aggregate;
use calve_sql::ast::{self, BinaryOperator as Op};
use calve_types::{Error, LogicalType, Result, Span, Value};

use super::scope::Scope;
use super::{Binder, call, expr, literal, operator};
use crate::expr::{AggregateCall, Expr, ExprKind, SubqueryKind};
use crate::rel::{Field, Rel, RelKind};

impl Binder<'_> {
    /// `x op ANY (..)`, `x op SOME (..)` and, with `all`, `x op ALL (..)`, over a query or a list of values.
    pub(super) fn quantified(
        &self,
        x: &ast::Expr,
        op: &Op,
        values: &ast::Expr,
        all: bool,
        scope: &Scope<'_>,
    ) -> Result<Expr> {
        let ast::Expr::Subquery(query) = values else { return self.quantified_list(x, op, values, all, scope) };
        match (op, all) {
            (Op::Eq, false) => return self.in_subquery(x, query, false, scope),
            (Op::NotEq, true) => return self.in_subquery(x, query, true, scope),
            _ => {}
        }
        let name = operator::binary_name(op)?;
        let x = self.value(x, scope)?;
        let place = x.span.to(expr::query_span(query));
        let rel = self.query(query, scope.inner())?.rel;
        let [column] = rel.fields.as_slice() else {
            return Err(Error::new("type-mismatch", "a query compared with a value must have one column")
                .with_detail(format!(
                    "Values passed to {name} {} operator must have compatible types",
                    if all { "ALL" } else { "SOME" }
                ))
                .at(place));
        };
        let nullable = x.data_type.nullable || column.data_type.nullable;
        // For all rows is: not for any row the other way round.
        let (name, negated) = if all { (inverse(name), true) } else { (name, false) };
        let over = |function: &str, args: bool| of_rows(&rel, function, args, place);
        let compared = |function: &str| call::function(name, vec![x.clone(), over(function, true)?], place);
        let found = match name {
            "<" | "<=" => compared("MAX")?,
            ">" | ">=" => compared("MIN")?,
            // Some row is another, unless all are equal to the value.
            _ => {
                let (least, greatest) = (compared("MIN")?, compared("MAX")?);
                if name == "=" {
                    return Err(Error::internal("= ANY is IN"));
                }
                call::function("OR", vec![least, greatest], place)?
            }
        };
        let boolean = |value: Option<bool>| {
            let (value, nullable) = value.map_or((Value::Null, true), |v| (Value::Boolean(v), false));
            literal::literal(value, LogicalType::Boolean.with_nullable(nullable), place)
        };
        let zero = literal::literal(Value::Int(0), LogicalType::BigInt.not_null(), place);
        let mut branches = vec![(found, boolean(Some(true)))];
        if nullable {
            let (rows, known) = (over("COUNT", false)?, over("COUNT", true)?);
            let none = call::function("=", vec![rows.clone(), zero], place)?;
            let no_value = call::function("IS NULL", vec![x], place)?;
            let with_nulls = call::function("<", vec![known, rows], place)?;
            branches.push((none, boolean(Some(false))));
            branches.push((call::function("OR", vec![no_value, with_nulls], place)?, boolean(None)));
        }
        let some = operator::case(branches, Some(boolean(Some(false))), place)?;
        if negated { call::function("NOT", vec![some], place) } else { Ok(some) }
    }

    /// `x op ANY (1, 2)`: a comparison with each.
    fn quantified_list(
        &self,
        x: &ast::Expr,
        op: &Op,
        values: &ast::Expr,
        all: bool,
        scope: &Scope<'_>,
    ) -> Result<Expr> {
        let list: Vec<&ast::Expr> = match values {
            ast::Expr::Tuple(values) => values.iter().collect(),
            ast::Expr::Nested(value) => vec![value],
            value => vec![value],
        };
        let compared = list
            .into_iter()
            .map(|value| self.apply(operator::binary_name(op)?, &[x, value], scope))
            .collect::<Result<Vec<_>>>()?;
        operator::balanced(if all { "AND" } else { "OR" }, compared)
    }
}

/// An aggregate over the rows of a query, as a value; without arguments the number of rows.
fn of_rows(rel: &Rel, function: &str, with_column: bool, place: Span) -> Result<Expr> {
    let function = aggregate(function).ok_or_else(|| Error::internal(format!("no function {function}")))?;
    let column = rel.fields.first().filter(|_| with_column).map(|field| Expr {
        kind: ExprKind::Column(0),
        data_type: field.data_type.clone(),
        span: place,
    });
    let (args, data_type) = call::aggregate_signature(function, column.into_iter().collect(), false, true, place)?;
    let call =
        AggregateCall { function, args, distinct: false, filter: None, data_type: data_type.clone(), span: place };
    let fields = vec![Field { name: "EXPR$0".to_owned(), data_type: data_type.clone() }];
    let kind = RelKind::Aggregate { input: Box::new(rel.clone()), groups: vec![], calls: vec![call] };
    let kind = ExprKind::Subquery { kind: SubqueryKind::Scalar, query: Box::new(Rel { kind, fields }) };
    Ok(Expr { kind, data_type: data_type.with_nullable(true), span: place })
}

fn inverse(operator: &str) -> &'static str {
    match operator {
        "<" => ">=",
        "<=" => ">",
        ">" => "<=",
        ">=" => "<",
        _ => "<>",
    }
}

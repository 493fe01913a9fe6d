//! NOT, as Flink's planner takes it apart.
//!
//! It moves into ANDs and ORs, and turns a comparison around: `NOT (a < b)` is `a >= b`. For floating point numbers that is
//! not the same, because both are false of a NaN; for all else DataFusion does it too, and no value tells the difference.

use calve_types::{Error, Result};
use datafusion_common::Result as DfResult;
use datafusion_common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion_expr::{BinaryExpr, Case, Expr, Operator, binary_expr};

use crate::args::failure;
use crate::compare;
use crate::function::Call;
use crate::operator::one;

/// `NOT condition`.
pub(crate) fn not(condition: Expr) -> Result<Expr> {
    let compares = compares_floating(&condition)?;
    let negation = Expr::Not(Box::new(condition));
    if !compares {
        return Ok(negation);
    }
    negation.transform_down(pushed).data().map_err(internal)
}

/// `condition IS [NOT] TRUE` or `FALSE`. Of a condition that is never NULL Flink's planner makes the condition or its NOT.
pub(crate) fn truth(call: &Call, args: Vec<Expr>) -> Result<Expr> {
    let condition = one(args)?;
    let known = call.args.first().is_some_and(|t| !t.nullable) && compares_floating(&condition)?;
    match call.name.as_str() {
        "IS TRUE" | "IS NOT FALSE" if known => Ok(condition),
        "IS FALSE" | "IS NOT TRUE" if known => not(condition),
        "IS TRUE" => Ok(condition.is_true()),
        "IS NOT TRUE" => Ok(condition.is_not_true()),
        "IS FALSE" => Ok(condition.is_false()),
        _ => Ok(condition.is_not_false()),
    }
}

/// Whether floating point numbers are compared somewhere in an expression.
pub(crate) fn compares_floating(expr: &Expr) -> Result<bool> {
    expr.exists(|e| Ok(compare::is_floating(e))).map_err(internal)
}

/// A NOT, one step further down.
fn pushed(expr: Expr) -> DfResult<Transformed<Expr>> {
    let Expr::Not(inner) = expr else { return Ok(Transformed::no(expr)) };
    let negation = |e: Box<Expr>| Expr::Not(e);
    Ok(match *inner {
        Expr::Not(inner) => Transformed::yes(*inner),
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
            Transformed::yes(binary_expr(negation(left), Operator::Or, negation(right)))
        }
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => {
            Transformed::yes(binary_expr(negation(left), Operator::And, negation(right)))
        }
        // not COALESCE, which is none in Flink
        Expr::Case(case) if case.expr.is_none() && !is_coalesce(&case) => {
            let branches =
                case.when_then_expr.into_iter().map(|(when, then)| (when, Box::new(negation(then)))).collect();
            let otherwise = case.else_expr.map(|e| Box::new(negation(e)));
            Transformed::yes(Expr::Case(Case::new(None, branches, otherwise)))
        }
        inner => match compare::opposite(&inner) {
            Some(opposite) => Transformed::yes(opposite.map_err(failure)?),
            None => Transformed::no(Expr::Not(Box::new(inner))),
        },
    })
}

fn is_coalesce(case: &Case) -> bool {
    case.when_then_expr.iter().all(|(when, then)| matches!(when.as_ref(), Expr::IsNotNull(value) if value == then))
}

fn internal(error: datafusion_common::DataFusionError) -> Error {
    Error::internal(error.to_string())
}

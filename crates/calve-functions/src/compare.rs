//! Comparisons: native where DataFusion compares as Java does, kernels elsewhere.
//!
//! Arrow orders floating point numbers totally (-0.0 before 0.0, NaN equal to itself); Java's operators do not.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, DynComparator, make_comparator};
use arrow::compute::SortOptions;
use arrow::datatypes::{DataType as ArrowType, Decimal128Type, Float32Type, Float64Type};
use calve_types::{DataType, Error, LogicalType, Result, arrow as mapping};
use datafusion_common::{Result as DfResult, ScalarValue};
use datafusion_expr::{Expr, Operator, binary_expr, lit};

use crate::args::{Args, failure, mistyped};
use crate::decimal;
use crate::function::{Call, call_of};
use crate::negate::{self, not};
use crate::operator::two;

fn native_operator(symbol: &str) -> Option<Operator> {
    Some(match symbol {
        "=" => Operator::Eq,
        "<>" => Operator::NotEq,
        "<" => Operator::Lt,
        "<=" => Operator::LtEq,
        ">" => Operator::Gt,
        ">=" => Operator::GtEq,
        "IS DISTINCT FROM" => Operator::IsDistinctFrom,
        "IS NOT DISTINCT FROM" => Operator::IsNotDistinctFrom,
        _ => return None,
    })
}

/// Whether Arrow compares two values as Flink does.
fn is_native(a: &LogicalType, b: &LogicalType) -> bool {
    if a.is_constructed() || a.is_approximate() || b.is_approximate() {
        return false;
    }
    matches!((mapping::to_arrow(a), mapping::to_arrow(b)), (Ok(a), Ok(b)) if a == b)
}

pub(crate) fn comparison(call: &Call, args: Vec<Expr>) -> Result<Expr> {
    let (a, b) = two(args)?;
    match (call.name.as_str(), &b) {
        // Flink's planner makes a NOT of it
        ("=", Expr::Literal(ScalarValue::Boolean(Some(false)), _))
        | ("<>", Expr::Literal(ScalarValue::Boolean(Some(true)), _))
            if negate::compares_floating(&a)? =>
        {
            not(a)
        }
        _ => build(call, &call.name, (a, call.arg(0)), (b, call.arg(1))),
    }
}

/// `a symbol b`.
fn build(call: &Call, symbol: &str, a: (Expr, &LogicalType), b: (Expr, &LogicalType)) -> Result<Expr> {
    let Some(operator) = native_operator(symbol) else {
        return Err(Error::internal(format!("'{symbol}' is no comparison")));
    };
    if is_native(a.1, b.1) {
        return Ok(binary_expr(a.0, operator, b.0));
    }
    if a.1.is_approximate() && a.0 == b.0 && !a.0.column_refs().is_empty() && !a.0.is_volatile() {
        return Ok(with_itself(symbol, a.0, call.returns.nullable));
    }
    let types: Vec<DataType> = vec![a.1.clone().nullable(), b.1.clone().nullable()];
    let comparison = Call::new(symbol, types, call.returns.clone(), &call.context);
    comparison.kernel(compare, vec![a.0, b.0])
}

/// `x symbol x`. Flink answers it while it plans, without a look at the value: a NaN equals itself there.
fn with_itself(symbol: &str, x: Expr, nullable: bool) -> Expr {
    let holds = matches!(symbol, "=" | "<=" | ">=" | "IS NOT DISTINCT FROM");
    let unknown = lit(ScalarValue::Boolean(None));
    match holds {
        _ if !nullable || symbol.ends_with("DISTINCT FROM") => lit(holds),
        // as DataFusion simplifies other types' `x = x`
        true => binary_expr(x.is_not_null(), Operator::Or, unknown),
        false => binary_expr(x.is_null(), Operator::And, unknown),
    }
}

/// The comparison that holds where this one of floating point numbers does not, by Flink's rules: of a NaN neither `<` nor
/// `>=` is true.
pub(crate) fn opposite(expr: &Expr) -> Option<Result<Expr>> {
    let (call, args) = floating(expr)?;
    let symbol = match call.name.as_str() {
        "=" => "<>",
        "<>" => "=",
        "<" => ">=",
        "<=" => ">",
        ">" => "<=",
        ">=" => "<",
        "IS DISTINCT FROM" => "IS NOT DISTINCT FROM",
        _ => "IS DISTINCT FROM",
    };
    let mut opposite = call.clone();
    symbol.clone_into(&mut opposite.name);
    Some(opposite.kernel(compare, args.to_vec()))
}

/// A comparison of two floating point numbers: its call and its operands.
fn floating(expr: &Expr) -> Option<(&Call, &[Expr])> {
    let (call, args) = call_of(expr)?;
    let compares = native_operator(&call.name).is_some() && call.args.len() == 2;
    (compares && call.arg(0).is_approximate() && call.arg(0) == call.arg(1)).then_some((call, args))
}

/// Whether an expression is a comparison of two floating point numbers.
pub(crate) fn is_floating(expr: &Expr) -> bool {
    floating(expr).is_some()
}

/// The equality of two floating point numbers of one type, `=` or `IS NOT DISTINCT FROM`, as DataFusion's own operator,
/// which compares bits: NaN equals itself, and -0.0 does not equal 0.0. Flink's joins compare their keys so.
/// `None` for all other expressions.
pub fn equality_of_bits(expr: &Expr) -> Option<Expr> {
    let (call, args) = floating(expr)?;
    let operator = native_operator(&call.name)?;
    let [a, b] = args else { return None };
    matches!(operator, Operator::Eq | Operator::IsNotDistinctFrom).then(|| binary_expr(a.clone(), operator, b.clone()))
}

pub(crate) fn in_list(call: &Call, args: Vec<Expr>) -> Result<Expr> {
    let negated = call.name.starts_with("NOT");
    let mut items = args.into_iter();
    let value = items.next().ok_or_else(|| Error::internal("IN without a value"))?;
    let types = call.args.get(1..).unwrap_or_default();
    if types.iter().all(|t| is_native(call.arg(0), &t.logical)) {
        return Ok(value.in_list(items.collect(), negated));
    }
    let items: Vec<Expr> = items.collect();
    let is_constant = |item: &Expr| item.column_refs().is_empty() && !item.is_volatile();
    // Flink looks for a value among several constants by its bits; it compares it with a single one, and with columns.
    let constants: HashSet<&Expr> = items.iter().filter(|item| is_constant(item)).collect();
    let by_bits = call.arg(0).is_approximate() && constants.len() > 1;
    let mut any: Option<Expr> = None;
    for (item, data_type) in items.iter().zip(types) {
        let equal = if by_bits && constants.contains(item) && call.arg(0) == &data_type.logical {
            let types = vec![call.arg(0).clone().nullable(), data_type.clone().with_nullable(true)];
            Call::new("EQUAL BITS", types, call.returns.clone(), &call.context)
                .kernel(equal_bits, vec![value.clone(), item.clone()])?
        } else {
            build(call, "=", (value.clone(), call.arg(0)), (item.clone(), &data_type.logical))?
        };
        any = Some(match any {
            Some(others) => binary_expr(others, Operator::Or, equal),
            None => equal,
        });
    }
    let any = any.ok_or_else(|| Error::internal("IN without items"))?;
    if negated { not(any) } else { Ok(any) }
}

pub(crate) fn between(call: &Call, args: Vec<Expr>) -> Result<Expr> {
    let [value, low, high] = <[Expr; 3]>::try_from(args).map_err(|_| Error::internal("BETWEEN needs three values"))?;
    let (v, l, h) = (call.arg(0), call.arg(1), call.arg(2));
    let within = |value: Expr, low: Expr, high: Expr, l, h| -> Result<Expr> {
        let above = build(call, ">=", (value.clone(), v), (low, l))?;
        let below = build(call, "<=", (value, v), (high, h))?;
        Ok(binary_expr(above, Operator::And, below))
    };
    let result = if call.name.ends_with("SYMMETRIC") {
        let forward = within(value.clone(), low.clone(), high.clone(), l, h)?;
        binary_expr(forward, Operator::Or, within(value, high, low, h, l)?)
    } else {
        within(value, low, high, l, h)?
    };
    if call.name.starts_with("NOT") { not(result) } else { Ok(result) }
}

/// What a comparison of two non-NULL values says; `None` for unordered ones (NaN).
fn holds(symbol: &str, ordering: Option<Ordering>) -> bool {
    match symbol {
        "=" | "IS NOT DISTINCT FROM" => ordering == Some(Ordering::Equal),
        "<>" | "IS DISTINCT FROM" => ordering != Some(Ordering::Equal),
        "<" => ordering == Some(Ordering::Less),
        "<=" => matches!(ordering, Some(Ordering::Less | Ordering::Equal)),
        ">" => ordering == Some(Ordering::Greater),
        _ => matches!(ordering, Some(Ordering::Greater | Ordering::Equal)),
    }
}

/// Whether two floating point numbers are the same, as `Double.equals` says.
fn equal_bits(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let rows = 0..args.rows;
    let equal: BooleanArray = if *call.arg(0) == LogicalType::Float {
        let (a, b) = (args.numbers::<Float32Type>(0)?, args.numbers::<Float32Type>(1)?);
        rows.map(|row| Some(a.get(row)?.total_cmp(&b.get(row)?).is_eq())).collect()
    } else {
        let (a, b) = (args.numbers::<Float64Type>(0)?, args.numbers::<Float64Type>(1)?);
        rows.map(|row| Some(a.get(row)?.total_cmp(&b.get(row)?).is_eq())).collect()
    };
    Ok(Arc::new(equal))
}

fn compare(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    use LogicalType as T;
    let rows = 0..args.rows;
    let symbol = call.name.as_str();
    // For each row: None if a side is NULL.
    let result: BooleanArray = match (call.arg(0), call.arg(1)) {
        (T::Float, T::Float) => {
            let (a, b) = (args.numbers::<Float32Type>(0)?, args.numbers::<Float32Type>(1)?);
            rows.map(|row| with_nulls(symbol, a.get(row), b.get(row), |a, b| a.partial_cmp(b))).collect()
        }
        (T::Double, T::Double) => {
            let (a, b) = (args.numbers::<Float64Type>(0)?, args.numbers::<Float64Type>(1)?);
            rows.map(|row| with_nulls(symbol, a.get(row), b.get(row), |a, b| a.partial_cmp(b))).collect()
        }
        (T::Decimal { scale: s1, .. }, T::Decimal { scale: s2, .. }) => {
            let (a, b) = (args.numbers::<Decimal128Type>(0)?, args.numbers::<Decimal128Type>(1)?);
            let order = |a: &i128, b: &i128| Some(decimal::compare((*a, *s1), (*b, *s2)));
            rows.map(|row| with_nulls(symbol, a.get(row), b.get(row), order)).collect()
        }
        (T::Timestamp(_) | T::TimestampLtz(_), T::Timestamp(_) | T::TimestampLtz(_)) => {
            let (a, b) = (args.stamps(0)?, args.stamps(1)?);
            rows.map(|row| with_nulls(symbol, a.get(row), b.get(row), |a, b| Some(a.cmp(b)))).collect()
        }
        (a, b) if a.is_constructed() && b.is_constructed() => {
            let ((x, cx), (y, cy)) = (args.raw(0)?, args.raw(1)?);
            let mut values = Vec::with_capacity(args.rows);
            for row in rows {
                let (i, j) = (if cx { 0 } else { row }, if cy { 0 } else { row });
                values.push(match (x.is_valid(i), y.is_valid(j)) {
                    (true, true) => equal_values(x, i, y, j)?.map(|e| holds(symbol, e.then_some(Ordering::Equal))),
                    (false, false) => missing(symbol, true),
                    _ => missing(symbol, false),
                });
            }
            BooleanArray::from(values)
        }
        (a, b) => return Err(failure(Error::unsupported(format!("comparing {a} with {b}")))),
    };
    // DISTINCT FROM is never NULL.
    if symbol.ends_with("DISTINCT FROM") && result.null_count() > 0 {
        return Ok(Arc::new(
            result.iter().map(|v| Some(v.unwrap_or(symbol == "IS DISTINCT FROM"))).collect::<BooleanArray>(),
        ));
    }
    Ok(Arc::new(result))
}

fn with_nulls<V>(symbol: &str, a: Option<V>, b: Option<V>, order: impl Fn(&V, &V) -> Option<Ordering>) -> Option<bool> {
    match (a, b) {
        (Some(a), Some(b)) => Some(holds(symbol, order(&a, &b))),
        (None, None) => missing(symbol, true),
        _ => missing(symbol, false),
    }
}

/// The result where a side is NULL.
fn missing(symbol: &str, both: bool) -> Option<bool> {
    match symbol {
        "IS DISTINCT FROM" => Some(!both),
        "IS NOT DISTINCT FROM" => Some(both),
        _ => None,
    }
}

/// Whether two values, neither NULL, are equal. ROWs are compared field by field, so a NULL field may leave it unknown;
/// NULL elements of ARRAYs and MAPs equal each other.
fn equal_values(a: &ArrayRef, i: usize, b: &ArrayRef, j: usize) -> DfResult<Option<bool>> {
    match (a.data_type(), b.data_type()) {
        (ArrowType::Struct(_), ArrowType::Struct(_)) => {
            let (a, b) = (a.as_struct(), b.as_struct());
            let mut all = Some(true);
            for (x, y) in a.columns().iter().zip(b.columns()) {
                let field = if x.is_null(i) || y.is_null(j) { None } else { equal_values(x, i, y, j)? };
                match field {
                    Some(false) => return Ok(Some(false)),
                    Some(true) => {}
                    None => all = None,
                }
            }
            Ok(all)
        }
        (ArrowType::List(_), ArrowType::List(_)) => {
            let (x, y) = (a.as_list::<i32>().value(i), b.as_list::<i32>().value(j));
            if x.len() != y.len() {
                return Ok(Some(false));
            }
            for row in 0..x.len() {
                if !equal_elements(&x, row, &y, row)? {
                    return Ok(Some(false));
                }
            }
            Ok(Some(true))
        }
        (ArrowType::Map(..), ArrowType::Map(..)) => {
            let (x, y) = (a.as_map().value(i), b.as_map().value(j));
            let (xk, xv, yk, yv) = match (x.columns(), y.columns()) {
                ([xk, xv], [yk, yv]) => (xk, xv, yk, yv),
                _ => return Err(mistyped("Map", a)),
            };
            if x.len() != y.len() {
                return Ok(Some(false));
            }
            for row in 0..x.len() {
                let mut found = false;
                for other in 0..y.len() {
                    if equal_elements(xk, row, yk, other)? {
                        found = equal_elements(xv, row, yv, other)?;
                        break;
                    }
                }
                if !found {
                    return Ok(Some(false));
                }
            }
            Ok(Some(true))
        }
        (ArrowType::Float32, ArrowType::Float32) => {
            Ok(Some(a.as_primitive::<Float32Type>().value(i) == b.as_primitive::<Float32Type>().value(j)))
        }
        (ArrowType::Float64, ArrowType::Float64) => {
            Ok(Some(a.as_primitive::<Float64Type>().value(i) == b.as_primitive::<Float64Type>().value(j)))
        }
        (x, y) if x == y => {
            let order = make_comparator(a, b, SortOptions::default())?;
            Ok(Some(order(i, j) == Ordering::Equal))
        }
        _ => Err(mistyped(&a.data_type().to_string(), b)),
    }
}

/// As [`equal_values`]; two NULLs are equal, unknown is not.
fn equal_elements(a: &ArrayRef, i: usize, b: &ArrayRef, j: usize) -> DfResult<bool> {
    Ok(match (a.is_null(i), b.is_null(j)) {
        (true, true) => true,
        (false, false) => equal_values(a, i, b, j)? == Some(true),
        _ => false,
    })
}

/// Which elements of two arrays are equal, as [`equal_elements`] says, for many of them.
pub(crate) struct Equality<'a> {
    a: &'a ArrayRef,
    b: &'a ArrayRef,
    /// Not for nested values and not for floating point numbers.
    order: Option<DynComparator>,
}

impl<'a> Equality<'a> {
    pub fn new(a: &'a ArrayRef, b: &'a ArrayRef) -> DfResult<Self> {
        let is_simple = !a.data_type().is_nested() && !a.data_type().is_floating() && a.data_type() == b.data_type();
        let order = if is_simple { Some(make_comparator(a, b, SortOptions::default())?) } else { None };
        Ok(Self { a, b, order })
    }

    pub fn holds(&self, i: usize, j: usize) -> DfResult<bool> {
        match &self.order {
            Some(order) => Ok(order(i, j) == Ordering::Equal),
            None => equal_elements(self.a, i, self.b, j),
        }
    }
}

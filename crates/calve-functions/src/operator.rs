//! The operators, by symbol.

use calve_types::rules::{self, Arithmetic};
use calve_types::{DataType, Error, LogicalType, Result};
use datafusion_expr::{Expr, Operator, binary_expr};

use crate::function::{Arg, Call, Eval, Inferred, Refusal, ScalarFunction, Signature, Syntax};
use crate::{arithmetic, compare, like, negate};

pub(crate) static TABLE: &[ScalarFunction] = &[
    comparison("=", infer_equality).forms(&["<COMPARABLE_TYPE> = <COMPARABLE_TYPE>"]),
    comparison("<>", infer_equality).forms(&["<COMPARABLE_TYPE> <> <COMPARABLE_TYPE>"]),
    comparison("<", infer_order).forms(&["<COMPARABLE_TYPE> < <COMPARABLE_TYPE>"]),
    comparison("<=", infer_order).forms(&["<COMPARABLE_TYPE> <= <COMPARABLE_TYPE>"]),
    comparison(">", infer_order).forms(&["<COMPARABLE_TYPE> > <COMPARABLE_TYPE>"]),
    comparison(">=", infer_order).forms(&["<COMPARABLE_TYPE> >= <COMPARABLE_TYPE>"]),
    comparison("IS DISTINCT FROM", infer_distinct).forms(&["<COMPARABLE_TYPE> IS DISTINCT FROM <COMPARABLE_TYPE>"]),
    comparison("IS NOT DISTINCT FROM", infer_distinct)
        .forms(&["<COMPARABLE_TYPE> IS NOT DISTINCT FROM <COMPARABLE_TYPE>"]),
    operator("IN", infer_list, Eval::Choose(compare::in_list)).takes_null(),
    operator("NOT IN", infer_list, Eval::Choose(compare::in_list)).takes_null(),
    operator("BETWEEN", infer_between, Eval::Choose(compare::between)),
    operator("NOT BETWEEN", infer_between, Eval::Choose(compare::between)),
    operator("BETWEEN SYMMETRIC", infer_between, Eval::Choose(compare::between)),
    operator("NOT BETWEEN SYMMETRIC", infer_between, Eval::Choose(compare::between)),
    operator("AND", infer_logic, Eval::Native(|args| binary(args, Operator::And))).forms(&["<BOOLEAN> AND <BOOLEAN>"]),
    operator("OR", infer_logic, Eval::Native(|args| binary(args, Operator::Or))).forms(&["<BOOLEAN> OR <BOOLEAN>"]),
    operator("NOT", infer_not, Eval::Native(|args| negate::not(one(args)?))).forms(&["NOT<BOOLEAN>"]),
    postfix("IS NULL", infer_any_test, Eval::Native(|args| unary(args, Expr::is_null))).takes_null(),
    postfix("IS NOT NULL", infer_any_test, Eval::Native(|args| unary(args, Expr::is_not_null))).takes_null(),
    postfix("IS TRUE", infer_boolean_test, Eval::Choose(negate::truth)),
    postfix("IS NOT TRUE", infer_boolean_test, Eval::Choose(negate::truth)),
    postfix("IS FALSE", infer_boolean_test, Eval::Choose(negate::truth)),
    postfix("IS NOT FALSE", infer_boolean_test, Eval::Choose(negate::truth)),
    postfix("IS UNKNOWN", infer_boolean_test, Eval::Native(|args| unary(args, Expr::is_unknown))),
    postfix("IS NOT UNKNOWN", infer_boolean_test, Eval::Native(|args| unary(args, Expr::is_not_unknown))),
    arithmetic("+").forms(&[
        "<NUMERIC> + <NUMERIC>",
        "<DATETIME_INTERVAL> + <DATETIME_INTERVAL>",
        "<DATETIME> + <DATETIME_INTERVAL>",
        "<DATETIME_INTERVAL> + <DATETIME>",
    ]),
    arithmetic("-").forms(&[
        "<NUMERIC> - <NUMERIC>",
        "<DATETIME_INTERVAL> - <DATETIME_INTERVAL>",
        "<DATETIME> - <DATETIME_INTERVAL>",
    ]),
    arithmetic("*").forms(&[
        "<NUMERIC> * <NUMERIC>",
        "<DATETIME_INTERVAL> * <NUMERIC>",
        "<NUMERIC> * <DATETIME_INTERVAL>",
    ]),
    arithmetic("/").forms(&["<NUMERIC> / <NUMERIC>", "<DATETIME_INTERVAL> / <NUMERIC>"]),
    arithmetic("%").aliases(&["MOD"]).forms(&["<EXACT_NUMERIC> % <EXACT_NUMERIC>"]),
    operator("||", infer_concat, Eval::Native(|args| binary(args, Operator::StringConcat)))
        .forms(&["<STRING> || <STRING>", "<EQUIVALENT_TYPE> || <EQUIVALENT_TYPE>"]),
    operator("LIKE", infer_like, Eval::Choose(like::like)).forms(&["<STRING> LIKE <STRING>"]),
    operator("NOT LIKE", infer_like, Eval::Choose(like::like)).forms(&["<STRING> NOT LIKE <STRING>"]),
    operator("SIMILAR TO", infer_like, Eval::Kernel(like::similar)),
    operator("NOT SIMILAR TO", infer_like, Eval::Kernel(like::similar)),
];

const fn operator(name: &'static str, infer: fn(&[Arg]) -> Inferred, eval: Eval) -> ScalarFunction {
    ScalarFunction::new(name, infer, eval).syntax(Syntax::Operator)
}

const fn postfix(name: &'static str, infer: fn(&[Arg]) -> Inferred, eval: Eval) -> ScalarFunction {
    ScalarFunction::new(name, infer, eval).syntax(Syntax::Postfix)
}

const fn comparison(name: &'static str, infer: fn(&[Arg]) -> Inferred) -> ScalarFunction {
    operator(name, infer, Eval::Choose(compare::comparison)).takes_null()
}

const fn arithmetic(name: &'static str) -> ScalarFunction {
    let infer: fn(&[Arg]) -> Inferred = match name.as_bytes() {
        b"+" => arithmetic::infer_plus,
        b"-" => arithmetic::infer_minus,
        b"*" => arithmetic::infer_times,
        b"/" => arithmetic::infer_divide,
        _ => arithmetic::infer_modulo,
    };
    operator(name, infer, Eval::Choose(arithmetic::choose)).gives_null()
}

/// The two arguments of a binary operator.
pub(crate) fn two<T>(args: Vec<T>) -> Result<(T, T)> {
    let count = args.len();
    let mut args = args.into_iter();
    match (args.next(), args.next(), args.next()) {
        (Some(a), Some(b), None) => Ok((a, b)),
        _ => Err(Error::internal(format!("{count} arguments of a binary operator"))),
    }
}

fn binary(args: Vec<Expr>, operator: Operator) -> Result<Expr> {
    let (a, b) = two(args)?;
    Ok(binary_expr(a, operator, b))
}

/// The argument of a unary operator.
pub(crate) fn one(args: Vec<Expr>) -> Result<Expr> {
    args.into_iter().next().ok_or_else(|| Error::internal("no argument of a unary operator"))
}

fn unary(args: Vec<Expr>, build: fn(Expr) -> Expr) -> Result<Expr> {
    one(args).map(build)
}

pub(crate) fn boolean(args: &[Arg]) -> DataType {
    nullable_by(args, LogicalType::Boolean)
}

/// A type that is nullable if an argument is.
pub(crate) fn nullable_by(args: &[Arg], logical: LogicalType) -> DataType {
    logical.with_nullable(args.iter().any(|a| a.data_type.nullable))
}

fn types(args: &[Arg]) -> Vec<DataType> {
    args.iter().map(|a| a.data_type.clone()).collect()
}

/// The types two compared values are cast to.
pub(crate) fn compared(a: &Arg, b: &Arg, is_equality: bool) -> std::result::Result<(DataType, DataType), Refusal> {
    use LogicalType as T;
    let (l, r) = (a.logical(), b.logical());
    let both =
        |logical: T| (logical.clone().with_nullable(a.data_type.nullable), logical.with_nullable(b.data_type.nullable));
    match (l, r) {
        (T::Null, T::Null) => Ok(both(T::Boolean)),
        (T::Null, other) | (other, T::Null) => Ok(both(other.clone())),
        // Lengths and precisions do not matter for comparing: no cast, so that filters stay simple.
        (x, y) if x.is_character() && y.is_character() || x.is_binary() && y.is_binary() => {
            Ok((a.data_type.clone(), b.data_type.clone()))
        }
        (T::Timestamp(_), T::Timestamp(_)) | (T::TimestampLtz(_), T::TimestampLtz(_)) => Ok(compared_stamps(a, b)),
        (x, y) if x.is_numeric() && y.is_numeric() => match (rules::decimal_of(x), rules::decimal_of(y)) {
            (Some((p1, s1)), Some((p2, s2))) => {
                let decimal = |p, s| T::Decimal { precision: p, scale: s };
                if (p1 - s1).max(p2 - s2) + s1.max(s2) > rules::MAX_DECIMAL_PRECISION {
                    // No DECIMAL holds both: compared as they are.
                    let keep = |arg: &Arg, p, s| decimal(p, s).with_nullable(arg.data_type.nullable);
                    return Ok((keep(a, p1, s1), keep(b, p2, s2)));
                }
                common(x, y).map(both)
            }
            _ => common(x, y).map(both),
        },
        (x, y) if x.is_character() != y.is_character() => {
            let other = if x.is_character() { y } else { x };
            match other {
                T::Date | T::Time(_) | T::Timestamp(_) | T::TimestampLtz(_) => Ok(both(other.clone())),
                t if t.is_numeric() || *t == T::Boolean => {
                    if is_equality || *t == T::Boolean {
                        return Err(no_implicit_conversion(x, y).into());
                    }
                    Ok(both(match t {
                        T::Decimal { .. } => T::Decimal { precision: 38, scale: 18 },
                        other => other.clone(),
                    }))
                }
                _ => Err(Refusal::Types),
            }
        }
        (x, y) => {
            let has_no_order = |t: &T| t.is_constructed() || *t == T::Variant;
            if !is_equality && (has_no_order(x) || has_no_order(y)) {
                return Err(Error::new("invalid-argument", format!("values of type {} have no order", a.data_type))
                    .with_detail(format!("Comparable type expected, but was '{}'.", a.data_type))
                    .into());
            }
            common(x, y).map(both)
        }
    }
}

/// A literal with unneeded digits goes to the column's precision, so that the column stays as it is.
fn compared_stamps(a: &Arg, b: &Arg) -> (DataType, DataType) {
    use LogicalType as T;
    let precision = |arg: &Arg| match arg.logical() {
        T::Timestamp(p) | T::TimestampLtz(p) => *p,
        _ => 0,
    };
    let at = |arg: &Arg, p| {
        let logical = if matches!(arg.logical(), T::TimestampLtz(_)) { T::TimestampLtz(p) } else { T::Timestamp(p) };
        logical.with_nullable(arg.data_type.nullable)
    };
    let shortened = |arg: &Arg, other: &Arg| match &arg.literal {
        Some(calve_types::Value::Timestamp { nanos, .. }) if nanos % 1000 == 0 => {
            precision(arg) > 6 && precision(other) <= 6
        }
        _ => false,
    };
    let types = |arg: &Arg, other: &Arg| at(arg, if shortened(arg, other) { 6 } else { precision(arg) });
    (types(a, b), types(b, a))
}

fn common(a: &LogicalType, b: &LogicalType) -> std::result::Result<LogicalType, Refusal> {
    rules::common_type(&[a.clone().not_null(), b.clone().not_null()]).map(|t| t.logical).ok_or(Refusal::Types)
}

fn no_implicit_conversion(a: &LogicalType, b: &LogicalType) -> Error {
    let (a, b) = (rules::root_name(a), rules::root_name(b));
    Error::new("invalid-argument", format!("cannot compare {a} with {b}"))
        .with_detail(format!("implicit type conversion between {a} and {b} is not supported now"))
        .with_hint("cast one side, for example CAST(x AS STRING)")
}

fn infer_comparison(args: &[Arg], is_equality: bool) -> std::result::Result<Vec<DataType>, Refusal> {
    let [a, b] = args else { return Err(Refusal::Count("2 arguments")) };
    let (a, b) = compared(a, b, is_equality)?;
    Ok(vec![a, b])
}

/// Rows are equal if their fields are, which is unknown for a NULL among them.
fn infer_equality(args: &[Arg]) -> Inferred {
    fn has_null(data_type: &DataType) -> bool {
        data_type.nullable
            || matches!(&data_type.logical, LogicalType::Row(fields) if fields.iter().any(|f| has_null(&f.data_type)))
    }
    let returns = LogicalType::Boolean.with_nullable(args.iter().any(|a| has_null(&a.data_type)));
    Ok(Signature { args: infer_comparison(args, true)?, returns })
}

fn infer_order(args: &[Arg]) -> Inferred {
    Ok(Signature { args: infer_comparison(args, false)?, returns: boolean(args) })
}

fn infer_distinct(args: &[Arg]) -> Inferred {
    Ok(Signature { args: infer_comparison(args, true)?, returns: LogicalType::Boolean.not_null() })
}

/// IN compares with each item, in the kind of the value: a string with numbers as strings, a number with strings as
/// numbers, where `=` takes neither.
fn infer_list(args: &[Arg]) -> Inferred {
    let [value, items @ ..] = args else { return Err(Refusal::Count("at least 2 arguments")) };
    if items.is_empty() {
        return Err(Refusal::Count("at least 2 arguments"));
    }
    let known = || items.iter().map(Arg::logical).filter(|t| **t != LogicalType::Null);
    if value.logical().is_character()
        && known().any(LogicalType::is_numeric)
        && known().all(|t| t.is_character() || t.is_numeric())
    {
        let texts = args.iter().map(|a| LogicalType::STRING.with_nullable(a.data_type.nullable)).collect();
        return Ok(Signature { args: texts, returns: boolean(args) });
    }
    let mut common = value.clone();
    for item in items {
        if item.logical().is_constructed() || common.logical().is_constructed() {
            common.data_type = rules::common_type(&[common.data_type, item.data_type.clone()]).ok_or(Refusal::Types)?;
            continue;
        }
        let (a, b) = compared(&common, item, false)?;
        let wider = rules::common_type(&[a, b]).ok_or(Refusal::Types)?;
        common = Arg::of(wider);
    }
    let all = common.logical().clone();
    let keeps = args.iter().all(|a| a.logical().is_character()) || args.iter().all(|a| a.logical().is_binary());
    let args_types = args
        .iter()
        .map(|a| if keeps { a.data_type.clone() } else { all.clone().with_nullable(a.data_type.nullable) })
        .collect();
    Ok(Signature { args: args_types, returns: boolean(args) })
}

fn infer_between(args: &[Arg]) -> Inferred {
    let [value, low, high] = args else { return Err(Refusal::Count("3 arguments")) };
    let (a, b) = compared(value, low, false)?;
    let both = Arg::of(rules::common_type(&[a, b]).ok_or(Refusal::Types)?);
    let (a, b) = compared(&both, high, false)?;
    let common = rules::common_type(&[a, b]).ok_or(Refusal::Types)?.logical;
    let keeps = args.iter().all(|a| a.logical().is_character());
    let arg_types = args
        .iter()
        .map(|a| if keeps { a.data_type.clone() } else { common.clone().with_nullable(a.data_type.nullable) })
        .collect();
    Ok(Signature { args: arg_types, returns: boolean(args) })
}

fn infer_logic(args: &[Arg]) -> Inferred {
    if args.len() != 2 {
        return Err(Refusal::Count("2 arguments"));
    }
    infer_booleans(args, boolean(args))
}

fn infer_not(args: &[Arg]) -> Inferred {
    infer_booleans(args, boolean(args))
}

fn infer_boolean_test(args: &[Arg]) -> Inferred {
    infer_booleans(args, LogicalType::Boolean.not_null())
}

fn infer_booleans(args: &[Arg], returns: DataType) -> Inferred {
    if args.iter().any(|a| *a.logical() != LogicalType::Boolean) {
        return Err(Refusal::Types);
    }
    Ok(Signature { args: types(args), returns })
}

fn infer_any_test(args: &[Arg]) -> Inferred {
    if args.len() != 1 {
        return Err(Refusal::Count("1 arguments"));
    }
    Ok(Signature { args: types(args), returns: LogicalType::Boolean.not_null() })
}

fn infer_concat(args: &[Arg]) -> Inferred {
    let [a, b] = args else { return Err(Refusal::Count("2 arguments")) };
    use LogicalType as T;
    let returns = match (a.logical(), b.logical()) {
        (T::Char(m), T::Char(n)) => T::Char(m.saturating_add(*n).min(T::MAX_LENGTH)),
        (T::Char(m) | T::Varchar(m), T::Char(n) | T::Varchar(n)) => T::Varchar(m.saturating_add(*n).min(T::MAX_LENGTH)),
        _ => return Err(Refusal::Types),
    };
    let nullable = a.data_type.nullable || b.data_type.nullable;
    Ok(Signature { args: types(args), returns: returns.with_nullable(nullable) })
}

fn infer_like(args: &[Arg]) -> Inferred {
    if !matches!(args.len(), 2 | 3) {
        return Err(Refusal::Count("2 arguments"));
    }
    if args.iter().any(|a| !a.logical().is_character()) {
        return Err(Refusal::Types);
    }
    Ok(Signature { args: types(args), returns: boolean(args) })
}

/// Which arithmetic a symbol is.
pub(crate) fn arithmetic_of(call: &Call) -> Arithmetic {
    match call.name.as_str() {
        "+" => Arithmetic::Plus,
        "-" => Arithmetic::Minus,
        "*" => Arithmetic::Times,
        "/" => Arithmetic::Divide,
        _ => Arithmetic::Modulo,
    }
}

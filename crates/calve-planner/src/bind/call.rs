//! Calls of functions.

use calve_functions::{AggregateFunction, Arg, aggregate, callable, scalar};
use calve_sql::ast;
use calve_types::{DataType, Error, LogicalType, Result, Span, Value, rules};

use super::grouping::Groups;
use super::scope::{Aggregates, Scope, Windows};
use super::{Binder, coerce, flink, literal, names, over, span, walk};
use crate::expr::{AggregateCall, Expr, ExprKind};

/// A call of a function or operator; the arguments are cast to what its signature asks for.
///
/// # Errors
/// `unknown-function`, or what the function says of its arguments.
pub(super) fn function(name: &str, args: Vec<Expr>, place: Span) -> Result<Expr> {
    let place = args.iter().fold(place, |all, a| all.to(a.span));
    let function = scalar(name).ok_or_else(|| unknown(name, Some(&args), place))?;
    let infer = function.infer(&described(&args));
    // NULLIF is a CASE, which is refused as a whole.
    let null = || illegal_null(&args).filter(|_| function.name != "NULLIF");
    let signature = infer.map_err(|e| e.at(null().unwrap_or(place)))?;
    let mut data_type = signature.returns;
    if matches!(function.name, "=" | "<>" | "IN" | "NOT IN") {
        data_type.nullable |= args.iter().any(|a| may_hold_null(&a.data_type));
    }
    let args = cast(args, &signature.args);
    Ok(Expr { kind: ExprKind::Call { function, args }, data_type, span: place })
}

/// A symbol as an argument: a unit of time, a side of TRIM.
pub(super) fn symbol(name: &str, place: Span) -> Expr {
    literal::literal(Value::Symbol(name.to_ascii_uppercase()), LogicalType::Symbol.not_null(), place)
}

/// The error for a function that does not exist, or not in calve.
pub(super) fn unknown(name: &str, args: Option<&[Expr]>, place: Span) -> Error {
    if flink::has_function(name) {
        return Error::unsupported(format!("the function {}", name.to_ascii_uppercase())).at(place);
    }
    let mut detail = format!("No match found for function signature {name}");
    if let Some(args) = args {
        let types: Vec<String> =
            args.iter().map(|a| format!("<{}>", rules::family_name(&a.data_type.logical))).collect();
        detail.push_str(&format!("({})", types.join(", ")));
    }
    let error = Error::new("unknown-function", format!("function '{name}' not found")).with_detail(detail);
    match calve_sql::instead_of(name) {
        Some(hint) => error.with_hint(hint).at(place),
        None => names::did_you_mean(error, &name.to_ascii_uppercase(), callable()).at(place),
    }
}

fn described(args: &[Expr]) -> Vec<Arg> {
    args.iter()
        .map(|a| Arg {
            data_type: a.data_type.clone(),
            literal: match &a.kind {
                ExprKind::Literal(value) => Some(value.clone()),
                _ => None,
            },
        })
        .collect()
}

/// Whether a value, or a field of a ROW, may be NULL: comparisons of rows are NULL then, as far as their type tells.
fn may_hold_null(data_type: &DataType) -> bool {
    data_type.nullable
        || match &data_type.logical {
            LogicalType::Row(fields) => fields.iter().any(|f| may_hold_null(&f.data_type)),
            _ => false,
        }
}

fn illegal_null(args: &[Expr]) -> Option<Span> {
    args.iter().find(|a| a.data_type.logical == LogicalType::Null).map(|a| a.span).filter(Span::is_known)
}

fn cast(args: Vec<Expr>, types: &[DataType]) -> Vec<Expr> {
    args.into_iter()
        .enumerate()
        .map(|(i, a)| match types.get(i) {
            Some(t) => coerce::to(a, t),
            None => a,
        })
        .collect()
}

/// Functions whose first argument is a unit of time, written like a name.
const UNIT_FIRST: [&str; 2] = ["TIMESTAMPADD", "TIMESTAMPDIFF"];

/// What a call says beside its arguments.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    /// The function's name as it is written.
    pub name: &'a str,
    /// With `DISTINCT` before the arguments.
    pub distinct: bool,
    /// `FILTER (WHERE ..)`
    pub filter: Option<&'a ast::Expr>,
    /// Where the name stands.
    pub place: Span,
}

impl Binder<'_> {
    /// A call as it is written.
    pub(super) fn function(&self, f: &ast::Function, scope: &Scope<'_>) -> Result<Expr> {
        let place = names::span_of(&f.name);
        let parts = names::parts(&f.name)?;
        let written: Vec<String> = parts.iter().map(|part| part.value.clone()).collect();
        if let Some(refused) = self.catalog.refused_function(&written) {
            return Err(refused.at(place));
        }
        let name = match parts.as_slice() {
            [name] => name.value.as_str(),
            _ => return Err(unknown(&f.name.to_string(), None, place)),
        };
        let mut call = Call { name, distinct: false, filter: f.filter.as_deref(), place };
        let foreign = [
            (!f.within_group.is_empty(), "WITHIN GROUP"),
            (!matches!(f.parameters, ast::FunctionArguments::None), "parameters before the arguments of a function"),
            (f.uses_odbc_syntax, "{fn ..}"),
        ];
        if let Some((_, feature)) = foreign.iter().find(|(present, _)| *present) {
            return Err(Error::unsupported(feature).at(place));
        }
        let args = match &f.args {
            ast::FunctionArguments::None => [].as_slice(),
            ast::FunctionArguments::Subquery(_) => {
                return Err(Error::unsupported("a subquery as the argument of a function").at(place));
            }
            ast::FunctionArguments::List(list) => {
                if !list.clauses.is_empty() {
                    return Err(Error::unsupported(format!("clauses after the arguments of {name}")).at(place));
                }
                call.distinct = list.duplicate_treatment == Some(ast::DuplicateTreatment::Distinct);
                list.args.as_slice()
            }
        };
        if let Some(window) = &f.over {
            return self.over_call(f, window, call, args, scope);
        }
        if over::function_of(name).is_some() {
            return Err(
                Error::new("invalid-argument", format!("'{name}' needs a window: {name}(..) OVER (..)")).at(place)
            );
        }
        if let Some(nulls) = &f.null_treatment {
            return Err(over::null_treatment(nulls, name, place));
        }
        if let Some(property) = self.window_property(call, f, scope) {
            return property;
        }
        if name == calve_sql::DIFFERENCE {
            return self.difference(args, place, scope);
        }
        if name.contains(' ') && scalar(name).is_none() {
            // An operator: its name stands between its operands.
            let first = args.first().and_then(|a| argument(a, name, place).ok()).map(|e| self.expr(e, scope));
            let place = first.transpose()?.map_or(place, |e| e.span.to(place));
            return Err(unknown(name, None, place));
        }
        if name == "MULTISET" {
            return Err(Error::unsupported("MULTISET constructor").at(place));
        }
        if f.filter.is_none()
            && !call.distinct
            && let Some(grouping) = self.grouping_call(call, args, scope)
        {
            return grouping;
        }
        let clauses = calve_sql::json_clauses(f);
        if let Some(function) = aggregate(name) {
            return match clauses {
                Some(clauses) => self.json_call(call, &clauses, scope),
                None => self.aggregate_call(function, call, args, scope),
            };
        }
        if f.filter.is_some() || call.distinct {
            let word = self.places.behind(place.start).and_then(|open| self.places.behind(open));
            let word = word.filter(|_| call.distinct).map_or(place, |start| self.places.token(start));
            let upper = name.to_ascii_uppercase();
            return Err(Error::new(
                "invalid-argument",
                format!("'{name}' is no aggregate function: it takes no DISTINCT or FILTER"),
            )
            .with_detail(if call.distinct {
                format!("DISTINCT/ALL not allowed with {upper} function")
            } else {
                "FILTER must be applied to aggregate function".to_owned()
            })
            .at(word));
        }
        if let Some(clauses) = clauses {
            return self.json_call(call, &clauses, scope);
        }
        if name.eq_ignore_ascii_case("CURRENT_DATABASE") && args.is_empty() {
            let (_, database) = self.catalog.current();
            return Ok(literal::literal(Value::String(database.to_owned()), LogicalType::STRING.not_null(), place));
        }
        let is_star = |arg: &ast::FunctionArg| matches!(arg, ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Wildcard));
        if scalar(name).is_none() && args.iter().any(is_star) {
            return Err(unknown(name, None, place));
        }
        if let (Some(at), Some(_)) = (args.iter().position(is_star), scalar(name)) {
            let open = self.places.behind(place.start);
            let star = if at == 0 { open.and_then(|open| self.places.behind(open)) } else { None };
            return Err(Error::new("invalid-argument", format!("'*' is no argument of '{name}'"))
                .with_detail("Unknown identifier '*'")
                .at(star.map_or(place, |start| self.places.token(start))));
        }
        let mut bound = Vec::new();
        for (i, arg) in args.iter().enumerate() {
            let e = argument(arg, name, place)?;
            let unit = match e {
                ast::Expr::Identifier(unit) if i == 0 && UNIT_FIRST.iter().any(|f| name.eq_ignore_ascii_case(f)) => {
                    Some(unit)
                }
                _ => None,
            };
            bound.push(match unit {
                Some(unit) => symbol(&unit.value, span::ident(unit)),
                None => self.expr(e, scope)?,
            });
        }
        function(name, bound, place)
    }

    /// `(a - b) DAY TO SECOND`
    fn difference(&self, args: &[ast::FunctionArg], place: Span, scope: &Scope<'_>) -> Result<Expr> {
        let [difference, unit] = args else { return Err(Error::internal("a difference without a unit")) };
        let mut difference = argument(difference, "-", place)?;
        while let ast::Expr::Nested(inner) = difference {
            difference = inner;
        }
        let (ast::Expr::BinaryOp { left, op: ast::BinaryOperator::Minus, right }, ast::Expr::Value(unit)) =
            (difference, argument(unit, "-", place)?)
        else {
            return Err(Error::new("syntax-error", "a unit stands behind the difference of two times: (a - b) DAY")
                .with_detail("Illegal expression. Was expecting \"(DATETIME - DATETIME) INTERVALQUALIFIER\"")
                .at(place));
        };
        let text = match &unit.value {
            ast::Value::SingleQuotedString(text) => text.as_str(),
            _ => "",
        };
        let unit = text.split([' ', '(']).next().unwrap_or_default();
        let (left, right) = (self.expr(left, scope)?, self.expr(right, scope)?);
        if left.data_type.logical.is_datetime()
            && right.data_type.logical.is_datetime()
            && std::mem::discriminant(&left.data_type.logical) != std::mem::discriminant(&right.data_type.logical)
        {
            return Err(Error::new("invalid-argument", "the difference of values of different types")
                .with_detail("Parameters must be of the same type")
                .at(place));
        }
        let mut interval = function("MINUS_DATE", vec![symbol(unit, place), left, right], place)?;
        // The unit is part of the type, as of a literal's: a cast to a number counts in it.
        if let Ok(of_unit) = calve_sql::parse_type(&format!("INTERVAL {text}"))
            && std::mem::discriminant(&of_unit.logical) == std::mem::discriminant(&interval.data_type.logical)
        {
            interval.data_type.logical = of_unit.logical;
        }
        Ok(interval)
    }

    fn aggregate_call(
        &self,
        function: &'static AggregateFunction,
        call: Call<'_>,
        args: &[ast::FunctionArg],
        scope: &Scope<'_>,
    ) -> Result<Expr> {
        let Call { name, distinct, place, .. } = call;
        if args.is_empty() {
            return Err(Error::new("invalid-argument", format!("'{name}' needs an argument"))
                .with_detail(format!(
                    "Invalid number of arguments to function '{}'. Was expecting 1 arguments",
                    function.name
                ))
                .at(place));
        }
        self.aggregate_of(function, call, scope, |inner| {
            let mut bound = Vec::new();
            for arg in args {
                if let ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Wildcard) = arg {
                    if args.len() != 1 || function.name != "COUNT" || distinct {
                        return Err(Error::new("invalid-argument", format!("'*' is no argument of '{name}'")).at(place));
                    }
                    continue;
                }
                bound.push(self.expr(argument(arg, name, place)?, inner)?);
            }
            Ok(bound)
        })
    }

    /// A call of an aggregate function over the values that `bind` gives in the scope of its arguments.
    pub(super) fn aggregate_of(
        &self,
        function: &'static AggregateFunction,
        call: Call<'_>,
        scope: &Scope<'_>,
        bind: impl FnOnce(&Scope<'_>) -> Result<Vec<Expr>>,
    ) -> Result<Expr> {
        let Call { name, distinct, filter, place } = call;
        let (collected, grouped, groups) = match scope.aggregates {
            Aggregates::Collected { calls, grouped, groups } => (calls, grouped, groups),
            Aggregates::Refused("an aggregate function") => {
                return Err(Error::new("nested-aggregate", format!("'{name}' stands inside an aggregate function"))
                    .with_detail("Aggregate expressions cannot be nested")
                    .at(place));
            }
            Aggregates::Refused(clause) => {
                return Err(Error::new("misplaced-aggregate", format!("'{name}' cannot be used in the {clause}"))
                    .with_detail(format!("Aggregate expression is illegal in {clause}"))
                    .at(place));
            }
        };
        let inner = Scope {
            aggregates: Aggregates::Refused("an aggregate function"),
            windows: Windows::Refused("an aggregate function"),
            selected: &[],
            ..*scope
        };
        let bound = bind(&inner).map_err(|mut e| {
            // Flink points at the outer one.
            if e.code == "nested-aggregate" && place.is_known() {
                e.span = Some(place);
            }
            e
        })?;
        if !bound.is_empty() && bound.iter().all(belongs_outside) {
            return Err(Error::unsupported("an aggregate function over columns of an outer query alone").at(place));
        }
        let filter = filter.map(|f| self.condition(f, &inner, "FILTER clause")).transpose()?;
        let may_be_empty = !grouped || filter.is_some();
        let (args, data_type) = aggregate_signature(function, bound, distinct, may_be_empty, place)?;
        let call = AggregateCall { function, args, distinct, filter, data_type, span: place };
        let mut calls = collected.borrow_mut();
        let position = calls.iter().position(|c| same_call(c, &call)).unwrap_or_else(|| {
            calls.push(call.clone());
            calls.len() - 1
        });
        let index = scope.namespace.fields.len() + usize::from(groups.is_some_and(Groups::several)) + position;
        Ok(Expr { kind: ExprKind::Column(index), data_type: call.data_type, span: place })
    }
}

/// The arguments of an aggregate function, as its signature asks for them, and the type of its result.
pub(super) fn aggregate_signature(
    function: &AggregateFunction,
    args: Vec<Expr>,
    distinct: bool,
    may_be_empty: bool,
    place: Span,
) -> Result<(Vec<Expr>, DataType)> {
    let signature = function
        .infer(&described(&args), distinct, may_be_empty)
        .map_err(|e| e.at(illegal_null(&args).unwrap_or_else(|| args.iter().fold(place, |all, a| all.to(a.span)))))?;
    Ok((cast(args, &signature.args), signature.returns))
}

pub(super) fn argument<'a>(arg: &'a ast::FunctionArg, name: &str, place: Span) -> Result<&'a ast::Expr> {
    match arg {
        ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(e)) => Ok(e),
        ast::FunctionArg::Unnamed(_) => {
            Err(Error::new("invalid-argument", format!("'*' is no argument of '{name}'")).at(place))
        }
        ast::FunctionArg::Named { .. } | ast::FunctionArg::ExprNamed { .. } => {
            Err(Error::unsupported("named arguments").at(place))
        }
    }
}

/// Whether an expression has columns, and all of them are an outer query's: such an aggregate would be that query's.
fn belongs_outside(expr: &Expr) -> bool {
    let (mut inside, mut outside) = (false, false);
    walk::any(expr, &mut |e| {
        inside |= matches!(e.kind, ExprKind::Column(_));
        outside |= matches!(e.kind, ExprKind::Outer { .. });
        inside
    });
    outside && !inside
}

fn same_call(a: &AggregateCall, b: &AggregateCall) -> bool {
    std::ptr::eq(a.function, b.function)
        && a.distinct == b.distinct
        && a.args.len() == b.args.len()
        && a.args.iter().zip(&b.args).all(|(a, b)| walk::same(a, b))
        && match (&a.filter, &b.filter) {
            (None, None) => true,
            (Some(a), Some(b)) => walk::same(a, b),
            _ => false,
        }
}

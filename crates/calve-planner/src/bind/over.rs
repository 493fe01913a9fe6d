//! Functions over windows: `f(..) OVER (PARTITION BY .. ORDER BY .. ROWS | RANGE ..)`, WINDOW and QUALIFY.

use calve_functions::aggregate;
use calve_sql::ast;
use calve_types::{Error, LogicalType, Result, Span, Value};

use super::call::{self, Call};
use super::order::orderable;
use super::scope::{Scope, Windows};
use super::{Binder, coerce, expr, span, walk};
use crate::expr::{Bound, Expr, ExprKind, Frame, OverCall, OverFunction, SortKey};
use crate::rel::{Field, Rel, RelKind};

/// The function of that name that exists only over windows.
pub(super) fn function_of(name: &str) -> Option<OverFunction> {
    use OverFunction::{CumeDist, DenseRank, Lag, Lead, Ntile, PercentRank, Rank, RowNumber};
    [RowNumber, Rank, DenseRank, PercentRank, CumeDist, Ntile, Lag, Lead]
        .into_iter()
        .find(|f| f.name().eq_ignore_ascii_case(name))
}

/// The refusal of IGNORE NULLS and RESPECT NULLS.
pub(super) fn null_treatment(nulls: &ast::NullTreatment, name: &str, place: Span) -> Error {
    Error::unsupported(format!("{nulls} after '{name}'"))
        .with_detail(format!("Cannot specify IGNORE NULLS or RESPECT NULLS following '{}'", name.to_ascii_uppercase()))
        .at(place)
}

/// A window as it is written: its own clauses and those of the window it extends.
#[derive(Clone, Copy, Default)]
struct Spec<'a> {
    partition: &'a [ast::Expr],
    order: &'a [ast::OrderByExpr],
    frame: Option<&'a ast::WindowFrame>,
}

fn not_over(place: Span) -> Error {
    Error::new("invalid-window", "OVER belongs to an aggregate or ranking function, without FILTER")
        .with_detail("OVER must be applied to aggregate function")
        .at(place)
}

fn invalid(detail: &str, place: Span) -> Error {
    Error::new("invalid-window", "the window's clauses do not fit together or the function")
        .with_detail(detail)
        .at(place)
}

impl Binder<'_> {
    /// `f(..) OVER ..`
    pub(super) fn over_call(
        &self,
        f: &ast::Function,
        window: &ast::WindowType,
        call: Call<'_>,
        args: &[ast::FunctionArg],
        scope: &Scope<'_>,
    ) -> Result<Expr> {
        let Call { name, distinct, filter, place } = call;
        let windows = match scope.windows {
            Windows::Allowed(windows) => windows,
            Windows::Refused("an aggregate function") => {
                return Err(Error::new("nested-aggregate", format!("'{name}' stands inside an aggregate function"))
                    .with_detail("Aggregate expressions cannot be nested")
                    .at(place));
            }
            Windows::Refused(clause) => {
                return Err(Error::new("misplaced-window", format!("'{name}' OVER cannot be used in the {clause}"))
                    .with_detail(format!("Windowed aggregate expression is illegal in {clause}"))
                    .with_hint("select it in a derived table and filter around it, or use QUALIFY")
                    .at(place));
            }
        };
        let function = match (function_of(name), aggregate(name)) {
            (Some(function), _) => function,
            (None, Some(function)) => OverFunction::Aggregate(function),
            (None, None) => {
                let known = calve_functions::scalar(name).is_some();
                return Err(if known { not_over(place) } else { call::unknown(name, None, place) });
            }
        };
        if filter.is_some() {
            return Err(not_over(place));
        }
        let batch = self.catalog.option("execution.runtime-mode").is_some_and(|m| m.eq_ignore_ascii_case("batch"));
        if distinct && batch {
            return Err(Error::unsupported("DISTINCT over a window in batch mode")
                .with_detail("Distinct not supported in Windowing function!")
                .at(place));
        }
        match (&f.null_treatment, function) {
            (None, _) | (Some(ast::NullTreatment::RespectNulls), OverFunction::Lag | OverFunction::Lead) => {}
            (Some(nulls), _) => return Err(null_treatment(nulls, name, place)),
        }
        let spec = match window {
            ast::WindowType::NamedWindow(window) => named(windows, window)?,
            ast::WindowType::WindowSpec(spec) => self.spec(spec, windows)?,
        };
        let inside = Scope { windows: Windows::Refused("window"), selected: &[], ..*scope };
        let mut partition: Vec<Expr> = Vec::new();
        for key in spec.partition {
            let key = self.value(key, &inside)?;
            orderable(&key)?;
            partition.push(key);
        }
        let mut order: Vec<SortKey> = Vec::new();
        for key in spec.order {
            let bound = self.value(&key.expr, &inside)?;
            orderable(&bound)?;
            let descending = key.options.asc == Some(false);
            let nulls_first = key.options.nulls_first.unwrap_or(!descending);
            order.push(SortKey { expr: bound, descending, nulls_first });
        }
        // What is the same for all rows orders nothing.
        let written = !order.is_empty();
        order.retain(|key| !matches!(key.expr.kind, ExprKind::Literal(_)));
        let mut call = OverCall {
            function,
            args: Vec::new(),
            partition,
            order,
            frame: Frame::ALL,
            distinct,
            data_type: LogicalType::BigInt.not_null(),
            span: place,
        };
        match function {
            OverFunction::Aggregate(_) => {
                self.over_aggregate(&mut call, args, spec, &inside)?;
            }
            _ => {
                check_ranking(&call, written, spec, window, self.clauses(spec, place))?;
                self.ranking(&mut call, args, &inside)?;
            }
        }
        let data_type = call.data_type.clone();
        Ok(Expr { kind: ExprKind::Over(Box::new(call)), data_type, span: place })
    }

    fn over_aggregate(
        &self,
        call: &mut OverCall,
        args: &[ast::FunctionArg],
        spec: Spec<'_>,
        scope: &Scope<'_>,
    ) -> Result<()> {
        let OverFunction::Aggregate(function) = call.function else { return Ok(()) };
        let place = call.span;
        let star = [ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Wildcard)];
        let mut bound = Vec::new();
        if args.is_empty() {
            return Err(wrong_count(call, "1"));
        }
        if !(function.name == "COUNT" && args == star) {
            for arg in args {
                bound.push(self.expr(call::argument(arg, function.name, place)?, scope)?);
            }
        }
        let sure = |bound: Option<&ast::WindowFrameBound>| {
            use ast::WindowFrameBound::{CurrentRow, Following, Preceding};
            matches!(bound, None | Some(CurrentRow | Preceding(None) | Following(None)))
        };
        let frame = spec.frame;
        let may_be_empty = !frame.is_none_or(|f| sure(Some(&f.start_bound)) && sure(f.end_bound.as_ref()));
        let (args, returns) = call::aggregate_signature(function, bound, call.distinct, may_be_empty, place)?;
        call.args = args;
        call.data_type = returns;
        if function.name == "ARRAY_AGG" {
            call.data_type.nullable = true;
        }
        call.frame = match frame {
            Some(frame) => self.frame(frame, call, scope)?,
            None => Frame { range: true, start: Bound::First, end: Bound::Current },
        };
        if call.order.is_empty() {
            call.frame = Frame::ALL;
        }
        Ok(())
    }

    fn ranking(&self, call: &mut OverCall, args: &[ast::FunctionArg], scope: &Scope<'_>) -> Result<()> {
        use OverFunction::{Aggregate, CumeDist, DenseRank, Lag, Lead, Ntile, PercentRank, Rank, RowNumber};
        let name = call.function.name();
        let mut bound = Vec::new();
        for arg in args {
            bound.push(self.expr(call::argument(arg, name, call.span)?, scope)?);
        }
        let whole = |e: &Expr| match e.kind {
            ExprKind::Literal(Value::Int(n)) => Some(n),
            _ => None,
        };
        match (call.function, bound.as_slice()) {
            (RowNumber | Rank | DenseRank, []) | (Aggregate(_), _) => {}
            (PercentRank | CumeDist, []) => call.data_type = LogicalType::Double.not_null(),
            (RowNumber | Rank | DenseRank | PercentRank | CumeDist, _) => return Err(wrong_count(call, "0")),
            (Ntile, [tiles]) => match whole(tiles) {
                Some(1..) => {}
                Some(_) => {
                    return Err(Error::new("division-by-zero", "NTILE needs at least one tile")
                        .with_detail("/ by zero")
                        .at(tiles.span));
                }
                None => {
                    return Err(Error::new("invalid-argument", "NTILE takes a whole number")
                        .with_detail("Argument to function 'NTILE' must be a literal")
                        .at(call.span));
                }
            },
            (Lag | Lead, [value, rest @ ..]) if rest.len() <= 2 => {
                if let Some(offset) = rest.first()
                    && whole(offset).is_none_or(|n| i32::try_from(n).is_err())
                {
                    if !offset.data_type.logical.is_numeric() {
                        return Err(not_applicable(call, &bound));
                    }
                    return Err(
                        Error::unsupported(format!("{name} by an offset that is no whole number")).at(offset.span)
                    );
                }
                // As in Flink the default decides, even where the value itself may be NULL.
                let nullable = rest.get(1).is_none_or(|d| d.data_type.nullable);
                call.data_type = value.data_type.with_nullable(nullable);
            }
            (Ntile | Lag | Lead, _) => return Err(wrong_count(call, "1")),
        }
        if bound.iter().any(|e| e.data_type.logical == LogicalType::Null) {
            return Err(expr::untyped_null(call.span));
        }
        let data_type = call.data_type.clone();
        call.args =
            bound.into_iter().enumerate().map(|(i, e)| if i == 2 { coerce::to(e, &data_type) } else { e }).collect();
        Ok(())
    }

    fn frame(&self, frame: &ast::WindowFrame, call: &OverCall, scope: &Scope<'_>) -> Result<Frame> {
        use ast::WindowFrameBound::{CurrentRow, Following, Preceding};
        let range = match frame.units {
            ast::WindowFrameUnits::Rows => false,
            ast::WindowFrameUnits::Range => true,
            ast::WindowFrameUnits::Groups => return Err(Error::unsupported("GROUPS").at(call.span)),
        };
        let bound = |bound: &ast::WindowFrameBound| -> Result<Bound> {
            Ok(match bound {
                CurrentRow => Bound::Current,
                Preceding(None) => Bound::First,
                Following(None) => Bound::Last,
                Preceding(Some(n)) => Bound::Offset(-self.offset(n, range, call, scope)?),
                Following(Some(n)) => Bound::Offset(self.offset(n, range, call, scope)?),
            })
        };
        let end = frame.end_bound.as_ref();
        let spec_end = call.order.last().map(|key| key.expr.span.start);
        let refused = match (&frame.start_bound, end) {
            (Following(None), _) => Some("UNBOUNDED FOLLOWING cannot be specified for the lower frame boundary"),
            (_, Some(Preceding(None))) => Some("UNBOUNDED PRECEDING cannot be specified for the upper frame boundary"),
            (CurrentRow, Some(Preceding(Some(_)))) => {
                Some("Upper frame boundary cannot be PRECEDING when lower boundary is CURRENT ROW")
            }
            (Following(_), Some(Preceding(_))) => {
                Some("Upper frame boundary cannot be PRECEDING when lower boundary is FOLLOWING")
            }
            (Following(_), Some(CurrentRow)) => {
                Some("Upper frame boundary cannot be CURRENT ROW when lower boundary is FOLLOWING")
            }
            _ => None,
        };
        if let Some(detail) = refused {
            let last = spec_end.map(|at| self.places.after(at, &["UNBOUNDED"]));
            let distance = match end {
                Some(Preceding(Some(n))) => expr::span_of(n),
                _ => last.flatten().map_or(Span::default(), |start| self.places.token(start)),
            };
            return Err(invalid(detail, distance).at(call.span));
        }
        let (start, end) = match (bound(&frame.start_bound)?, end.map(bound).transpose()?) {
            (start, Some(end)) => (start, end),
            // `ROWS n FOLLOWING` alone ends there.
            (Bound::Offset(n), None) if n > 0 => (Bound::Current, Bound::Offset(n)),
            (start, None) => (start, Bound::Current),
        };
        Ok(Frame { range, start, end })
    }

    /// How far a bound of a frame is away, in rows or in values of the order key.
    fn offset(&self, n: &ast::Expr, range: bool, call: &OverCall, scope: &Scope<'_>) -> Result<i64> {
        let value = self.expr(n, scope)?;
        let place = if value.span.is_known() { value.span } else { call.span };
        if !range {
            return match value.kind {
                ExprKind::Literal(Value::Int(rows @ 0..)) => Ok(rows),
                _ => Err(invalid("ROWS value must be a non-negative integral constant", place)),
            };
        }
        let words = || self.places.nearest(place.start, &["RANGE"], 12).map_or(place, |start| Span { start, ..place });
        let key = match call.order.as_slice() {
            [] => return Err(invalid("Window specification must contain an ORDER BY clause", place)),
            [key] => &key.expr.data_type.logical,
            _ => return Err(invalid("RANGE clause cannot be used with compound ORDER BY clause", words())),
        };
        let ExprKind::Literal(literal) = &value.kind else {
            return Err(Error::unsupported("RANGE by a distance that is no literal").at(place));
        };
        match distance(literal, &value.data_type.logical, key) {
            Distance::Of(n) => Ok(n),
            Distance::Unsupported => {
                Err(Error::unsupported(format!("RANGE by such a distance in values of type {key}")).at(place))
            }
            Distance::Mismatch => Err(invalid("Data Type mismatch between ORDER BY and RANGE clause", place)),
            Distance::Prohibited => Err(invalid("Data type of ORDER BY prohibits use of RANGE clause", place)),
        }
    }

    /// Where the clauses of a window begin: its frame, or the parenthesis before PARTITION BY.
    fn clauses(&self, spec: Spec<'_>, function: Span) -> Span {
        let first = spec.partition.first().map(|e| (expr::span_of(e), 3));
        let last = spec.order.last().map(|key| expr::span_of(&key.expr));
        let start = match (spec.frame, first, last) {
            (None, Some((first, count)), _) => self.places.nearest(first.start, &["("], count),
            (Some(_), _, Some(last)) => self.places.after(last.start, &["ROWS", "RANGE"]),
            _ => None,
        };
        let end = match spec.frame {
            None => spec.order.last().map(|key| &key.expr).or(spec.partition.last()).map(|e| expr::span_of(e).end),
            Some(_) => None,
        };
        let place = |start| self.places.token(start);
        start.map_or(function, |start| {
            end.map_or_else(|| place(start), |end| Span { start, end: end.max(place(start).end) })
        })
    }

    fn spec<'w>(&self, spec: &'w ast::WindowSpec, windows: &'w [ast::NamedWindowDefinition]) -> Result<Spec<'w>> {
        let own = Spec { partition: &spec.partition_by, order: &spec.order_by, frame: spec.window_frame.as_ref() };
        let Some(base) = &spec.window_name else { return Ok(own) };
        let base = named(windows, base)?;
        let conflict = |clause: &str| {
            let place = spec.window_name.as_ref().map(span::ident).unwrap_or_default();
            Error::new("invalid-window", format!("the window that is extended has {clause} already")).at(place)
        };
        if !own.partition.is_empty() {
            return Err(conflict("its PARTITION BY"));
        }
        if !own.order.is_empty() && !base.order.is_empty() {
            return Err(conflict("an ORDER BY"));
        }
        if base.frame.is_some() {
            return Err(conflict("a frame"));
        }
        if own.frame.is_some() {
            return Err(spec.window_name.as_ref().map_or_else(|| conflict("a frame"), frame_of_extended));
        }
        let order = if own.order.is_empty() { base.order } else { own.order };
        Ok(Spec { partition: base.partition, order, frame: own.frame })
    }

    /// Checks the WINDOW clause, also of windows that no call uses.
    pub(super) fn check_windows(&self, windows: &[ast::NamedWindowDefinition], scope: &Scope<'_>) -> Result<()> {
        let inside = Scope { windows: Windows::Refused("window"), selected: &[], ..*scope };
        for (i, ast::NamedWindowDefinition(name, _)) in windows.iter().enumerate() {
            if windows.iter().take(i).any(|ast::NamedWindowDefinition(other, _)| other.value == name.value) {
                return Err(Error::new("invalid-window", format!("two windows are called '{}'", name.value))
                    .with_detail("Duplicate window names not allowed")
                    .at(span::ident(name)));
            }
            let spec = named(windows, name)?;
            for e in spec.partition.iter().chain(spec.order.iter().map(|key| &key.expr)) {
                self.value(e, &inside)?;
            }
        }
        Ok(())
    }

    /// The condition of QUALIFY.
    ///
    /// # Errors
    /// `invalid-window` without a function over a window, and those of conditions.
    pub(super) fn qualify(&self, condition: &ast::Expr, scope: &Scope<'_>) -> Result<Expr> {
        let bound = self.condition(condition, scope, "QUALIFY clause")?;
        if !walk::any(&bound, &mut |e| matches!(e.kind, ExprKind::Over(_))) {
            return Err(Error::new("invalid-window", "QUALIFY needs a function over a window")
                .with_detail(format!("QUALIFY expression '{condition}' must contain a window function"))
                .with_hint("write WHERE for other conditions")
                .at(expr::span_of(condition)));
        }
        Ok(bound)
    }

    /// The input with a column for each function over a window that the expressions call; the calls become columns.
    pub(super) fn over_windows<'e>(&self, input: Rel, exprs: impl Iterator<Item = &'e mut Expr>) -> Result<Rel> {
        let mut calls: Vec<OverCall> = Vec::new();
        let width = input.fields.len();
        for e in exprs {
            extract(e, width, &mut calls)?;
        }
        if calls.is_empty() {
            return Ok(input);
        }
        let mut fields = input.fields.clone();
        fields.extend(
            calls.iter().enumerate().map(|(i, c)| Field { name: format!("w{i}$o0"), data_type: c.data_type.clone() }),
        );
        Ok(Rel { kind: RelKind::Over { input: Box::new(input), calls }, fields })
    }
}

/// A distance of RANGE, in the units of [`Bound::Offset`].
enum Distance {
    Of(i64),
    /// Flink takes it for something else than it is, or it is out of range.
    Unsupported,
    /// A number for a time, or the other way round.
    Mismatch,
    /// Values of the key have no distances.
    Prohibited,
}

fn distance(literal: &Value, of: &LogicalType, key: &LogicalType) -> Distance {
    const DAY: i64 = 86_400_000;
    let number = match (literal, of) {
        (Value::Int(n), _) => Some((i128::from(*n), 0)),
        (Value::Decimal(n), LogicalType::Decimal { scale, .. }) => Some((*n, *scale)),
        (Value::Double(_), _) => return Distance::Unsupported,
        _ => None,
    };
    // What is between two units of the key reaches no further value of it.
    let scaled = |digits: u8| match number {
        Some((n @ 0.., scale)) => {
            let n = match digits.checked_sub(scale) {
                Some(more) => 10_i128.checked_pow(more.into()).and_then(|by| n.checked_mul(by)),
                None => 10_i128.checked_pow((scale - digits).into()).map(|by| n / by),
            };
            n.and_then(|n| i64::try_from(n).ok()).map_or(Distance::Unsupported, Distance::Of)
        }
        Some(_) => Distance::Unsupported,
        None => Distance::Mismatch,
    };
    match (key, literal) {
        (key, _) if key.is_integer() => scaled(0),
        (LogicalType::Decimal { scale, .. }, _) => scaled(*scale),
        (LogicalType::Float | LogicalType::Double, _) => match number {
            Some((_, scale)) if scale > BILLIONTHS => Distance::Unsupported,
            _ => scaled(BILLIONTHS),
        },
        (LogicalType::Date, Value::Millis(n @ 0..)) => Distance::Of(n / DAY),
        (key, Value::Millis(n @ 0..)) if key.is_datetime() => Distance::Of(*n),
        (key, Value::Millis(_) | Value::Months(_)) if key.is_datetime() => Distance::Unsupported,
        (key, _) if key.is_datetime() => Distance::Mismatch,
        _ => Distance::Prohibited,
    }
}

/// Digits of a distance in FLOAT and DOUBLE.
const BILLIONTHS: u8 = 9;

/// Flink gives other rows than the frame asks for, without a word.
fn frame_of_extended(base: &ast::Ident) -> Error {
    Error::unsupported("a frame of a window that extends another one")
        .with_detail("Flink leaves out the frame of a window that names another window.")
        .with_hint("write the other window's clauses before the frame")
        .at(span::ident(base))
}

/// The window of that name, with what the windows it extends say.
fn named<'a>(windows: &'a [ast::NamedWindowDefinition], name: &ast::Ident) -> Result<Spec<'a>> {
    let mut spec = Spec::default();
    let mut name = name;
    // A window extends one that stands before it, so that this ends.
    let mut before = windows;
    loop {
        let Some(at) = before.iter().position(|ast::NamedWindowDefinition(other, _)| other.value == name.value) else {
            return Err(Error::new("invalid-window", format!("window '{}' not found", name.value))
                .with_detail(format!("Window '{}' not found", name.value))
                .at(span::ident(name)));
        };
        let Some(ast::NamedWindowDefinition(_, definition)) = before.get(at) else {
            return Err(Error::internal("no such window"));
        };
        before = before.get(..at).unwrap_or_default();
        match definition {
            ast::NamedWindowExpr::NamedWindow(other) => name = other,
            ast::NamedWindowExpr::WindowSpec(own) => {
                if !own.partition_by.is_empty() {
                    spec.partition = &own.partition_by;
                }
                if spec.order.is_empty() {
                    spec.order = &own.order_by;
                }
                spec.frame = spec.frame.or(own.window_frame.as_ref());
                match &own.window_name {
                    Some(base) if own.window_frame.is_some() => return Err(frame_of_extended(base)),
                    Some(base) => name = base,
                    None => return Ok(spec),
                }
            }
        }
    }
}

/// What Calcite and Flink ask of the windows of ranking functions.
fn check_ranking(
    call: &OverCall,
    ordered: bool,
    spec: Spec<'_>,
    window: &ast::WindowType,
    clauses: Span,
) -> Result<()> {
    use OverFunction::{CumeDist, DenseRank, PercentRank, Rank, RowNumber};
    let own = match window {
        ast::WindowType::NamedWindow(name) => span::ident(name),
        ast::WindowType::WindowSpec(_) => clauses,
    };
    if spec.frame.is_some() {
        return Err(invalid("ROW/RANGE not allowed with RANK, DENSE_RANK or ROW_NUMBER functions", own));
    }
    if !ordered && matches!(call.function, Rank | DenseRank | PercentRank | CumeDist) {
        return Err(invalid("RANK or DENSE_RANK functions require ORDER BY clause in window specification", own));
    }
    if call.order.is_empty() && matches!(call.function, RowNumber | Rank | DenseRank | PercentRank | CumeDist) {
        return Err(Error::new("invalid-window", format!("{} needs an ORDER BY of columns", call.function.name()))
            .with_detail(
                "Over Agg: The window rank function requires order by clause with non-constant fields. please re-check the over window statement.",
            )
            .at(call.span));
    }
    Ok(())
}

fn wrong_count(call: &OverCall, expected: &str) -> Error {
    let name = call.function.name();
    Error::new("invalid-argument", format!("'{name}' takes another number of arguments"))
        .with_detail(format!("Invalid number of arguments to function '{name}'. Was expecting {expected} arguments"))
        .at(call.span)
}

fn not_applicable(call: &OverCall, args: &[Expr]) -> Error {
    let name = call.function.name();
    let types: Vec<String> =
        args.iter().map(|a| format!("<{}>", calve_types::rules::sql_name(&a.data_type.logical))).collect();
    Error::new("invalid-argument", format!("the offset of {name} is a number"))
        .with_detail(format!(
            "Cannot apply '{name}' to arguments of type '{name}({})'. Supported form(s): '{name}(<ANY>)'\n'{name}(<ANY>, <NUMERIC>)'\n'{name}(<ANY>, <NUMERIC>, <ANY>)'",
            types.join(", ")
        ))
        .at(call.span)
}

/// Replaces the calls in an expression by columns after `width` others.
fn extract(e: &mut Expr, width: usize, calls: &mut Vec<OverCall>) -> Result<()> {
    super::nested(|| {
        if let ExprKind::Over(call) = &e.kind {
            let position = calls.iter().position(|c| walk::same_over(c, call)).unwrap_or_else(|| {
                calls.push((**call).clone());
                calls.len() - 1
            });
            e.kind = ExprKind::Column(width + position);
            return Ok(());
        }
        walk::children_mut(e, &mut |child| extract(child, width, calls))
    })
}

//! Windows in GROUP BY, Flink's older way: `GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)` with `TUMBLE_START(..)` and its kin.
//!
//! The rows get their windows as those of a window function in FROM do, as columns that have no names; GROUP BY groups by
//! them, and the auxiliary functions are these columns.

use calve_sql::ast;
use calve_types::{Error, LogicalType, Result, Span, rules};

use super::call::Call;
use super::scope::{Env, Namespace, Scope};
use super::window::{millis, windowed};
use super::{Binder, call, expr, names, walk};
use crate::expr::{Expr, ExprKind};
use crate::rel::{Field, Rel, RelKind, Window};
use crate::time::TimeAttribute;

/// A function that groups by windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Function {
    Tumble,
    Hop,
    Session,
}

impl Function {
    const ALL: [Self; 3] = [Self::Tumble, Self::Hop, Self::Session];

    fn name(self) -> &'static str {
        match self {
            Self::Tumble => "TUMBLE",
            Self::Hop => "HOP",
            Self::Session => "SESSION",
        }
    }

    /// The function's arguments: a time and so many intervals.
    fn intervals(self) -> usize {
        if self == Self::Hop { 2 } else { 1 }
    }

    fn window(self, lengths: &[i64]) -> Option<Window> {
        Some(match (self, lengths) {
            (Self::Tumble, [size]) => Window::Tumble { size: *size, offset: 0 },
            (Self::Hop, [slide, size]) => Window::Hop { slide: *slide, size: *size, offset: 0 },
            (Self::Session, [gap]) => Window::Session { gap: *gap },
            _ => return None,
        })
    }
}

/// What an auxiliary function tells of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Property {
    Start,
    End,
    Rowtime,
    Proctime,
}

/// The window of a GROUP BY, whose columns stand behind all others.
#[derive(Debug, Clone)]
pub(super) struct GroupWindow {
    function: Function,
    /// The call's arguments, over the columns before the window's.
    args: Vec<Expr>,
    /// Where the window's start is.
    start: usize,
}

/// The function that a call is, if it groups by windows.
fn function_of(e: &ast::Expr) -> Option<(Function, &ast::Function)> {
    let ast::Expr::Function(f) = e else { return None };
    let [part] = f.name.0.as_slice() else { return None };
    let name = part.as_ident()?;
    Function::ALL.into_iter().find(|w| w.name().eq_ignore_ascii_case(&name.value)).map(|w| (w, f))
}

/// The auxiliary function of that name.
fn property_of(name: &str) -> Option<(Function, Property)> {
    let (function, property) = name.split_once('_')?;
    let function = Function::ALL.into_iter().find(|w| w.name().eq_ignore_ascii_case(function))?;
    let all = [
        ("START", Property::Start),
        ("END", Property::End),
        ("ROWTIME", Property::Rowtime),
        ("PROCTIME", Property::Proctime),
    ];
    all.into_iter().find(|(n, _)| n.eq_ignore_ascii_case(property)).map(|(_, p)| (function, p))
}

impl Binder<'_> {
    /// The rows of a SELECT with the window that its GROUP BY names, if it names one.
    ///
    /// # Errors
    /// What Flink says of windows that are no windows; `not-supported` for what it does not run.
    pub(super) fn with_group_window(
        &self,
        input: Rel,
        mut namespace: Namespace,
        group_by: &ast::GroupByExpr,
        env: Env<'_>,
    ) -> Result<(Rel, Namespace)> {
        let ast::GroupByExpr::Expressions(items, _) = group_by else { return Ok((input, namespace)) };
        let mut found = items.iter().filter_map(|item| Some((item, function_of(item)?)));
        let Some((item, (function, f))) = found.next() else { return Ok((input, namespace)) };
        let place = expr::span_of(item);
        if found.next().is_some() {
            return Err(Error::unsupported("two windows in GROUP BY")
                .with_detail("Only a single window group function may be used in GROUP BY")
                .at(place));
        }
        let scope = Scope::new(env, &namespace, "GROUP BY clause");
        let args = self.window_arguments(function, f, &scope)?;
        check_arguments(function, &args, place)?;
        let (Some(time), Some(intervals)) = (args.first().cloned(), args.get(1..)) else {
            return Err(Error::internal("a window without time"));
        };
        let lengths = intervals.iter().map(millis).collect::<Result<Vec<_>>>()?;
        let window = function.window(&lengths).ok_or_else(|| Error::internal("a window without length"))?;
        if lengths.iter().any(|length| *length <= 0) {
            return Err(Error::new("invalid-window", "the length of a window is more than nothing").at(place));
        }
        if let (Window::Session { gap }, false) = (window, self.streaming()) {
            return Err(Error::unsupported("SESSION windows in batch mode")
                .with_detail(format!(
                    "Window SessionGroupWindow('w$, {}, {gap}) is not supported right now.",
                    name(&time, &namespace)
                ))
                .with_hint("SET 'execution.runtime-mode' = 'streaming'")
                .at(place));
        }
        let (input, column) = with_column(input, time.clone());
        if self.streaming() {
            match input.time(column) {
                Some(TimeAttribute::Rowtime) => {}
                Some(TimeAttribute::Proctime) => {
                    return Err(Error::unsupported("windows in processing time").at(place));
                }
                None => {
                    return Err(Error::new("no-time-attribute", "windows need a time attribute in streaming mode")
                        .with_detail(format!(
                            "Window aggregate can only be defined over a time attribute column, but {} encountered.",
                            time.data_type.logical
                        ))
                        .with_hint(super::window::no_attribute_hint(&input, !matches!(window, Window::Session { .. })))
                        .at(time.span));
                }
            }
        }
        let partition = self.session_keys(window, items, &scope, &input)?;
        let start = input.fields.len();
        let rel = windowed(input, (column, place), window, partition)?;
        namespace.fields.extend(rel.fields.iter().skip(namespace.fields.len()).cloned());
        namespace.group_window = Some(Box::new(GroupWindow { function, args, start }));
        Ok((rel, namespace))
    }

    /// The other keys of a GROUP BY: each has sessions of its own.
    fn session_keys(&self, window: Window, items: &[ast::Expr], scope: &Scope<'_>, input: &Rel) -> Result<Vec<usize>> {
        if !matches!(window, Window::Session { .. }) {
            return Ok(vec![]);
        }
        let mut columns = vec![];
        for item in items.iter().filter(|item| function_of(item).is_none()) {
            let key = self.value(item, scope)?;
            match key.kind {
                ExprKind::Column(column) if column < input.fields.len() => columns.push(column),
                _ => {
                    return Err(Error::unsupported("GROUP BY SESSION(..) and something else than columns")
                        .with_hint("compute it in a subquery first")
                        .at(key.span));
                }
            }
        }
        Ok(columns)
    }

    fn window_arguments(&self, function: Function, f: &ast::Function, scope: &Scope<'_>) -> Result<Vec<Expr>> {
        let ast::FunctionArguments::List(list) = &f.args else { return Ok(vec![]) };
        let place = names::span_of(&f.name);
        list.args.iter().map(|arg| self.expr(call::argument(arg, function.name(), place)?, scope)).collect()
    }

    /// The columns of the window, if a key of GROUP BY is one.
    ///
    /// # Errors
    /// `not-supported` for a window where rows are grouped in several ways.
    pub(super) fn window_keys(&self, key: &ast::Expr, scope: &Scope<'_>) -> Result<Option<Vec<Expr>>> {
        let Some((function, f)) = function_of(key) else { return Ok(None) };
        let place = expr::span_of(key);
        let Some(window) = scope.namespace.group_window.as_deref() else {
            return Err(Error::unsupported("a window in GROUPING SETS, ROLLUP or CUBE")
                .with_detail(format!("Unsupported call: ${}", function.name()))
                .with_hint(format!("write TABLE({}(TABLE .., DESCRIPTOR(..), ..)) in FROM", function.name()))
                .at(place));
        };
        let _ = f;
        let columns = (window.start..window.start + 3).map(|column| scope.namespace.field(column, place));
        Ok(Some(columns.collect()))
    }

    /// `TUMBLE_START(..)` and its kin, if the function is one of them.
    pub(super) fn window_property(&self, call: Call<'_>, f: &ast::Function, scope: &Scope<'_>) -> Option<Result<Expr>> {
        if let Some(function) = Function::ALL.into_iter().find(|w| w.name().eq_ignore_ascii_case(call.name)) {
            let name = function.name();
            return Some(Err(Error::new("misplaced-window", format!("'{name}' stands outside of GROUP BY and FROM"))
                .with_detail(format!("Group function '${name}' can only appear in GROUP BY clause"))
                .at(call.place)));
        }
        let (function, property) = property_of(call.name)?;
        Some(self.property(function, property, call, f, scope))
    }

    fn property(
        &self,
        function: Function,
        property: Property,
        call: Call<'_>,
        f: &ast::Function,
        scope: &Scope<'_>,
    ) -> Result<Expr> {
        let args = self.window_arguments(function, f, scope)?;
        let name = call.name.to_ascii_uppercase();
        let Some(window) = scope.namespace.group_window.as_deref() else {
            let types: Vec<String> = args.iter().map(|a| a.data_type.to_string()).collect();
            return Err(Error::new("misplaced-window", format!("'{name}' needs a GROUP BY {}(..)", function.name()))
                .with_detail(format!(
                    "Unsupported call: {name}({}) \nIf you think this function should be supported, you can create an issue and start a discussion for it.",
                    types.join(", ")
                ))
                .at(call.place));
        };
        let same = window.args.len() == args.len() && window.args.iter().zip(&args).all(|(a, b)| walk::same(a, b));
        if window.function != function || !same {
            return Err(Error::new("misplaced-window", format!("'{name}' is not of the window of the GROUP BY"))
                .with_detail(format!(
                    "Call to auxiliary group function '{name}' must have matching call to group function '${}' in GROUP BY clause",
                    function.name()
                ))
                .with_hint("repeat the arguments as they are in GROUP BY")
                .at(expr::span_of(&ast::Expr::Function(f.clone()))));
        }
        let (column, nullable) = match property {
            Property::Start => (window.start, false),
            Property::End => (window.start + 1, false),
            Property::Rowtime => (window.start + 2, true),
            Property::Proctime => {
                let error = Error::unsupported("windows in processing time").at(call.place);
                return Err(if self.streaming() {
                    error
                } else {
                    error.with_detail("PROCTIME window property is not supported in batch queries.")
                });
            }
        };
        let mut value = scope.namespace.field(column, call.place);
        value.data_type.nullable |= nullable;
        Ok(value)
    }
}

/// The relation with an expression as one of its columns.
fn with_column(input: Rel, value: Expr) -> (Rel, usize) {
    if let ExprKind::Column(column) = value.kind {
        return (input, column);
    }
    let mut fields = input.fields.clone();
    let mut exprs: Vec<Expr> = vec![];
    for (i, field) in fields.iter().enumerate() {
        exprs.push(Expr { kind: ExprKind::Column(i), data_type: field.data_type.clone(), span: Span::default() });
    }
    let column = exprs.len();
    fields.push(Field { name: "$time".to_owned(), data_type: value.data_type.clone() });
    exprs.push(value);
    (Rel { kind: RelKind::Project { input: Box::new(input), exprs }, fields }, column)
}

fn name(time: &Expr, namespace: &Namespace) -> String {
    match time.kind {
        ExprKind::Column(column) => namespace.fields.get(column).map(|f| f.name.clone()).unwrap_or_default(),
        _ => "$f0".to_owned(),
    }
}

fn check_arguments(function: Function, args: &[Expr], place: Span) -> Result<()> {
    let name = function.name();
    let expected = 1 + function.intervals();
    if args.len() < expected || args.len() > expected + 1 {
        return Err(Error::new("invalid-argument", format!("'{name}' takes {expected} arguments"))
            .with_detail(format!(
                "Invalid number of arguments to function '${name}'. Was expecting {expected} arguments"
            ))
            .at(place));
    }
    let is_time = |e: &Expr| matches!(e.data_type.logical, LogicalType::Timestamp(_) | LogicalType::TimestampLtz(_));
    let intervals = args.iter().skip(1).take(function.intervals()).all(|e| e.data_type.logical.is_interval());
    let aligned = args.get(expected).is_none_or(|e| matches!(e.data_type.logical, LogicalType::Time(_)));
    if !args.first().is_some_and(is_time) || !intervals || !aligned {
        let types: Vec<String> = args.iter().map(|e| format!("<{}>", rules::sql_name(&e.data_type.logical))).collect();
        let form = format!("${name}(<DATETIME>{}", ", <DATETIME_INTERVAL>".repeat(function.intervals()));
        return Err(Error::new("invalid-argument", format!("'{name}' takes a timestamp and intervals"))
            .with_detail(format!(
                "Cannot apply '${name}' to arguments of type '${name}({})'. Supported form(s): '{form})'\n'{form}, <TIME>)'",
                types.join(", ")
            ))
            .at(place));
    }
    if args.len() > expected {
        return Err(Error::unsupported("the alignment of windows")
            .with_detail(format!("{name} window with alignment is not supported yet."))
            .at(place));
    }
    Ok(())
}

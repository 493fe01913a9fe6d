//! Windows in FROM: `TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR))` and its like.

use calve_sql::ast;
use calve_types::{DataType, Error, LogicalType, Result, Span, Value, rules};

use super::from::{Source, derived};
use super::scope::{Env, Namespace, Scope};
use super::{Binder, expr, names, span};
use crate::expr::{Expr, ExprKind};
use crate::rel::{Field, Rel, RelKind, Window};
use crate::time::TimeAttribute;

/// A function that gives rows windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Function {
    Tumble,
    Hop,
    Cumulate,
    Session,
}

impl Function {
    fn of(name: &str) -> Option<Self> {
        [Self::Tumble, Self::Hop, Self::Cumulate, Self::Session]
            .into_iter()
            .find(|f| f.name().eq_ignore_ascii_case(name))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Tumble => "TUMBLE",
            Self::Hop => "HOP",
            Self::Cumulate => "CUMULATE",
            Self::Session => "SESSION",
        }
    }

    /// The names of its arguments; the last one may be left out but for a session's.
    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Tumble => &["DATA", "TIMECOL", "SIZE", "OFFSET"],
            Self::Hop => &["DATA", "TIMECOL", "SLIDE", "SIZE", "OFFSET"],
            Self::Cumulate => &["DATA", "TIMECOL", "STEP", "SIZE", "OFFSET"],
            Self::Session => &["DATA", "TIMECOL", "GAP"],
        }
    }

    /// How many arguments there must be.
    fn least(self) -> usize {
        self.arguments().len() - usize::from(self != Self::Session)
    }

    /// As Flink's messages describe it.
    fn form(self) -> &'static str {
        match self {
            Self::Tumble => "TUMBLE(TABLE table_name, DESCRIPTOR(timecol), datetime interval[, datetime interval])",
            Self::Hop => {
                "HOP(TABLE table_name, DESCRIPTOR(timecol), datetime interval, datetime interval[, datetime interval])"
            }
            Self::Cumulate => {
                "CUMULATE(TABLE table_name, DESCRIPTOR(timecol), datetime interval, datetime interval[, datetime interval])"
            }
            Self::Session => {
                "SESSION(TABLE table_name [PARTITION BY (keycols, ...)], DESCRIPTOR(timecol), datetime interval)"
            }
        }
    }

    fn window(self, lengths: &[i64]) -> Option<Window> {
        let offset = |i: usize| lengths.get(i).copied().unwrap_or(0);
        Some(match (self, lengths) {
            (Self::Tumble, [size, ..]) => Window::Tumble { size: *size, offset: offset(1) },
            (Self::Hop, [slide, size, ..]) => Window::Hop { slide: *slide, size: *size, offset: offset(2) },
            (Self::Cumulate, [step, size, ..]) => Window::Cumulate { step: *step, size: *size, offset: offset(2) },
            (Self::Session, [gap, ..]) => Window::Session { gap: *gap },
            _ => return None,
        })
    }
}

/// A call of a function in FROM.
pub(super) struct TableCall<'a> {
    /// Its name.
    pub name: &'a ast::ObjectName,
    /// Its arguments.
    pub args: &'a [ast::FunctionArg],
    /// The whole call.
    pub place: Span,
}

impl<'a> TableCall<'a> {
    /// The call that an expression is.
    pub fn of(e: &'a ast::Expr) -> Option<Self> {
        let ast::Expr::Function(f) = e else { return None };
        let ast::FunctionArguments::List(list) = &f.args else { return None };
        Some(Self { name: &f.name, args: &list.args, place: expr::span_of(e) })
    }
}

impl Binder<'_> {
    /// The rows of a window function, or `None` if it is another function.
    ///
    /// # Errors
    /// What Flink says of wrong arguments.
    pub(super) fn window_function(
        &self,
        call: &TableCall<'_>,
        alias: Option<&ast::TableAlias>,
        env: Env<'_>,
    ) -> Result<Option<Source>> {
        let Ok([name]) = <[&ast::Ident; 1]>::try_from(names::parts(call.name)?) else { return Ok(None) };
        let Some(function) = Function::of(&name.value) else { return Ok(None) };
        let args = ordered(function, call)?;
        let [data, time, lengths @ ..] = args.as_slice() else { return Err(wrong_count(function, call.place)) };
        let (rel, partition) = self.data(function, data, call, env)?;
        let Some(time) = descriptor(time, &rel)? else {
            // a column is no DESCRIPTOR, but Flink looks for it first
            let namespace = Namespace::default();
            self.expr(time, &Scope::new(env, &namespace, "window function")).map_err(|e| match name_of(time) {
                Some(name) => e.with_hint(format!("write DESCRIPTOR({name})")),
                None => e,
            })?;
            return Err(inapplicable(function, &rel, &["?".to_owned()], call.place));
        };
        let lengths = self.lengths(function, lengths, &rel, call, env)?;
        self.check_time(function, &rel, time)?;
        let window = function.window(&lengths).ok_or_else(|| wrong_count(function, call.place))?;
        check(window, call.place)?;
        if matches!(window, Window::Session { .. }) && !self.streaming() {
            return Err(Error::unsupported("SESSION windows in batch mode")
                .with_detail("Unaligned windows like session are not supported in batch mode yet.")
                .with_hint("SET 'execution.runtime-mode' = 'streaming'")
                .at(call.place));
        }
        derived(windowed(rel, (time.0, call.place), window, partition)?, None, alias).map(Some)
    }

    /// The table that a function reads, and the columns of its PARTITION BY.
    fn data(
        &self,
        function: Function,
        data: &ast::Expr,
        call: &TableCall<'_>,
        env: Env<'_>,
    ) -> Result<(Rel, Vec<usize>)> {
        match data {
            ast::Expr::Subquery(query) => Ok((self.query(query, env)?.rel, vec![])),
            ast::Expr::Function(f) if is_word(&f.name, "TABLE") => {
                let (rel, names) = self.table_argument(f, env)?;
                let partition = match &f.over {
                    Some(ast::WindowType::WindowSpec(spec)) => self.partition(function, spec, &names, call, env)?,
                    _ => vec![],
                };
                Ok((rel, partition))
            }
            other => {
                let namespace = Namespace::default();
                let value =
                    self.expr(other, &Scope::new(env, &namespace, "window function")).map_err(|e| {
                        match name_of(other) {
                            Some(name) => e.with_hint(format!("write TABLE {name}")),
                            None => e,
                        }
                    })?;
                let name = rules::sql_name(&value.data_type.logical);
                Err(Error::new("invalid-argument", format!("{} takes a table", function.name()))
                    .with_detail(format!(
                        "Cannot apply '{0}' to arguments of type '{0}(<{name}>)'. Supported form(s): {1}",
                        function.name(),
                        function.form()
                    ))
                    .with_hint(format!("write {}", function.form()))
                    .at(call.place))
            }
        }
    }

    fn partition(
        &self,
        function: Function,
        spec: &ast::WindowSpec,
        names: &Namespace,
        call: &TableCall<'_>,
        env: Env<'_>,
    ) -> Result<Vec<usize>> {
        if function != Function::Session || !spec.order_by.is_empty() {
            let (clause, verb) =
                if spec.partition_by.is_empty() { ("ORDER BY", "ordered") } else { ("PARTITION BY", "partitioned") };
            return Err(Error::new("invalid-argument", format!("{} takes no {clause}", function.name()))
                .with_detail(format!(
                    "Only tables with set semantics may be {verb}. Invalid {clause} clause in the 0-th operand of table function '{}'",
                    function.name()
                ))
                .at(call.place));
        }
        let scope = Scope::new(env, names, "PARTITION BY clause");
        let column = |e: &ast::Expr| match self.expr(e, &scope)?.kind {
            ExprKind::Column(column) => Ok(column),
            _ => Err(Error::unsupported("a SESSION PARTITION BY something else than columns").at(expr::span_of(e))),
        };
        spec.partition_by.iter().map(column).collect()
    }

    /// The arguments that say how long windows are, in milliseconds.
    fn lengths(
        &self,
        function: Function,
        args: &[&ast::Expr],
        rel: &Rel,
        call: &TableCall<'_>,
        env: Env<'_>,
    ) -> Result<Vec<i64>> {
        let namespace = Namespace::default();
        let scope = Scope::new(env, &namespace, "window function");
        let bound = args.iter().map(|e| self.expr(e, &scope)).collect::<Result<Vec<_>>>()?;
        if bound.iter().any(|e| !e.data_type.logical.is_interval()) {
            let types: Vec<String> = bound.iter().map(|e| rules::sql_name(&e.data_type.logical)).collect();
            return Err(inapplicable(function, rel, &types, call.place));
        }
        bound.iter().map(millis).collect()
    }

    /// Whether a column has the times of rows.
    fn check_time(&self, function: Function, rel: &Rel, (column, place): (usize, Span)) -> Result<()> {
        let field = rel.fields.get(column).ok_or_else(|| Error::internal("no column of times"))?;
        let is_timestamp = matches!(field.data_type.logical, LogicalType::Timestamp(_) | LogicalType::TimestampLtz(_));
        let attribute = rel.time(column);
        if attribute == Some(TimeAttribute::Proctime) && !self.streaming() {
            return Err(Error::unsupported("windows in processing time in batch mode")
                .with_detail("Processing time Window TableFunction is not supported yet.")
                .at(place));
        }
        if is_timestamp && (attribute.is_some() || !self.streaming()) {
            return Ok(());
        }
        if is_timestamp {
            return Err(Error::new("no-time-attribute", format!("column '{}' is no time attribute", field.name))
                .with_detail(format!(
                    "The window function requires the timecol is a time attribute type, but is {}.",
                    field.data_type.logical
                ))
                .with_hint(no_attribute_hint(rel, function != Function::Session))
                .at(place));
        }
        let mut its_type = rules::sql_name(&field.data_type.logical);
        if let Some(attribute) = rel.printed_time(column) {
            its_type = format!("{its_type} {attribute}");
        }
        let detail = format!(
            "The window function {} requires the timecol to be TIMESTAMP or TIMESTAMP_LTZ, but is {its_type}.\nBesides, the timecol must be a time attribute type in streaming mode.",
            function.form()
        );
        let error = Error::new(
            "type-mismatch",
            format!("column '{}' is {}, no timestamp", field.name, field.data_type.logical),
        );
        Err(error.with_detail(detail).at(place))
    }
}

/// The way out where a timestamp is no time attribute in streaming mode: a WATERMARK, where a table can have one, or
/// batch mode, where it runs what is asked for.
pub(super) fn no_attribute_hint(rel: &Rel, batch_runs_it: bool) -> &'static str {
    match (is_iceberg(rel), batch_runs_it) {
        (true, true) => {
            "SET 'execution.runtime-mode' = 'batch', where any timestamp will do: an Iceberg table holds no WATERMARK"
        }
        (true, false) => "an Iceberg table holds no WATERMARK, and batch mode has no SESSION windows",
        (false, true) => {
            "declare WATERMARK FOR it in its table and use it as it is, or SET 'execution.runtime-mode' = 'batch', where \
             any timestamp will do"
        }
        (false, false) => "declare WATERMARK FOR it in its table, and use it as it is",
    }
}

/// Whether the rows are those of one Iceberg table, which has no definition of Flink's, with a connector.
fn is_iceberg(mut rel: &Rel) -> bool {
    loop {
        match &rel.kind {
            RelKind::Scan { table, .. } => {
                return table.options.get("connector").is_none_or(|connector| connector == "iceberg");
            }
            RelKind::Project { input, .. } | RelKind::Watermark { input, .. } | RelKind::Filter { input, .. } => {
                rel = input;
            }
            _ => return false,
        }
    }
}

/// The rows of a relation with the windows of a column of times; a call of a function says which.
///
/// # Errors
/// `invalid-window` for windows of which a row would fall into too many.
pub(super) fn windowed(rel: Rel, (time, place): (usize, Span), window: Window, partition: Vec<usize>) -> Result<Rel> {
    if window.overlap() > Window::MOST {
        let (name, step, shift) = match window {
            Window::Cumulate { step, .. } => ("CUMULATE", step, "step"),
            Window::Hop { slide, .. } => ("HOP", slide, "slide"),
            Window::Tumble { size, .. } => ("TUMBLE", size, "size"),
            Window::Session { gap } => ("SESSION", gap, "gap"),
        };
        return Err(Error::new(
            "invalid-window",
            format!("each row falls into {} windows of {name}, and {} is the most", window.overlap(), Window::MOST),
        )
        .with_hint(format!("take a {shift} longer than {step} ms, or shorter windows"))
        .at(place));
    }
    let time_type = &rel.fields.get(time).ok_or_else(|| Error::internal("no column of times"))?.data_type.logical;
    let time_type = time_type.clone();
    let mut fields = rel.fields.clone();
    let bound = LogicalType::Timestamp(3);
    for (name, logical) in [("window_start", bound.clone()), ("window_end", bound), ("window_time", time_type)] {
        fields.push(Field { name: name.to_owned(), data_type: logical.not_null() });
    }
    Ok(Rel { kind: RelKind::Windows { input: Box::new(rel), time, window, partition, watermark: None }, fields })
}

/// A literal interval in milliseconds.
///
/// # Errors
/// `not-supported` for months, with Flink's sentence, and for what is no literal.
pub(super) fn millis(e: &Expr) -> Result<i64> {
    match e.kind {
        ExprKind::Literal(Value::Millis(millis)) => Ok(millis),
        ExprKind::Literal(Value::Months(_)) => Err(Error::unsupported("windows of months or years")
            .with_detail(
                "Window aggregate only support SECOND, MINUTE, HOUR, DAY as the time unit. MONTH and YEAR time unit are not supported yet.",
            )
            .at(e.span)),
        _ => Err(Error::unsupported("a window whose length is no literal interval").at(e.span)),
    }
}

/// Flink's rules for lengths.
///
/// # Errors
/// `invalid-window`.
pub(super) fn check(window: Window, place: Span) -> Result<()> {
    let detail = match window {
        Window::Tumble { size, .. } if size <= 0 => {
            format!("TUMBLE table function based aggregate requires size to be positive, but got {size} ms.")
        }
        Window::Tumble { size, offset } if offset.unsigned_abs() >= size.unsigned_abs() => {
            format!(
                "TUMBLE table function parameters must satisfy abs(offset) < size, but got size {size} ms and offset {offset} ms."
            )
        }
        Window::Hop { slide, size, .. } if slide <= 0 || size <= 0 => format!(
            "HOP table function based aggregate requires slide and size to be positive, but got slide {slide} ms and size {size} ms."
        ),
        Window::Cumulate { step, size, .. } if step <= 0 || size <= 0 => format!(
            "CUMULATE table function based aggregate requires maxSize and step to be positive, but got maxSize {size} ms and step {step} ms."
        ),
        Window::Cumulate { step, size, .. } if size % step != 0 => format!(
            "CUMULATE table function based aggregate requires maxSize must be an integral multiple of step, but got maxSize {size} ms and step {step} ms."
        ),
        Window::Session { gap } if gap <= 0 => {
            format!("SESSION table function based aggregate requires gap to be positive, but got {gap} ms.")
        }
        _ => return Ok(()),
    };
    Err(Error::new("invalid-window", "the lengths of the windows do not fit").with_detail(detail).at(place))
}

/// Flink aggregates hopping windows by slices, which must fit; their rows alone it gives for any lengths.
///
/// # Errors
/// `invalid-window`.
pub(super) fn check_aggregate(rel: &Rel, place: Span) -> Result<()> {
    if !rel.is_window_aggregate() {
        return Ok(());
    }
    let mut below = rel;
    while let RelKind::Aggregate { input, .. }
    | RelKind::Project { input, .. }
    | RelKind::Filter { input, .. }
    | RelKind::Expand { input, .. } = &below.kind
    {
        below = input;
    }
    match below.kind {
        RelKind::Windows { window: Window::Hop { slide, size, .. }, .. } if size.checked_rem(slide) != Some(0) => {
            Err(Error::new("invalid-window", "the lengths of the windows do not fit")
                .with_detail(format!(
                    "HOP table function based aggregate requires size must be an integral multiple of slide, but got size {size} ms and slide {slide} ms"
                ))
                .at(place))
        }
        _ => Ok(()),
    }
}

/// The arguments in the order of the function's parameters.
fn ordered<'a>(function: Function, call: &TableCall<'a>) -> Result<Vec<&'a ast::Expr>> {
    let parameters = function.arguments();
    let mut args: Vec<Option<&ast::Expr>> = vec![None; parameters.len()];
    let mut count = 0;
    for (i, arg) in call.args.iter().enumerate() {
        let (at, value) = match arg {
            ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(e)) => (Some(i), e),
            ast::FunctionArg::Named { name, arg: ast::FunctionArgExpr::Expr(e), .. } => {
                (parameters.iter().position(|p| p.eq_ignore_ascii_case(&name.value)), e)
            }
            _ => return Err(wrong_count(function, call.place)),
        };
        let slot = at.and_then(|at| args.get_mut(at)).ok_or_else(|| wrong_count(function, call.place))?;
        if slot.replace(value).is_some() {
            return Err(wrong_count(function, call.place));
        }
        count += 1;
    }
    let args: Vec<&ast::Expr> = args.into_iter().map_while(|arg| arg).collect();
    if args.len() < function.least() || args.len() != count {
        return Err(wrong_count(function, call.place));
    }
    Ok(args)
}

fn wrong_count(function: Function, place: Span) -> Error {
    let (name, least) = (function.name(), function.least());
    Error::new("invalid-argument", format!("'{name}' takes other arguments"))
        .with_detail(format!("Invalid number of arguments to function '{name}'. Was expecting {least} arguments"))
        .with_hint(format!("write {}", function.form()))
        .at(place)
}

fn inapplicable(function: Function, rel: &Rel, rest: &[String], place: Span) -> Error {
    let name = function.name();
    let record: Vec<String> =
        rel.fields.iter().enumerate().map(|(i, f)| column_type(rel, i, &f.data_type, &f.name)).collect();
    let types: Vec<String> = rest.iter().map(|t| format!(", <{t}>")).collect();
    Error::new("invalid-argument", format!("'{name}' takes other arguments"))
        .with_detail(format!(
            "Cannot apply '{name}' to arguments of type '{name}(<RECORDTYPE({})>, <COLUMN_LIST>{})'. Supported form(s): {}",
            record.join(", "),
            types.concat(),
            function.form()
        ))
        .with_hint(format!("write {}", function.form()))
        .at(place)
}

/// A column as Flink's messages print those of a row.
fn column_type(rel: &Rel, column: usize, data_type: &DataType, name: &str) -> String {
    let attribute = rel.printed_time(column).map(|a| format!(" {a}")).unwrap_or_default();
    format!("{}{attribute} {}", rules::sql_name(&data_type.logical), name.to_uppercase())
}

fn is_word(name: &ast::ObjectName, word: &str) -> bool {
    matches!(name.0.as_slice(), [part] if part.as_ident().is_some_and(|i| i.quote_style.is_none() && i.value.eq_ignore_ascii_case(word)))
}

/// The column that `DESCRIPTOR(c)` names, and its place; `None` for something else.
///
/// # Errors
/// `unknown-column`.
fn descriptor(e: &ast::Expr, rel: &Rel) -> Result<Option<(usize, Span)>> {
    let ast::Expr::Function(f) = e else { return Ok(None) };
    let ast::FunctionArguments::List(list) = &f.args else { return Ok(None) };
    if !is_word(&f.name, "DESCRIPTOR") {
        return Ok(None);
    }
    let mut first = None;
    for arg in &list.args {
        let ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(ast::Expr::Identifier(name))) = arg else {
            return Ok(None);
        };
        let place = span::ident(name);
        let Some(column) = rel.fields.iter().position(|f| f.name == name.value) else {
            let error = Error::new("unknown-column", format!("column '{}' not found", name.value))
                .with_detail(format!("Unknown identifier '{}'", name.value));
            return Err(names::did_you_mean(error, &name.value, rel.fields.iter().map(|f| f.name.as_str())).at(place));
        };
        first.get_or_insert((column, place));
    }
    Ok(first)
}

impl Binder<'_> {
    /// `TABLE name`.
    fn table_argument(&self, table: &ast::Function, env: Env<'_>) -> Result<Source> {
        let name = argument(table).ok_or_else(|| Error::internal("TABLE without a name"))?;
        self.named_table(&name, None, env)
    }

    /// Whether statements run in streaming mode, which is Flink's default.
    pub(super) fn streaming(&self) -> bool {
        let mode = self.catalog.option("execution.runtime-mode");
        !mode.is_some_and(|mode| mode.eq_ignore_ascii_case("batch"))
    }
}

/// The dotted name that an expression is.
fn name_of(e: &ast::Expr) -> Option<ast::ObjectName> {
    match e {
        ast::Expr::Identifier(name) => Some(ast::ObjectName::from(vec![name.clone()])),
        ast::Expr::CompoundIdentifier(parts) => Some(ast::ObjectName::from(parts.clone())),
        _ => None,
    }
}

/// The name of a table that is a function's argument: `TABLE name`.
pub(crate) fn table_in_argument(e: &ast::Expr) -> Option<ast::ObjectName> {
    match e {
        ast::Expr::Function(f) if is_word(&f.name, "TABLE") => argument(f),
        _ => None,
    }
}

/// The only argument, a name.
fn argument(f: &ast::Function) -> Option<ast::ObjectName> {
    let ast::FunctionArguments::List(list) = &f.args else { return None };
    match list.args.as_slice() {
        [ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(e))] => name_of(e),
        _ => None,
    }
}

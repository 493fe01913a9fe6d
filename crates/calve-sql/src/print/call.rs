//! Calls of functions, windows and sort orders.

use sqlparser::ast::{
    DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, NullTreatment, ObjectNamePart,
    OrderByExpr, WindowFrame, WindowFrameBound, WindowSpec, WindowType,
};

use super::{Printer, Style, functions, types};
use crate::json::{JsonBehavior, JsonClauses, JsonOnNull, JsonWrapper, json_clauses};
use crate::statement::DIFFERENCE;

impl Printer<'_> {
    pub(super) fn function(&mut self, function: &Function) {
        if let Some(clauses) = json_clauses(function) {
            self.json(function, &clauses);
            return;
        }
        if self.clause(function) {
            return;
        }
        let name = match function.name.0.as_slice() {
            [ObjectNamePart::Identifier(name)] if name.quote_style.is_none() => {
                functions::resolved(&name.value, self.style)
            }
            _ => None,
        };
        let own = function.name.to_string();
        let is_map = own == "MAP" || own == "MULTISET";
        if let (Some(name), Style::Column, [argument]) = (&name, self.style, arguments(function).as_slice())
            && let Some(field) = functions::extracted(name)
        {
            self.text(&format!("EXTRACT({field} FROM "));
            self.expr(argument);
            self.text(")");
            return;
        }
        match &name {
            Some(name) => self.text(name),
            None if is_map || ["ROW", "ROLLUP", "CUBE"].iter().any(|word| own.eq_ignore_ascii_case(word)) => {
                self.text(&own.to_ascii_uppercase());
            }
            None => self.object_name(&function.name),
        }
        self.function_arguments(function, is_map, matches!(name.as_deref(), Some("TIMESTAMPADD" | "TIMESTAMPDIFF")));
        if !function.within_group.is_empty() {
            self.text(" WITHIN GROUP (ORDER BY ");
            self.order_by(&function.within_group);
            self.text(")");
        }
        if let Some(filter) = &function.filter {
            self.text(" FILTER (WHERE ");
            self.expr(filter);
            self.text(")");
        }
        match function.null_treatment {
            Some(NullTreatment::IgnoreNulls) => self.text(" IGNORE NULLS"),
            Some(NullTreatment::RespectNulls) => self.text(" RESPECT NULLS"),
            None => {}
        }
        match &function.over {
            Some(WindowType::WindowSpec(window)) => {
                self.text(" OVER ");
                self.window(window);
            }
            Some(WindowType::NamedWindow(name)) => {
                self.text(" OVER ");
                self.name(name);
            }
            None => {}
        }
    }

    fn function_arguments(&mut self, function: &Function, is_map: bool, unit_first: bool) {
        let list = match &function.args {
            FunctionArguments::None => return,
            FunctionArguments::Subquery(query) => {
                self.text("(");
                self.query(query);
                self.text(")");
                return;
            }
            FunctionArguments::List(list) => list,
        };
        self.text(if is_map { "[" } else { "(" });
        match list.duplicate_treatment {
            Some(DuplicateTreatment::Distinct) => self.text("DISTINCT "),
            Some(DuplicateTreatment::All) => self.text("ALL "),
            None => {}
        }
        for (i, argument) in list.args.iter().enumerate() {
            if i > 0 {
                self.text(", ");
            }
            match argument {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Identifier(unit))) if unit_first && i == 0 => {
                    self.text(&unit.value.to_ascii_uppercase());
                }
                other => self.argument(other),
            }
        }
        self.text(if is_map { "]" } else { ")" });
    }

    /// `e` or `name => e`
    pub(super) fn argument(&mut self, argument: &FunctionArg) {
        match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => self.expr(expr),
            FunctionArg::Named { name, arg: FunctionArgExpr::Expr(expr), .. } => {
                self.name(name);
                self.text(" => ");
                self.expr(expr);
            }
            other => self.text(&other.to_string()),
        }
    }

    /// Prints what is no call but stands as one in the tree: whether it was that.
    fn clause(&mut self, function: &Function) -> bool {
        let [ObjectNamePart::Identifier(name)] = function.name.0.as_slice() else { return false };
        if name.quote_style.is_some() {
            return false;
        }
        match (name.value.as_str(), arguments(function).as_slice()) {
            ("TABLE" | "MODEL", [object]) => {
                self.text(&format!("{} ", name.value));
                self.expr(object);
                if let Some(WindowType::WindowSpec(spec)) = &function.over {
                    if !spec.partition_by.is_empty() {
                        self.text(" PARTITION BY ");
                        self.one_or_list(&spec.partition_by, |p, expr| p.expr(expr));
                    }
                    if !spec.order_by.is_empty() {
                        self.text(" ORDER BY ");
                        self.one_or_list(&spec.order_by, |p, item| p.order_by(std::slice::from_ref(item)));
                    }
                }
            }
            ("FINAL" | "RUNNING", [Expr::Function(inner)]) => {
                self.text(&format!("{} ", name.value));
                self.function(inner);
            }
            (DIFFERENCE, [difference, Expr::Value(unit)]) => {
                self.text("(");
                self.expr(difference);
                let unit = unit.value.clone().into_string().unwrap_or_default();
                self.text(&format!(") {unit}"));
            }
            _ => return false,
        }
        true
    }

    fn one_or_list<T>(&mut self, items: &[T], print: impl FnMut(&mut Self, &T)) {
        let enclosed = items.len() > 1;
        self.text(if enclosed { "(" } else { "" });
        self.list(items, ", ", print);
        self.text(if enclosed { ")" } else { "" });
    }

    pub(super) fn order_by(&mut self, items: &[OrderByExpr]) {
        self.list(items, ", ", |p, item| {
            p.expr(&item.expr);
            if item.options.asc == Some(false) {
                p.text(" DESC");
            }
            match item.options.nulls_first {
                Some(true) => p.text(" NULLS FIRST"),
                Some(false) => p.text(" NULLS LAST"),
                None => {}
            }
        });
    }

    /// `(PARTITION BY .. ORDER BY .. ROWS ..)`
    pub(super) fn window(&mut self, window: &WindowSpec) {
        self.text("(");
        let mut gap = "";
        if let Some(name) = &window.window_name {
            self.name(name);
            gap = " ";
        }
        if !window.partition_by.is_empty() {
            self.text(&format!("{gap}PARTITION BY "));
            self.exprs(&window.partition_by);
            gap = " ";
        }
        if !window.order_by.is_empty() {
            self.text(&format!("{gap}ORDER BY "));
            self.order_by(&window.order_by);
            gap = " ";
        }
        if let Some(frame) = &window.window_frame {
            self.text(gap);
            self.frame(frame);
        }
        self.text(")");
    }

    fn frame(&mut self, frame: &WindowFrame) {
        self.text(&format!("{} ", frame.units));
        match &frame.end_bound {
            Some(end) => {
                self.text("BETWEEN ");
                self.bound(&frame.start_bound);
                self.text(" AND ");
                self.bound(end);
            }
            None => self.bound(&frame.start_bound),
        }
    }

    fn bound(&mut self, bound: &WindowFrameBound) {
        let (distance, side) = match bound {
            WindowFrameBound::CurrentRow => {
                self.text("CURRENT ROW");
                return;
            }
            WindowFrameBound::Preceding(distance) => (distance, "PRECEDING"),
            WindowFrameBound::Following(distance) => (distance, "FOLLOWING"),
        };
        match distance {
            Some(distance) => self.expr(distance),
            None => self.text("UNBOUNDED"),
        }
        self.text(&format!(" {side}"));
    }

    /// A call of a JSON function. Flink prints what is left out of JSON_QUERY and of the constructors; the empty
    /// constructors stand as they were written, since Flink does not read what it prints for those.
    fn json(&mut self, function: &Function, clauses: &JsonClauses<'_>) {
        let name = function.name.to_string().to_ascii_uppercase();
        self.text(&format!("{name}("));
        let is_object = name.starts_with("JSON_OBJECT");
        if is_object {
            let pairs: Vec<&[&Expr]> = clauses.arguments.chunks(2).collect();
            self.list(&pairs, ", ", |p, pair| {
                if let [key, value] = pair {
                    p.text("KEY ");
                    p.expr(key);
                    p.text(" VALUE ");
                    p.expr(value);
                }
            });
        } else {
            self.list(&clauses.arguments, ", ", |p, argument| p.expr(argument));
        }
        if let Some(returning) = &clauses.returning {
            self.text(&format!(" RETURNING {}", types::print(returning)));
        }
        let (mut on_empty, mut on_error) = (clauses.on_empty, clauses.on_error);
        if name == "JSON_QUERY" {
            self.text(match clauses.wrapper.unwrap_or(JsonWrapper::Without) {
                JsonWrapper::Without => " WITHOUT ARRAY WRAPPER",
                JsonWrapper::Conditional => " WITH CONDITIONAL ARRAY WRAPPER",
                JsonWrapper::Unconditional => " WITH UNCONDITIONAL ARRAY WRAPPER",
            });
            on_empty = on_empty.or(Some(JsonBehavior::Null));
            on_error = on_error.or(Some(JsonBehavior::Null));
        }
        self.behavior(on_empty, "ON EMPTY");
        self.behavior(on_error, "ON ERROR");
        let constructs = is_object || name.starts_with("JSON_ARRAY");
        if constructs && (!clauses.arguments.is_empty() || clauses.on_null.is_some()) {
            let default = if is_object { JsonOnNull::Null } else { JsonOnNull::Absent };
            let gap = if clauses.arguments.is_empty() { "" } else { " " };
            self.text(&format!("{gap}{} ON NULL", clauses.on_null.unwrap_or(default).word()));
        }
        self.text(")");
    }

    fn behavior(&mut self, behavior: Option<JsonBehavior<'_>>, on: &str) {
        match behavior {
            Some(JsonBehavior::Default(value)) => {
                self.text(" DEFAULT ");
                self.expr(value);
                self.text(&format!(" {on}"));
            }
            Some(other) => self.text(&format!(" {} {on}", other.words().unwrap_or_default())),
            None => {}
        }
    }
}

/// The plain arguments of a call.
pub(super) fn arguments(function: &Function) -> Vec<&Expr> {
    let FunctionArguments::List(list) = &function.args else { return vec![] };
    list.args
        .iter()
        .filter_map(|argument| match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
            _ => None,
        })
        .collect()
}

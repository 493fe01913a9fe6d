//! Calls of JSON functions with their clauses.

use calve_functions::{JsonBuild, JsonRead};
use calve_sql::{JsonBehavior, JsonClauses, JsonOnNull, JsonWrapper, ast};
use calve_types::{DataType, Error, LogicalType, Result, Span, Value};

use super::Binder;
use super::call::{self, Call};
use super::literal::literal;
use super::names;
use super::scope::Scope;
use crate::expr::{Expr, ExprKind};

fn symbol(text: String, place: Span) -> Expr {
    literal(Value::Symbol(text), LogicalType::Symbol.not_null(), place)
}

fn null_of(data_type: &DataType, place: Span) -> Expr {
    literal(Value::Null, data_type.with_nullable(true), place)
}

fn words<'a>(behavior: Option<&JsonBehavior<'_>>, otherwise: &'a str) -> &'a str {
    match behavior {
        None => otherwise,
        Some(behavior) => behavior.words().unwrap_or("DEFAULT"),
    }
}

/// Whether a value is JSON already: a call of a constructor.
fn is_constructor(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Call { function, .. } if matches!(function.name, "JSON_OBJECT" | "JSON_ARRAY" | "JSON"))
}

impl Binder<'_> {
    /// A call of a JSON function.
    pub(super) fn json_call(&self, call: Call<'_>, clauses: &JsonClauses<'_>, scope: &Scope<'_>) -> Result<Expr> {
        let name = call.name.to_ascii_uppercase();
        match name.as_str() {
            "JSON_OBJECTAGG" | "JSON_ARRAYAGG" => self.json_aggregate(&name, call, clauses, scope),
            "JSON_OBJECT" | "JSON_ARRAY" => self.json_constructor(&name, clauses, call.place, scope),
            _ => self.json_read(&name, clauses, call.place, scope),
        }
    }

    /// JSON_VALUE, JSON_QUERY and JSON_EXISTS.
    fn json_read(&self, name: &str, clauses: &JsonClauses<'_>, place: Span, scope: &Scope<'_>) -> Result<Expr> {
        let mut args = clauses.arguments.iter().map(|a| self.expr(a, scope)).collect::<Result<Vec<_>>>()?;
        let (on_empty, on_error) = (clauses.on_empty.as_ref(), clauses.on_error.as_ref());
        let wrapper = match clauses.wrapper {
            None | Some(JsonWrapper::Without) => "WITHOUT",
            Some(JsonWrapper::Conditional) => "CONDITIONAL",
            Some(JsonWrapper::Unconditional) => "UNCONDITIONAL",
        };
        let is_exists = name == "JSON_EXISTS";
        let read = JsonRead {
            wrapper,
            on_empty: words(on_empty, "NULL"),
            on_error: words(on_error, if is_exists { "FALSE" } else { "NULL" }),
        };
        args.push(symbol(read.symbol(), place));
        if !is_exists {
            let returning = clauses.returning.clone().unwrap_or(LogicalType::STRING.nullable());
            args.push(null_of(&returning, place));
            if name == "JSON_VALUE" {
                for behavior in [on_empty, on_error] {
                    args.push(match behavior {
                        Some(JsonBehavior::Default(default)) => self.expr(default, scope)?,
                        _ => null_of(&returning, place),
                    });
                }
            }
        }
        call::function(name, args, place)
    }

    /// JSON_OBJECT and JSON_ARRAY.
    fn json_constructor(&self, name: &str, clauses: &JsonClauses<'_>, place: Span, scope: &Scope<'_>) -> Result<Expr> {
        let is_object = name == "JSON_OBJECT";
        let mut args = vec![];
        let mut raw = vec![];
        for (i, argument) in clauses.arguments.iter().enumerate() {
            let bound = self.json_argument(argument, scope)?;
            if !is_object || i % 2 == 1 {
                raw.push(is_constructor(&bound));
            }
            args.push(bound);
        }
        let absent_on_null = match clauses.on_null {
            Some(on_null) => on_null == JsonOnNull::Absent,
            None => !is_object,
        };
        args.insert(0, symbol(JsonBuild { absent_on_null, raw }.symbol(), place));
        call::function(name, args, place)
    }

    /// A value of a constructor, where JSON(..) may stand.
    fn json_argument(&self, argument: &ast::Expr, scope: &Scope<'_>) -> Result<Expr> {
        if let ast::Expr::Function(f) = argument
            && f.name.to_string().eq_ignore_ascii_case("JSON")
            && let ast::FunctionArguments::List(list) = &f.args
            && let [ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(text))] = list.args.as_slice()
        {
            let place = names::span_of(&f.name);
            let inside = symbol("INSIDE".to_owned(), place);
            return call::function("JSON", vec![self.expr(text, scope)?, inside], place);
        }
        self.expr(argument, scope)
    }

    /// JSON_OBJECTAGG and JSON_ARRAYAGG: aggregates of JSON texts.
    fn json_aggregate(&self, name: &str, call: Call<'_>, clauses: &JsonClauses<'_>, scope: &Scope<'_>) -> Result<Expr> {
        let is_object = name == "JSON_OBJECTAGG";
        let suffix = match clauses.on_null {
            Some(on_null) => on_null.word(),
            None if is_object => "NULL",
            None => "ABSENT",
        };
        let full_name = format!("{name}_{suffix}_ON_NULL");
        let function = calve_functions::aggregate(&full_name)
            .ok_or_else(|| Error::internal(format!("no aggregate {full_name}")))?;
        self.aggregate_of(function, Call { name: &full_name, ..call }, scope, |inner| {
            let mut bound =
                clauses.arguments.iter().map(|a| self.json_argument(a, inner)).collect::<Result<Vec<_>>>()?;
            // The key stays as it is, unless it is no text, which the function refuses.
            let is_value = bound.len() == if is_object { 2 } else { 1 };
            if is_value && let Some(value) = bound.pop() {
                let is_raw = is_constructor(&value);
                bound.push(if is_raw { value } else { call::function("JSON_STRING", vec![value], call.place)? });
            }
            Ok(bound)
        })
    }
}

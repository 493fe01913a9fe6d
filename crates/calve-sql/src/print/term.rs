//! Expressions that bind like a name: columns, literals, CASE, and calls that have words between their arguments.

use sqlparser::ast::{
    AccessExpr, CastKind, CeilFloorKind, DateTimeField, Expr, Ident, Interval, Subscript, TrimWhereField, Value,
};

use super::operator::{COMPARISON, RANGE, SIGN, bare, infix};
use super::{Printer, Style, types};
use crate::reserved;
use crate::types::decode_type;

impl Printer<'_> {
    /// An expression that binds like a name.
    pub(super) fn term(&mut self, expr: &Expr) {
        match expr {
            Expr::Identifier(name) => self.column(name),
            Expr::CompoundIdentifier(parts) => self.list(parts, ".", |p, part| p.name(part)),
            Expr::CompoundFieldAccess { root, access_chain } => {
                // a dot behind a number would be a part of it
                let number = matches!(bare(root), Expr::Value(value) if matches!(value.value, Value::Number(..)));
                self.text(if number { "(" } else { "" });
                self.operand(root, SIGN.1, SIGN.1);
                self.text(if number { ")" } else { "" });
                for access in access_chain {
                    self.access(access);
                }
            }
            Expr::Value(value) => self.value(&value.value),
            Expr::UnaryOp { op, expr } => {
                self.text(&op.to_string());
                self.expr(expr);
            }
            Expr::TypedString(typed) => {
                self.text(&format!("{} ", typed.data_type));
                self.value(&typed.value.value);
            }
            Expr::Interval(interval) => self.interval(interval),
            Expr::Function(function) => self.function(function),
            Expr::Cast { kind, expr, data_type, .. } => {
                self.text(if *kind == CastKind::TryCast { "TRY_CAST(" } else { "CAST(" });
                self.expr(expr);
                let target = decode_type(data_type).map_or_else(|_| data_type.to_string(), |t| types::print(&t));
                self.text(&format!(" AS {target})"));
            }
            Expr::Case { operand, conditions, else_result, .. } => {
                self.text("CASE");
                for case in conditions {
                    self.text(" WHEN ");
                    match operand {
                        Some(operand) => {
                            let (left, right) = infix(COMPARISON);
                            self.text(if self.enclose { "(" } else { "" });
                            self.operand(operand, 0, left);
                            self.text(" = ");
                            self.operand(&case.condition, right, 0);
                            self.text(if self.enclose { ")" } else { "" });
                        }
                        None => self.expr(&case.condition),
                    }
                    self.text(" THEN ");
                    self.expr(&case.result);
                }
                self.text(" ELSE ");
                match else_result {
                    Some(value) => self.expr(value),
                    None => self.text("NULL"),
                }
                self.text(" END");
            }
            Expr::Exists { subquery, .. } => {
                self.text("EXISTS (");
                self.query(subquery);
                self.text(")");
            }
            Expr::Subquery(query) => {
                self.text("(");
                self.query(query);
                self.text(")");
            }
            Expr::Tuple(items) if items.is_empty() => self.text("()"),
            Expr::Tuple(items) => self.enclosed("ROW(", items, ")"),
            Expr::Array(array) => self.enclosed("ARRAY[", &array.elem, "]"),
            Expr::Extract { field, expr, .. } => {
                self.text(&format!("EXTRACT({} FROM ", field.to_string().to_ascii_uppercase()));
                self.expr(expr);
                self.text(")");
            }
            Expr::Ceil { expr, field } => self.rounded("CEIL", expr, field),
            Expr::Floor { expr, field } => self.rounded("FLOOR", expr, field),
            Expr::Position { expr, r#in } => {
                self.text("POSITION(");
                self.operand(expr, infix(RANGE).1, infix(RANGE).1);
                self.text(" IN ");
                self.expr(r#in);
                self.text(")");
            }
            Expr::Substring { expr, substring_from, substring_for, shorthand, .. } => {
                let commas = *shorthand || self.style == Style::Column;
                let (from, to) = if commas { (", ", ", ") } else { (" FROM ", " FOR ") };
                self.text(match (shorthand, self.style) {
                    (false, _) => "SUBSTRING(",
                    (true, Style::Column) => "SUBSTR(",
                    (true, Style::View) => "`SUBSTR`(",
                });
                self.expr(expr);
                if let Some(start) = substring_from {
                    self.text(from);
                    self.expr(start);
                }
                if let Some(length) = substring_for {
                    self.text(to);
                    self.expr(length);
                }
                self.text(")");
            }
            Expr::Trim { expr, trim_where, trim_what, .. } => {
                let side = match trim_where {
                    Some(TrimWhereField::Leading) => "LEADING",
                    Some(TrimWhereField::Trailing) => "TRAILING",
                    Some(TrimWhereField::Both) | None => "BOTH",
                };
                self.text(&format!("TRIM({side} "));
                match trim_what {
                    Some(what) => self.expr(what),
                    None => self.text("' '"),
                }
                self.text(" FROM ");
                self.expr(expr);
                self.text(")");
            }
            Expr::Overlay { expr, overlay_what, overlay_from, overlay_for } => {
                self.text("OVERLAY(");
                self.expr(expr);
                self.text(" PLACING ");
                self.expr(overlay_what);
                self.text(" FROM ");
                self.expr(overlay_from);
                if let Some(length) = overlay_for {
                    self.text(" FOR ");
                    self.expr(length);
                }
                self.text(")");
            }
            Expr::GroupingSets(sets) => self.grouping("GROUPING SETS", sets),
            Expr::Cube(sets) => self.grouping("CUBE", sets),
            Expr::Rollup(sets) => self.grouping("ROLLUP", sets),
            other => self.text(&other.to_string()),
        }
    }

    pub(super) fn enclosed(&mut self, open: &str, items: &[Expr], close: &str) {
        self.text(open);
        self.exprs(items);
        self.text(close);
    }

    /// A column, or one of the words that are values.
    fn column(&mut self, name: &Ident) {
        let is_value = reserved::is_value(&name.value) || name.value.eq_ignore_ascii_case("PI");
        if name.quote_style.is_none() && is_value {
            self.text(&name.value.to_ascii_uppercase());
        } else {
            self.name(name);
        }
    }

    fn access(&mut self, access: &AccessExpr) {
        match access {
            AccessExpr::Dot(Expr::Identifier(name)) => {
                self.text(".");
                self.name(name);
            }
            AccessExpr::Subscript(Subscript::Index { index }) => {
                self.text("[");
                self.expr(index);
                self.text("]");
            }
            other => self.text(&other.to_string()),
        }
    }

    fn rounded(&mut self, function: &str, expr: &Expr, field: &CeilFloorKind) {
        self.text(&format!("{function}("));
        self.expr(expr);
        match field {
            CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) => {}
            CeilFloorKind::DateTimeField(unit) => self.text(&format!(" TO {}", unit.to_string().to_ascii_uppercase())),
            CeilFloorKind::Scale(scale) => {
                self.text(", ");
                self.value(scale);
            }
        }
        self.text(")");
    }

    fn grouping(&mut self, kind: &str, sets: &[Vec<Expr>]) {
        self.text(&format!("{kind}("));
        self.list(sets, ", ", |p, set| match set.as_slice() {
            [single] => p.expr(single),
            many => p.enclosed("(", many, ")"),
        });
        self.text(")");
    }

    /// `INTERVAL '1' DAY(3) TO SECOND(2)`
    fn interval(&mut self, interval: &Interval) {
        self.text("INTERVAL ");
        match interval.value.as_ref() {
            Expr::UnaryOp { op, expr } => {
                self.text(&op.to_string());
                self.expr(expr);
            }
            value => self.expr(value),
        }
        if let Some(unit) = &interval.leading_field {
            self.text(&format!(" {}", unit.to_string().to_ascii_uppercase()));
        }
        match (interval.leading_precision, interval.fractional_seconds_precision) {
            (Some(leading), Some(fraction)) if interval.last_field.is_none() => {
                self.text(&format!("({leading}, {fraction})"));
            }
            (Some(leading), _) => self.text(&format!("({leading})")),
            _ => {}
        }
        if let Some(unit) = &interval.last_field {
            self.text(&format!(" TO {}", unit.to_string().to_ascii_uppercase()));
            if let Some(fraction) = interval.fractional_seconds_precision {
                self.text(&format!("({fraction})"));
            }
        }
    }

    pub(super) fn value(&mut self, value: &Value) {
        match value {
            Value::Number(digits, _) => self.text(&number(digits)),
            Value::SingleQuotedString(text)
            | Value::UnicodeStringLiteral(text)
            | Value::NationalStringLiteral(text) => self.literal(text),
            Value::HexStringLiteral(digits) => self.text(&format!("X'{}'", digits.to_ascii_uppercase())),
            Value::Boolean(true) => self.text("TRUE"),
            Value::Boolean(false) => self.text("FALSE"),
            Value::Null => self.text("NULL"),
            other => self.text(&other.to_string()),
        }
    }

    /// A string; Flink marks those that are not ASCII.
    fn literal(&mut self, text: &str) {
        match self.style {
            _ if text.is_ascii() => self.text(&super::string(text)),
            Style::View => self.text(&format!("_UTF16{}", super::string(text))),
            Style::Column => {
                let mut escaped = String::with_capacity(text.len() * 2);
                for unit in text.encode_utf16() {
                    match u8::try_from(unit) {
                        Ok(b'\\') => escaped.push_str("\\\\"),
                        Ok(b'\'') => escaped.push_str("''"),
                        Ok(byte) if byte.is_ascii() => escaped.push(char::from(byte)),
                        _ => escaped.push_str(&format!("\\{unit:04x}")),
                    }
                }
                self.text(&format!("u&'{escaped}'"));
            }
        }
    }
}

/// A number as Flink prints it: `.5` is `0.5`, `007` is `7`, `12e3` is `1.2E4`.
fn number(text: &str) -> String {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()),
        None => (text, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let Some(exponent) = exponent else {
        if text.contains(['e', 'E']) {
            return text.to_owned();
        }
        let whole = whole.trim_start_matches('0');
        let whole = if whole.is_empty() { "0" } else { whole };
        return if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") };
    };
    let all = format!("{whole}{fraction}");
    let digits = all.trim_start_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
    let (first, rest) = digits.split_at(1);
    let exponent = exponent.saturating_sub(fraction.len() as i64).saturating_add(rest.len() as i64);
    if rest.is_empty() { format!("{first}E{exponent}") } else { format!("{first}.{rest}E{exponent}") }
}

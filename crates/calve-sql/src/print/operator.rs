//! Operators: where parentheses must stand.

use sqlparser::ast::{BinaryOperator, Expr, Function, ObjectNamePart, UnaryOperator, Value};

use super::Printer;
use super::call::arguments;

/// How strongly an operator binds to what stands left and right of it, by Calcite's numbers: the higher the stronger.
/// `None` binds like a name.
type Binding = Option<(u16, u16)>;

pub(super) const COMPARISON: u16 = 30;
pub(super) const RANGE: u16 = 32;

/// An operator between operands that associates to the left.
pub(super) const fn infix(precedence: u16) -> (u16, u16) {
    (precedence * 2, precedence * 2 + 1)
}

/// An operator behind its operand.
const fn postfix(precedence: u16) -> (u16, u16) {
    (precedence * 2, precedence * 2)
}

const IS: (u16, u16) = postfix(28);
const NOT: (u16, u16) = infix(26);
pub(super) const SIGN: (u16, u16) = infix(80);
const OVER: (u16, u16) = infix(20);

fn operator(op: &BinaryOperator) -> Option<(&'static str, (u16, u16))> {
    Some(match op {
        BinaryOperator::Or => ("OR", infix(22)),
        BinaryOperator::And => ("AND", infix(24)),
        BinaryOperator::Eq => ("=", infix(COMPARISON)),
        BinaryOperator::NotEq => ("<>", infix(COMPARISON)),
        BinaryOperator::Lt => ("<", infix(COMPARISON)),
        BinaryOperator::LtEq => ("<=", infix(COMPARISON)),
        BinaryOperator::Gt => (">", infix(COMPARISON)),
        BinaryOperator::GtEq => (">=", infix(COMPARISON)),
        BinaryOperator::Plus => ("+", infix(40)),
        BinaryOperator::Minus => ("-", infix(40)),
        BinaryOperator::Multiply => ("*", infix(60)),
        BinaryOperator::Divide => ("/", infix(60)),
        BinaryOperator::Modulo => ("%", infix(60)),
        BinaryOperator::StringConcat => ("||", infix(60)),
        BinaryOperator::Overlaps => ("OVERLAPS", infix(COMPARISON)),
        _ => return None,
    })
}

/// The operators that the dialect hands through as calls.
fn called_operator(function: &Function) -> Option<&str> {
    let [ObjectNamePart::Identifier(name)] = function.name.0.as_slice() else { return None };
    let operators = ["IS JSON", "IS NOT JSON", "BETWEEN SYMMETRIC", "NOT BETWEEN SYMMETRIC"];
    operators.into_iter().chain(MULTISETS).find(|op| *op == name.value)
}

/// Operators of multisets.
const MULTISETS: [&str; 9] = [
    "MEMBER OF",
    "SUBMULTISET OF",
    "NOT SUBMULTISET OF",
    "MULTISET UNION",
    "MULTISET UNION ALL",
    "MULTISET INTERSECT",
    "MULTISET INTERSECT ALL",
    "MULTISET EXCEPT",
    "MULTISET EXCEPT ALL",
];

fn is_number(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(value) if matches!(value.value, Value::Number(..)))
}

fn binding(expr: &Expr) -> Binding {
    match expr {
        Expr::BinaryOp { op, .. } => operator(op).map(|(_, binding)| binding),
        Expr::UnaryOp { op: UnaryOperator::Not, .. } => Some(NOT),
        // the sign of a number is a part of it
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } if is_number(expr) => None,
        Expr::UnaryOp { .. } => Some(SIGN),
        Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::IsTrue(_)
        | Expr::IsNotTrue(_)
        | Expr::IsFalse(_)
        | Expr::IsNotFalse(_)
        | Expr::IsUnknown(_)
        | Expr::IsNotUnknown(_) => Some(IS),
        Expr::IsDistinctFrom(..) | Expr::IsNotDistinctFrom(..) | Expr::AnyOp { .. } | Expr::AllOp { .. } => {
            Some(infix(COMPARISON))
        }
        Expr::InList { .. }
        | Expr::InSubquery { .. }
        | Expr::Between { .. }
        | Expr::Like { .. }
        | Expr::SimilarTo { .. } => Some(infix(RANGE)),
        Expr::Exists { negated: true, .. } => Some(NOT),
        Expr::Function(function) => match called_operator(function) {
            Some("IS JSON" | "IS NOT JSON") => Some(IS),
            Some(_) => Some(infix(RANGE)),
            None => function.over.as_ref().map(|_| OVER),
        },
        _ => None,
    }
}

/// The expression inside parentheses.
pub(super) fn bare(mut expr: &Expr) -> &Expr {
    while let Expr::Nested(inner) = expr {
        expr = inner;
    }
    expr
}

impl Printer<'_> {
    /// An expression between operators that bind as strongly as `left` and `right`; 0 is none.
    pub(super) fn operand(&mut self, expr: &Expr, left: u16, right: u16) {
        let expr = bare(expr);
        match binding(expr) {
            Some((own_left, own_right)) if self.enclose || left > own_left || right != 0 && own_right <= right => {
                self.text("(");
                self.operation(expr, (own_left, own_right), 0, 0);
                self.text(")");
            }
            Some(own) => self.operation(expr, own, left, right),
            None => self.term(expr),
        }
    }

    fn operation(&mut self, expr: &Expr, own: (u16, u16), left: u16, right: u16) {
        match expr {
            Expr::BinaryOp { left: a, op: BinaryOperator::Overlaps, right: b } => {
                self.period(a, left, own.0);
                self.text(" OVERLAPS ");
                self.period(b, own.1, right);
            }
            Expr::BinaryOp { left: a, op, right: b } => {
                self.operand(a, left, own.0);
                self.text(&format!(" {} ", operator(op).map_or("", |(op, _)| op)));
                self.operand(b, own.1, right);
            }
            Expr::UnaryOp { op, expr } => {
                self.text(&format!("{op} "));
                self.operand(expr, own.1, right);
            }
            Expr::IsNull(a) => self.postfix(a, "IS NULL", left),
            Expr::IsNotNull(a) => self.postfix(a, "IS NOT NULL", left),
            Expr::IsTrue(a) => self.postfix(a, "IS TRUE", left),
            Expr::IsNotTrue(a) => self.postfix(a, "IS NOT TRUE", left),
            Expr::IsFalse(a) => self.postfix(a, "IS FALSE", left),
            Expr::IsNotFalse(a) => self.postfix(a, "IS NOT FALSE", left),
            Expr::IsUnknown(a) => self.postfix(a, "IS UNKNOWN", left),
            Expr::IsNotUnknown(a) => self.postfix(a, "IS NOT UNKNOWN", left),
            Expr::IsDistinctFrom(a, b) => self.infix(a, "IS DISTINCT FROM", b, own, left, right),
            Expr::IsNotDistinctFrom(a, b) => self.infix(a, "IS NOT DISTINCT FROM", b, own, left, right),
            Expr::AnyOp { left: a, compare_op, right: b, .. } => self.quantified(a, compare_op, "SOME", b, left),
            Expr::AllOp { left: a, compare_op, right: b } => self.quantified(a, compare_op, "ALL", b, left),
            Expr::InList { expr, list, negated } => {
                self.operand(expr, left, own.0);
                self.text(if *negated { " NOT IN (" } else { " IN (" });
                self.exprs(list);
                self.text(")");
            }
            Expr::InSubquery { expr, subquery, negated } => {
                self.operand(expr, left, own.0);
                self.text(if *negated { " NOT IN (" } else { " IN (" });
                self.query(subquery);
                self.text(")");
            }
            Expr::Between { expr, negated, low, high } => {
                self.between(expr, if *negated { "NOT BETWEEN ASYMMETRIC" } else { "BETWEEN ASYMMETRIC" }, low, high);
            }
            Expr::Like { expr, pattern, escape_char, negated, .. } => {
                self.like(expr, if *negated { "NOT LIKE" } else { "LIKE" }, pattern, escape_char.as_ref());
            }
            Expr::SimilarTo { expr, pattern, escape_char, negated } => {
                self.like(expr, if *negated { "NOT SIMILAR TO" } else { "SIMILAR TO" }, pattern, escape_char.as_ref());
            }
            Expr::Exists { subquery, .. } => {
                self.text("NOT EXISTS (");
                self.query(subquery);
                self.text(")");
            }
            Expr::Function(function) => match called_operator(function) {
                Some(op) => self.called(op, function, left),
                None => self.function(function),
            },
            other => self.term(other),
        }
    }

    fn period(&mut self, period: &Expr, left: u16, right: u16) {
        match bare(period) {
            Expr::Tuple(items) => self.enclosed("PERIOD (", items, ")"),
            other => self.operand(other, left, right),
        }
    }

    fn postfix(&mut self, operand: &Expr, op: &str, left: u16) {
        self.operand(operand, left, IS.0);
        self.text(&format!(" {op}"));
    }

    fn infix(&mut self, a: &Expr, op: &str, b: &Expr, own: (u16, u16), left: u16, right: u16) {
        self.operand(a, left, own.0);
        self.text(&format!(" {op} "));
        self.operand(b, own.1, right);
    }

    fn quantified(&mut self, a: &Expr, op: &BinaryOperator, quantifier: &str, b: &Expr, left: u16) {
        self.operand(a, left, infix(COMPARISON).0);
        self.text(&format!(" {} {quantifier} ", operator(op).map_or("=", |(op, _)| op)));
        match bare(b) {
            Expr::Subquery(_) => self.term(bare(b)),
            other => {
                self.text("(");
                self.expr(other);
                self.text(")");
            }
        }
    }

    fn between(&mut self, expr: &Expr, op: &str, low: &Expr, high: &Expr) {
        let (left, right) = infix(RANGE);
        self.operand(expr, left, left);
        self.text(&format!(" {op} "));
        self.operand(low, right, right);
        self.text(" AND ");
        self.operand(high, right, right);
    }

    fn like(&mut self, expr: &Expr, op: &str, pattern: &Expr, escape: Option<&Value>) {
        let (left, right) = infix(RANGE);
        self.operand(expr, left, left);
        self.text(&format!(" {op} "));
        self.operand(pattern, right, right);
        if let Some(escape) = escape {
            self.text(" ESCAPE ");
            self.value(escape);
        }
    }

    /// An operator that is a call in the tree.
    fn called(&mut self, op: &str, function: &Function, left: u16) {
        let arguments: Vec<&Expr> = arguments(function);
        match (op, arguments.as_slice()) {
            ("BETWEEN SYMMETRIC" | "NOT BETWEEN SYMMETRIC", [expr, low, high]) => self.between(expr, op, low, high),
            (op, [a, b]) if MULTISETS.contains(&op) => {
                let (own_left, own_right) = infix(RANGE);
                self.operand(a, left, own_left);
                self.text(&format!(" {op} "));
                self.operand(b, own_right, own_right);
            }
            (_, [expr, Expr::Value(kind)]) => {
                self.operand(expr, left, IS.0);
                let kind = kind.value.clone().into_string().unwrap_or_default();
                self.text(&format!(" {op} {kind}"));
            }
            _ => self.text(&function.to_string()),
        }
    }
}

//! MATCH_RECOGNIZE, bound.

use calve_stream::pattern::{Element, Skip};

use crate::expr::{AggregateCall, Expr, ExprKind, SortKey};
use crate::rel::Rel;

/// The matches of a pattern in the rows of each partition.
#[derive(Debug, Clone)]
pub struct Match {
    /// The rows.
    pub input: Rel,
    /// `PARTITION BY`: columns of the input.
    pub partition: Vec<usize>,
    /// `ORDER BY`; the first key is a column of time, ascending.
    pub order: Vec<SortKey>,
    /// That column.
    pub time: usize,
    /// `PATTERN`.
    pub elements: Vec<Element>,
    /// `AFTER MATCH`.
    pub skip: Skip,
    /// `WITHIN`: the time from the first row on that a match must stay below, in milliseconds.
    pub within: Option<i64>,
    /// `DEFINE`: for each variable the condition of its rows, if it has one.
    pub definitions: Vec<Option<Formula>>,
    /// `MEASURES`.
    pub measures: Formula,
}

/// Expressions over values of a match.
#[derive(Debug, Clone, Default)]
pub struct Formula {
    /// The values.
    pub navigations: Vec<Navigation>,
    /// Expressions whose columns are the values.
    pub exprs: Vec<Expr>,
}

/// A value of the rows that a match has so far.
#[derive(Debug, Clone)]
pub struct Navigation {
    /// The variable whose rows are looked at; `None` for all.
    pub variable: Option<usize>,
    /// Which value of them.
    pub value: NavigationValue,
}

/// Which value of some rows is meant.
#[derive(Debug, Clone)]
pub enum NavigationValue {
    /// `FIRST(expr, n)`, over the input.
    First(Expr, usize),
    /// `LAST(expr, n)`, over the input.
    Last(Expr, usize),
    /// An aggregate.
    Aggregate(AggregateCall),
}

impl Match {
    /// Whether a column of the result is MATCH_ROWTIME(): the time of the match's last row.
    pub fn time_of(&self, column: usize) -> bool {
        let measure = column.checked_sub(self.partition.len()).and_then(|i| self.measures.exprs.get(i));
        let Some(ExprKind::Column(value)) = measure.map(|e| &e.kind) else { return false };
        let Some(Navigation { variable: None, value: NavigationValue::Last(expr, 0) }) =
            self.measures.navigations.get(*value)
        else {
            return false;
        };
        !expr.data_type.nullable && matches!(expr.kind, ExprKind::Column(column) if column == self.time)
    }

    /// The expressions over the input.
    pub fn input_exprs(&self) -> impl Iterator<Item = &Expr> {
        let formulas = self.definitions.iter().flatten().chain([&self.measures]);
        let values = formulas.flat_map(|formula| &formula.navigations).flat_map(|navigation| match &navigation.value {
            NavigationValue::First(expr, _) | NavigationValue::Last(expr, _) => std::slice::from_ref(expr),
            NavigationValue::Aggregate(call) => call.args.as_slice(),
        });
        self.order.iter().map(|key| &key.expr).chain(values)
    }

    /// As [`Self::input_exprs`].
    pub fn input_exprs_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let formulas = self.definitions.iter_mut().flatten().chain([&mut self.measures]);
        let values = formulas.flat_map(|formula| &mut formula.navigations);
        let values = values.flat_map(|navigation| match &mut navigation.value {
            NavigationValue::First(expr, _) | NavigationValue::Last(expr, _) => std::slice::from_mut(expr),
            NavigationValue::Aggregate(call) => call.args.as_mut_slice(),
        });
        self.order.iter_mut().map(|key| &mut key.expr).chain(values)
    }
}

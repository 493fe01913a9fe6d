//! MATCH_RECOGNIZE.

use sqlparser::ast::{AfterMatchSkip, MatchRecognizePattern, MatchRecognizeSymbol, RowsPerMatch, TableFactor};

use super::Printer;
use crate::statement::WITHIN;

impl Printer<'_> {
    pub(super) fn match_recognize(&mut self, factor: &TableFactor) {
        let TableFactor::MatchRecognize {
            table,
            partition_by,
            order_by,
            measures,
            rows_per_match,
            after_match_skip,
            pattern,
            symbols,
            alias,
        } = factor
        else {
            return;
        };
        self.relation(table);
        self.text(" MATCH_RECOGNIZE(");
        if !partition_by.is_empty() {
            self.text("\nPARTITION BY ");
            self.exprs(partition_by);
        }
        if !order_by.is_empty() {
            self.text("\nORDER BY ");
            self.order_by(order_by);
        }
        if !measures.is_empty() {
            self.text("\nMEASURES ");
            self.list(measures, ", ", |p, measure| {
                p.expr(&measure.expr);
                p.text(" AS ");
                p.name(&measure.alias);
            });
        }
        match rows_per_match {
            Some(RowsPerMatch::OneRow) => self.text("\nONE ROW PER MATCH"),
            Some(RowsPerMatch::AllRows(_)) => self.text("\nALL ROWS PER MATCH"),
            None => {}
        }
        match after_match_skip {
            Some(AfterMatchSkip::PastLastRow) => self.text("\nAFTER MATCH SKIP PAST LAST ROW"),
            Some(AfterMatchSkip::ToNextRow) => self.text("\nAFTER MATCH SKIP TO NEXT ROW"),
            Some(AfterMatchSkip::ToFirst(name)) => {
                self.text("\nAFTER MATCH SKIP TO FIRST ");
                self.name(name);
            }
            Some(AfterMatchSkip::ToLast(name)) => {
                self.text("\nAFTER MATCH SKIP TO LAST ");
                self.name(name);
            }
            None => {}
        }
        self.text("\nPATTERN (");
        self.pattern(pattern);
        self.text(")");
        let (within, symbols) = match symbols.split_first() {
            Some((first, rest)) if first.symbol.value == WITHIN => (Some(&first.definition), rest),
            _ => (None, symbols.as_slice()),
        };
        if let Some(within) = within {
            self.text(" WITHIN ");
            self.expr(within);
        }
        self.text("\nDEFINE ");
        self.list(symbols, ", ", |p, symbol| {
            p.name(&symbol.symbol);
            p.text(" AS ");
            p.expr(&symbol.definition);
        });
        self.text(")");
        self.aliased(alias.as_ref(), None);
    }

    fn pattern(&mut self, pattern: &MatchRecognizePattern) {
        use MatchRecognizePattern as P;
        match pattern {
            P::Symbol(symbol) => self.symbol(symbol),
            P::Exclude(symbol) => {
                self.text("{- ");
                self.symbol(symbol);
                self.text(" -}");
            }
            P::Permute(symbols) => {
                self.text("PERMUTE(");
                self.list(symbols, ", ", |p, symbol| p.symbol(symbol));
                self.text(")");
            }
            P::Concat(parts) => self.list(parts, " ", |p, part| p.pattern(part)),
            P::Group(inner) => {
                self.text("(");
                self.pattern(inner);
                self.text(")");
            }
            P::Alternation(parts) => self.list(parts, " | ", |p, part| p.pattern(part)),
            P::Repetition(inner, quantifier) => {
                self.pattern(inner);
                self.text(&quantifier.to_string());
            }
        }
    }

    fn symbol(&mut self, symbol: &MatchRecognizeSymbol) {
        match symbol {
            MatchRecognizeSymbol::Named(name) => self.name(name),
            MatchRecognizeSymbol::Start => self.text("^"),
            MatchRecognizeSymbol::End => self.text("$"),
        }
    }
}

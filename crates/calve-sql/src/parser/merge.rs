//! `MERGE INTO`, an extension: Flink's parser reads it and nothing of Flink runs it. The clauses are Spark's.

use calve_types::{Error, Result};
use sqlparser::ast::{self, Expr};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

use super::Parser;
use crate::places::Places;
use crate::statement::{Merge, MergeAction, MergeClause, MergeRows, Statement};

impl Parser {
    /// `MERGE INTO t [hint] [[AS] alias] USING source ON condition WHEN .. THEN ..`
    pub(super) fn merge(&mut self) -> Result<Statement> {
        let span = self.span();
        let places = Places::of(self.tokens.get(self.at..).unwrap_or_default());
        self.expect_keywords(&["MERGE", "INTO"])?;
        let (table, hint, alias) = self.changed_table()?;
        self.expect_keywords(&["USING"])?;
        let source = self.merge_source()?;
        self.expect_keywords(&["ON"])?;
        let on = self.expression_up_to(self.merge_end(&[]))?;
        let mut clauses = vec![];
        while clauses.is_empty() || !self.is_end() {
            clauses.push(self.merge_clause()?);
        }
        let queries = [Expr::Subquery(source.clone())];
        self.hints.check_places(queries.iter().chain([&on]).chain(clauses.iter().flat_map(expressions)))?;
        let hints = std::mem::take(&mut self.hints);
        Ok(Statement::Merge(Box::new(Merge { table, hint, alias, source, on, clauses, hints, places, span })))
    }

    /// The source up to ON, as the query for all of it.
    fn merge_source(&mut self) -> Result<Box<ast::Query>> {
        let to = self.end_before(|p, at| p.is_word_at(at, "ON"));
        let written = self.tokens.get(self.at..to).unwrap_or_default();
        let Some(first) = written.first() else { return Err(self.expected("a table or a query")) };
        let span = first.span;
        let place = self.span();
        let word = |text: &str, keyword| {
            let word = Word { value: text.to_owned(), quote_style: None, keyword };
            TokenWithSpan { token: Token::Word(word), span }
        };
        let mut tokens = vec![
            word("SELECT", Keyword::SELECT),
            TokenWithSpan { token: Token::Mul, span },
            word("FROM", Keyword::FROM),
        ];
        tokens.extend(written.iter().cloned());
        self.at = to;
        // its hints stay with the statement, which checks their places
        let query = Self::over(tokens, self.span().start).query()?;
        let one = match query.ast.body.as_ref() {
            ast::SetExpr::Select(select) => matches!(select.from.as_slice(), [item] if item.joins.is_empty()),
            _ => false,
        };
        if !one {
            return Err(Error::new("syntax-error", "the source of MERGE is one table or one query")
                .with_hint("write USING (SELECT ..) AS s")
                .at(place));
        }
        Ok(query.ast)
    }

    /// Where the expression ends that begins here: before the next clause, or before one of `words`. `WHEN` and `THEN`
    /// inside of a CASE are its own.
    fn merge_end(&self, words: &[&str]) -> usize {
        let (mut depth, mut cases) = (0_usize, 0_usize);
        for (at, token) in self.tokens.iter().enumerate().skip(self.at) {
            match &token.token {
                Token::LParen | Token::LBracket => depth += 1,
                Token::RParen | Token::RBracket => depth = depth.saturating_sub(1),
                Token::Word(_) if depth > 0 => {}
                Token::Word(_) if self.is_word_at(at, "CASE") => cases += 1,
                Token::Word(_) if self.is_word_at(at, "END") => cases = cases.saturating_sub(1),
                Token::Word(_)
                    if cases == 0
                        && (self.is_word_at(at, "WHEN") || words.iter().any(|word| self.is_word_at(at, word))) =>
                {
                    return at;
                }
                _ => {}
            }
        }
        self.tokens.len()
    }

    fn merge_clause(&mut self) -> Result<MergeClause> {
        let span = self.span();
        self.expect_keywords(&["WHEN"])?;
        let rows = if self.keyword("MATCHED") {
            MergeRows::Matched
        } else if self.keywords(&["NOT", "MATCHED"]) {
            if self.keywords(&["BY", "SOURCE"]) {
                MergeRows::NotMatchedBySource
            } else {
                if self.keyword("BY") {
                    self.expect_keywords(&["TARGET"])?;
                }
                MergeRows::NotMatched
            }
        } else {
            return Err(self.expected("MATCHED or NOT MATCHED"));
        };
        let condition =
            if self.keyword("AND") { Some(self.expression_up_to(self.merge_end(&["THEN"]))?) } else { None };
        self.expect_keywords(&["THEN"])?;
        let action = match rows {
            MergeRows::NotMatched => self.merge_insert()?,
            MergeRows::Matched | MergeRows::NotMatchedBySource => self.merge_change(rows)?,
        };
        Ok(MergeClause { rows, condition, action, span })
    }

    /// `UPDATE SET .. | DELETE`
    fn merge_change(&mut self, rows: MergeRows) -> Result<MergeAction> {
        if self.keyword("DELETE") {
            return Ok(MergeAction::Delete);
        }
        if !self.keyword("UPDATE") {
            let error = self.expected("UPDATE or DELETE");
            return Err(match self.is_keyword(0, "INSERT") {
                true => error.with_hint("rows are inserted WHEN NOT MATCHED"),
                false => error,
            });
        }
        self.expect_keywords(&["SET"])?;
        if self.peek(0) == Some(&Token::Mul) {
            if rows == MergeRows::NotMatchedBySource {
                return Err(self
                    .expected("a column name")
                    .with_hint("there is no row of the source to take values of"));
            }
            self.at += 1;
            return Ok(MergeAction::UpdateAll);
        }
        let end = self.merge_end(&[]);
        Ok(MergeAction::Update(self.assignments(end)?))
    }

    /// `INSERT * | INSERT [(columns)] VALUES (..)`
    fn merge_insert(&mut self) -> Result<MergeAction> {
        if !self.keyword("INSERT") {
            let error = self.expected("INSERT");
            return Err(match ["UPDATE", "DELETE"].iter().any(|word| self.is_keyword(0, word)) {
                true => error.with_hint("for rows of the table without one of the source write NOT MATCHED BY SOURCE"),
                false => error,
            });
        }
        if self.token(&Token::Mul) {
            return Ok(MergeAction::InsertAll);
        }
        let columns = match self.peek(0) {
            Some(Token::LParen) => Some(self.list(|p| p.name("a column name"))?),
            _ => None,
        };
        self.expect_keywords(&["VALUES"])?;
        let values = self.list(|p| p.expression(&[Token::Comma, Token::RParen]))?;
        Ok(MergeAction::Insert { columns, values })
    }
}

/// The expressions of a clause.
fn expressions(clause: &MergeClause) -> impl Iterator<Item = &Expr> {
    let (assigned, inserted): (&[_], &[Expr]) = match &clause.action {
        MergeAction::Update(assignments) => (assignments, &[]),
        MergeAction::Insert { values, .. } => (&[], values),
        MergeAction::UpdateAll | MergeAction::InsertAll | MergeAction::Delete => (&[], &[]),
    };
    clause.condition.iter().chain(assigned.iter().map(|a: &crate::statement::Assignment| &a.value)).chain(inserted)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;
    use crate::parse_one;

    fn merge(sql: &str) -> Merge {
        match parse_one(sql).unwrap() {
            Statement::Merge(merge) => *merge,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn all_clauses() {
        let merge = merge(
            "MERGE INTO c.d.t /*+ OPTIONS('branch'='b') */ AS a USING (SELECT * FROM s) b ON a.id = b.id AND CASE WHEN \
             a.x THEN b.y ELSE 1 END = 1 WHEN MATCHED AND CASE WHEN b.z THEN TRUE END THEN DELETE WHEN MATCHED THEN \
             UPDATE SET a.x = CASE WHEN b.y = 1 THEN 2 END, y = (1, 2) WHEN NOT MATCHED BY TARGET THEN INSERT (id, x) \
             VALUES (b.id, f(1, 2)) WHEN NOT MATCHED THEN INSERT * WHEN NOT MATCHED BY SOURCE AND a.x THEN UPDATE SET \
             x = 0",
        );
        assert_eq!(merge.hint.unwrap().options, [("branch".to_owned(), "b".to_owned())]);
        assert_eq!(merge.alias.unwrap().value, "a");
        let kinds: Vec<_> = merge.clauses.iter().map(|c| (c.rows, c.condition.is_some())).collect();
        let expected = [
            (MergeRows::Matched, true),
            (MergeRows::Matched, false),
            (MergeRows::NotMatched, false),
            (MergeRows::NotMatched, false),
            (MergeRows::NotMatchedBySource, true),
        ];
        assert_eq!(kinds, expected);
        let MergeAction::Update(set) = &merge.clauses[1].action else { panic!() };
        assert_eq!(set.iter().map(|a| a.column.parts.join(".")).collect::<Vec<_>>(), ["a.x", "y"]);
        let MergeAction::Insert { columns, values } = &merge.clauses[2].action else { panic!() };
        assert_eq!((columns.as_ref().unwrap().len(), values.len()), (2, 2));
    }

    #[test]
    fn hints_of_the_source() {
        let merge = merge("MERGE INTO t USING s /*+ OPTIONS('tag'='x') */ ON TRUE WHEN MATCHED THEN UPDATE SET *");
        assert_eq!(merge.hints.tables().count(), 1);
        assert!(merge.hint.is_none());
        let misplaced = parse_one("MERGE INTO t USING s ON TRUE /*+ OPTIONS('a'='b') */ WHEN MATCHED THEN DELETE");
        assert_eq!(misplaced.unwrap_err().code, "syntax-error");
    }

    #[test]
    fn what_is_no_merge() {
        for (sql, wanted) in [
            ("MERGE INTO t USING s ON TRUE", "expected WHEN"),
            ("MERGE INTO t USING s WHEN MATCHED THEN DELETE", "expected"),
            ("MERGE INTO t USING ON TRUE WHEN MATCHED THEN DELETE", "expected a table or a query"),
            ("MERGE INTO t USING a, b ON TRUE WHEN MATCHED THEN DELETE", "the source of MERGE is one table"),
            ("MERGE INTO t USING s ON TRUE WHEN MATCHED THEN INSERT *", "expected UPDATE or DELETE"),
            ("MERGE INTO t USING s ON TRUE WHEN NOT MATCHED THEN DELETE", "expected INSERT"),
            ("MERGE INTO t USING s ON TRUE WHEN NOT MATCHED BY SOURCE THEN UPDATE SET *", "expected a column name"),
            ("MERGE INTO t USING s ON TRUE WHEN MATCHED THEN", "expected UPDATE or DELETE"),
            ("MERGE INTO t USING s ON TRUE WHEN MATCHED AND THEN DELETE", "expected an expression"),
            ("MERGE INTO t USING s ON TRUE WHEN NOT MATCHED THEN INSERT VALUES ()", "expected"),
        ] {
            let error = parse_one(sql).unwrap_err();
            assert!(error.message.contains(wanted), "{sql}: {error}");
        }
    }
}

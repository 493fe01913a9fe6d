//! How deep a syntax tree can become, told from its tokens before it is built.

use calve_types::{Error, Result};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::tokens::span_of;

/// Levels a tree may have. A chain such as `a AND b AND ...` or `SELECT .. UNION ALL SELECT ..` is as deep as it is long.
const LIMIT: usize = 2_000;
/// Stack for going through a tree of [`LIMIT`] levels, in bytes; only what is used costs memory.
const STACK: usize = 64 << 20;

/// How often tokens may be read. sqlparser reads a subquery in two pairs of parentheses twice, and what is inside it
/// again for each time.
const READS: usize = 1_000;

/// Words that stand between or behind operands.
const OPERATORS: [&str; 17] = [
    "AND", "OR", "NOT", "LIKE", "ILIKE", "RLIKE", "REGEXP", "SIMILAR", "IS", "IN", "BETWEEN", "OVERLAPS", "XOR", "AT",
    "COLLATE", "JOIN", "UNPIVOT",
];
/// Words of operators that become calls of functions, which are several levels each.
const CALLS: [&str; 5] = ["SYMMETRIC", "JSON", "MEMBER", "SUBMULTISET", "MULTISET"];

fn word_levels(word: &str) -> usize {
    let is_one_of = |words: &[&str]| words.iter().any(|w| word.eq_ignore_ascii_case(w));
    if is_one_of(&OPERATORS) {
        1
    } else if is_one_of(&CALLS) {
        4
    } else {
        0
    }
}

/// Levels inside one pair of parentheses.
#[derive(Default)]
struct Group {
    /// Set operations.
    sets: usize,
    /// Operators since the last comma or set operation.
    operators: usize,
    /// The deepest parentheses since then.
    inner: usize,
    /// The deepest of what stands before the last comma or set operation.
    before: usize,
    /// How often sqlparser reads the group; 0 is once.
    reads: usize,
}

impl Group {
    fn levels(&self) -> usize {
        self.sets + self.before.max(self.operators + self.inner)
    }

    fn next_item(&mut self) {
        self.before = self.before.max(self.operators + self.inner);
        (self.operators, self.inner) = (0, 0);
    }
}

/// Refuses tokens whose tree would have more than [`LIMIT`] levels.
pub(super) fn check(tokens: &[TokenWithSpan]) -> Result<()> {
    let mut outer: Vec<Group> = vec![];
    let mut group = Group::default();
    for (i, token) in tokens.iter().enumerate() {
        match &token.token {
            Token::LParen | Token::LBracket => {
                let reads = group.reads.max(1) * reads(tokens, i);
                if reads > READS {
                    return Err(Error::new(
                        "syntax-error",
                        "too many parentheses stand around subqueries in subqueries",
                    )
                    .with_hint("leave out parentheses that stand twice")
                    .at(span_of(token.span)));
                }
                outer.push(std::mem::replace(&mut group, Group { reads, ..Group::default() }));
            }
            Token::RParen | Token::RBracket => {
                let inner = group.levels() + 1;
                group = outer.pop().unwrap_or_default();
                group.inner = group.inner.max(inner);
            }
            Token::Comma => group.next_item(),
            Token::Word(w) if w.quote_style.is_none() => match w.keyword {
                Keyword::UNION | Keyword::INTERSECT | Keyword::EXCEPT => {
                    group.next_item();
                    group.sets += 1;
                }
                _ => group.operators += word_levels(&w.value),
            },
            Token::Word(_) | Token::Number(..) | Token::SingleQuotedString(_) | Token::Period => {}
            _ => group.operators += 1,
        }
        if group.levels() > LIMIT {
            return Err(Error::new("syntax-error", format!("more than {LIMIT} operators stand in one chain"))
                .with_hint("use IN for many alternatives, VALUES for many rows, or split the statement")
                .at(span_of(token.span)));
        }
    }
    Ok(())
}

/// How often a subquery is read that begins behind the parentheses from `at` on: once for each of them.
fn reads(tokens: &[TokenWithSpan], at: usize) -> usize {
    let is_paren = |t: Option<&TokenWithSpan>| t.is_some_and(|t| t.token == Token::LParen);
    if !is_paren(tokens.get(at)) || at.checked_sub(1).is_some_and(|before| is_paren(tokens.get(before))) {
        return 1;
    }
    let count = tokens.iter().skip(at).take_while(|t| t.token == Token::LParen).count();
    match tokens.get(at + count).map(|t| &t.token) {
        Some(Token::Word(w)) if matches!(w.keyword, Keyword::SELECT | Keyword::VALUES | Keyword::WITH) => count,
        _ => 1,
    }
}

/// Builds or goes through the tree of tokens that [`check`] let pass.
pub(crate) fn on_deep_stack<T>(walk: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(STACK / 2, STACK, walk)
}

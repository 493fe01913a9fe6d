//! Tokens of a query as sqlparser can read them.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

use super::values;
use crate::statement::{DIFFERENCE, WITHIN};

/// Writes out what sqlparser does not know in words it knows; all places stay.
pub(super) fn query(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let tokens = differences(matching(ceilings(values::parenthesized(table_as_query(without_period(tokens))))));
    let missing = missing_in_grouping_sets(&tokens);
    let tokens = inserted(tokens, missing);
    let lists = quantified_lists(&tokens);
    inserted(tokens, lists)
}

/// `> ANY (1, 2)`: parentheses around the list of values, which make it one expression.
fn quantified_lists(tokens: &[TokenWithSpan]) -> Vec<(usize, Token)> {
    let compares =
        |token: &Token| matches!(token, Token::Eq | Token::Neq | Token::Lt | Token::Gt | Token::LtEq | Token::GtEq);
    let mut parens = vec![];
    // the parentheses that are open, and which of them hold a list
    let mut open: Vec<bool> = vec![];
    for (i, token) in tokens.iter().enumerate() {
        match token.token {
            Token::LParen => {
                let quantified = i.checked_sub(2).and_then(|at| tokens.get(at)).is_some_and(|t| compares(&t.token))
                    && is_word(i.checked_sub(1).and_then(|at| tokens.get(at)), &["ANY", "SOME", "ALL"])
                    && !is_word(tokens.get(i + 1), &["SELECT", "VALUES", "WITH", "TABLE"])
                    && tokens.get(i + 1).is_some_and(|t| t.token != Token::LParen);
                open.push(quantified);
                if quantified {
                    parens.push((i + 1, Token::LParen));
                }
            }
            Token::RParen if open.pop() == Some(true) => parens.push((i, Token::RParen)),
            _ => {}
        }
    }
    parens
}

pub(super) fn is_word(token: Option<&TokenWithSpan>, words: &[&str]) -> bool {
    matches!(token.map(|t| &t.token), Some(Token::Word(w)) if w.quote_style.is_none()
        && words.iter().any(|word| w.value.eq_ignore_ascii_case(word)))
}

/// Puts parentheses before the tokens of these indices, which ascend.
pub(super) fn inserted(tokens: Vec<TokenWithSpan>, parens: Vec<(usize, Token)>) -> Vec<TokenWithSpan> {
    if parens.is_empty() {
        return tokens;
    }
    let end = tokens.last().map_or(sqlparser::tokenizer::Location::empty(), |t| t.span.end);
    let paren = |token: Token, at| TokenWithSpan { token, span: sqlparser::tokenizer::Span::new(at, at) };
    let mut parens = parens.into_iter().peekable();
    let mut all = Vec::with_capacity(tokens.len() * 2);
    for (i, token) in tokens.into_iter().enumerate() {
        while let Some((_, before)) = parens.next_if(|(at, _)| *at == i) {
            all.push(paren(before, token.span.start));
        }
        all.push(token);
    }
    all.extend(parens.map(|(_, token)| paren(token, end)));
    all
}

/// `CEILING` as `CEIL`, the one that takes a unit.
fn ceilings(mut tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    for token in &mut tokens {
        if is_word(Some(token), &["CEILING"]) {
            *token = word("CEIL", Keyword::CEIL, token.span);
        }
    }
    tokens
}

/// `PERIOD (a, b) OVERLAPS ..` without the word, which says nothing and is reserved.
fn without_period(mut tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let opens: Vec<bool> = tokens.iter().skip(1).map(|t| t.token == Token::LParen).chain([false]).collect();
    let mut opens = opens.into_iter();
    tokens.retain(|token| !(opens.next() == Some(true) && is_word(Some(token), &["PERIOD"])));
    tokens
}

fn word(value: &str, keyword: Keyword, span: sqlparser::tokenizer::Span) -> TokenWithSpan {
    TokenWithSpan { token: Token::Word(Word { value: value.to_owned(), quote_style: None, keyword }), span }
}

/// Units of time.
const UNITS: [&str; 8] = ["YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"];

/// `(a - b) DAY TO SECOND`, a difference of times and what it is measured in, as a call of [`DIFFERENCE`] with `a - b` and
/// the text `DAY TO SECOND`.
fn differences(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let mut open = vec![];
    // the index of each `(`, of its `)` and behind the unit
    let mut found: Vec<(usize, usize, usize)> = vec![];
    for (i, token) in tokens.iter().enumerate() {
        match token.token {
            Token::LParen => open.push(i),
            Token::RParen => {
                let Some(start) = open.pop() else { continue };
                let called = start.checked_sub(1).and_then(|at| tokens.get(at)).is_some_and(|t| match &t.token {
                    Token::Word(w) => {
                        w.quote_style.is_some()
                            || !crate::is_reserved(&w.value)
                            || w.value.eq_ignore_ascii_case("INTERVAL")
                    }
                    token => *token == Token::RBracket,
                });
                let end = qualifier_end(&tokens, i + 1);
                if !called && end > i + 1 {
                    found.push((start, i, end));
                }
            }
            _ => {}
        }
    }
    if found.is_empty() {
        return tokens;
    }
    let mut names: Vec<usize> = found.iter().map(|(start, ..)| *start).collect();
    names.sort_unstable();
    let mut names = names.into_iter().peekable();
    let mut found = found.into_iter().peekable();
    let mut all = Vec::with_capacity(tokens.len() + 16);
    let mut skip_to = 0;
    for (i, token) in tokens.iter().enumerate() {
        if i < skip_to {
            continue;
        }
        while names.next_if(|start| *start == i).is_some() {
            all.push(word(DIFFERENCE, Keyword::NoKeyword, token.span));
        }
        if let Some((_, close, end)) = found.next_if(|(_, close, _)| *close == i) {
            let unit = tokens.get(close + 1..end).unwrap_or_default();
            let place = unit.first().map_or(token.span, |t| t.span);
            all.push(TokenWithSpan { token: Token::Comma, span: place });
            all.push(TokenWithSpan { token: Token::SingleQuotedString(unit_text(unit)), span: place });
            skip_to = end;
        }
        all.push(token.clone());
    }
    all
}

/// A unit as it is printed: `DAY(3) TO SECOND(6)`.
fn unit_text(tokens: &[TokenWithSpan]) -> String {
    let mut text = String::new();
    for token in tokens {
        match &token.token {
            Token::Word(w) if w.value.eq_ignore_ascii_case("TO") => text.push_str(" TO "),
            Token::Comma => text.push_str(", "),
            other => text.push_str(&other.to_string().to_ascii_uppercase()),
        }
    }
    text
}

/// The index behind the unit that stands at `at`: `DAY(3) TO SECOND(6)`; `at` itself if none does.
fn qualifier_end(tokens: &[TokenWithSpan], at: usize) -> usize {
    if !is_word(tokens.get(at), &UNITS) {
        return at;
    }
    let precision = |from: usize| {
        let is = |at: usize, token: Token| tokens.get(at).is_some_and(|t| t.token == token);
        let number = |at: usize| matches!(tokens.get(at).map(|t| &t.token), Some(Token::Number(..)));
        if !is(from, Token::LParen) || !number(from + 1) {
            return from;
        }
        if is(from + 2, Token::RParen) {
            from + 3
        } else if is(from + 2, Token::Comma) && number(from + 3) && is(from + 4, Token::RParen) {
            from + 5
        } else {
            from
        }
    };
    let end = precision(at + 1);
    if is_word(tokens.get(end), &["TO"]) && is_word(tokens.get(end + 1), &UNITS) { precision(end + 2) } else { end }
}

/// `PATTERN (..) WITHIN interval DEFINE ..` as `PATTERN (..) DEFINE within AS interval, ..` with the name [`WITHIN`], and
/// `AFTER MATCH SKIP TO a` as `AFTER MATCH SKIP TO LAST a`, which it means.
fn matching(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    if !tokens.iter().any(|t| is_word(Some(t), &["MATCH_RECOGNIZE"])) {
        return tokens;
    }
    let mut all: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len() + 8);
    // a WITHIN that waits for its DEFINE
    let mut within: Vec<TokenWithSpan> = vec![];
    let mut waits = false;
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let next = tokens.peek();
        if waits && is_word(Some(&token), &["DEFINE"]) {
            waits = false;
            let span = token.span;
            all.push(token);
            all.push(word(WITHIN, Keyword::NoKeyword, span));
            all.push(word("AS", Keyword::AS, span));
            all.append(&mut within);
            all.push(TokenWithSpan { token: Token::Comma, span });
            continue;
        }
        if waits {
            within.push(token);
            continue;
        }
        let behind_pattern = all.last().is_some_and(|t| t.token == Token::RParen);
        if behind_pattern && is_word(Some(&token), &["WITHIN"]) && is_word(next, &["INTERVAL"]) {
            waits = true;
            continue;
        }
        let skips_to = is_word(Some(&token), &["TO"])
            && is_word(all.last(), &["SKIP"])
            && !is_word(next, &["NEXT", "FIRST", "LAST"]);
        let span = token.span;
        all.push(token);
        if skips_to {
            all.push(word("LAST", Keyword::LAST, span));
        }
    }
    all.append(&mut within);
    all
}

/// `TABLE t` as `SELECT * FROM t`, which it means, at the beginning of a query and behind UNION and the like. In
/// parentheses it may be a function's argument as well.
fn table_as_query(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let sets = ["UNION", "INTERSECT", "EXCEPT"];
    let mut all: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len() + 2);
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let begins = all.last().is_none_or(|last| {
            is_word(Some(last), &sets)
                || is_word(Some(last), &["ALL", "DISTINCT"]) && is_word(all.iter().nth_back(1), &sets)
        });
        let named = matches!(tokens.peek().map(|t| &t.token), Some(Token::Word(_)));
        if begins && named && is_word(Some(&token), &["TABLE"]) {
            let span = token.span;
            all.push(word("SELECT", Keyword::SELECT, span));
            all.push(TokenWithSpan { token: Token::Mul, span });
            all.push(word("FROM", Keyword::FROM, span));
        } else {
            all.push(token);
        }
    }
    all
}

/// `GROUPING SETS (a, (b, c))`: which parentheses are missing around single columns.
fn missing_in_grouping_sets(tokens: &[TokenWithSpan]) -> Vec<(usize, Token)> {
    let mut missing = vec![];
    let mut depth = 0_usize;
    // the depth inside the parentheses of each GROUPING SETS that is open, and whether an item needs its `)`
    let mut lists: Vec<(usize, bool)> = vec![];
    for (i, token) in tokens.iter().enumerate() {
        if let Some((_, bare)) = lists.last_mut().filter(|(inside, _)| *inside == depth)
            && matches!(token.token, Token::Comma | Token::RParen)
            && std::mem::take(bare)
        {
            missing.push((i, Token::RParen));
        }
        match token.token {
            Token::LParen => depth += 1,
            Token::RParen => {
                lists.pop_if(|(inside, _)| *inside == depth);
                depth = depth.saturating_sub(1);
            }
            _ => {}
        }
        let opens = token.token == Token::LParen
            && i.checked_sub(2).is_some_and(|at| is_word(tokens.get(at), &["GROUPING"]))
            && is_word(i.checked_sub(1).and_then(|at| tokens.get(at)), &["SETS"]);
        if opens {
            lists.push((depth, false));
        }
        let next_item = token.token == Token::Comma && lists.last().is_some_and(|(inside, _)| *inside == depth);
        if !opens && !next_item {
            continue;
        }
        let item = tokens.get(i + 1);
        if let Some((_, bare)) = lists.last_mut()
            && item.is_some_and(|t| !matches!(t.token, Token::LParen | Token::RParen | Token::Comma))
        {
            missing.push((i + 1, Token::LParen));
            *bare = true;
        }
    }
    missing
}

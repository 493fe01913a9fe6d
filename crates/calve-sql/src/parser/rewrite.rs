//! Tokens of a query as sqlparser can read them.

use calve_types::{Error, Result};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

use super::values;
use crate::tokens::span_of;

/// Writes out what sqlparser does not know in words it knows; all places stay.
///
/// # Errors
/// `not-supported` for ROLLUP, CUBE and GROUPING SETS inside GROUPING SETS.
pub(super) fn query(tokens: Vec<TokenWithSpan>) -> Result<Vec<TokenWithSpan>> {
    let tokens = values::parenthesized(table_as_query(without_period(tokens)));
    let missing = missing_in_grouping_sets(&tokens)?;
    Ok(inserted(tokens, missing))
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

/// `PERIOD (a, b) OVERLAPS ..` without the word, which says nothing and is reserved.
fn without_period(mut tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let opens: Vec<bool> = tokens.iter().skip(1).map(|t| t.token == Token::LParen).chain([false]).collect();
    let mut opens = opens.into_iter();
    tokens.retain(|token| !(opens.next() == Some(true) && is_word(Some(token), &["PERIOD"])));
    tokens
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
            let word = |word: &str, keyword| {
                let word = Word { value: word.to_owned(), quote_style: None, keyword };
                TokenWithSpan { token: Token::Word(word), span }
            };
            all.push(word("SELECT", Keyword::SELECT));
            all.push(TokenWithSpan { token: Token::Mul, span });
            all.push(word("FROM", Keyword::FROM));
        } else {
            all.push(token);
        }
    }
    all
}

/// `GROUPING SETS (a, (b, c))`: which parentheses are missing around single columns.
fn missing_in_grouping_sets(tokens: &[TokenWithSpan]) -> Result<Vec<(usize, Token)>> {
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
        if is_word(item, &["ROLLUP", "CUBE", "GROUPING"]) {
            let place = item.map_or(token.span, |t| t.span);
            return Err(Error::unsupported("ROLLUP, CUBE or GROUPING SETS inside GROUPING SETS").at(span_of(place)));
        }
        if let Some((_, bare)) = lists.last_mut()
            && item.is_some_and(|t| !matches!(t.token, Token::LParen | Token::RParen | Token::Comma))
        {
            missing.push((i + 1, Token::LParen));
            *bare = true;
        }
    }
    Ok(missing)
}

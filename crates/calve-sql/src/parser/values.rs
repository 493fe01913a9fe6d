//! `VALUES 1, 2`: rows of one value without parentheses, which sqlparser does not read.

use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::rewrite::{inserted, is_word};

/// Whether a row without parentheses begins at a token.
fn begins_bare_row(token: Option<&TokenWithSpan>) -> bool {
    token.is_some_and(|t| t.token != Token::LParen) && !is_word(token, &["ROW"])
}

/// The rows of a VALUES that is read.
struct Rows {
    /// Parentheses around the VALUES.
    depth: usize,
    /// Whether the present row needs a `)`.
    bare: bool,
}

/// The tokens with parentheses around the rows of VALUES that have none.
pub(super) fn parenthesized(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let missing = missing(&tokens);
    inserted(tokens, missing)
}

/// Which parentheses are missing before which tokens, in order.
fn missing(tokens: &[TokenWithSpan]) -> Vec<(usize, Token)> {
    let mut missing = vec![];
    let mut depth = 0_usize;
    let mut lists: Vec<Rows> = vec![];
    for (i, token) in tokens.iter().enumerate() {
        let mut begins_row = false;
        if let Some(rows) = lists.last_mut().filter(|rows| rows.depth == depth) {
            let ends = token.token == Token::RParen
                || is_word(Some(token), &["UNION", "INTERSECT", "EXCEPT", "ORDER", "LIMIT", "OFFSET", "FETCH"]);
            begins_row = token.token == Token::Comma;
            if rows.bare && (ends || begins_row) {
                missing.push((i, Token::RParen));
                rows.bare = false;
            }
            if ends {
                lists.pop();
            }
        }
        match token.token {
            Token::LParen | Token::LBracket => depth += 1,
            Token::RParen | Token::RBracket => depth = depth.saturating_sub(1),
            _ => {}
        }
        if is_word(Some(token), &["VALUES"]) {
            lists.push(Rows { depth, bare: false });
            begins_row = true;
        }
        if begins_row
            && begins_bare_row(tokens.get(i + 1))
            && let Some(rows) = lists.last_mut()
        {
            missing.push((i + 1, Token::LParen));
            rows.bare = true;
        }
    }
    missing.extend(lists.iter().rev().filter(|rows| rows.bare).map(|_| (tokens.len(), Token::RParen)));
    missing
}

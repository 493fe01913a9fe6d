//! `VALUES 1, 2`: rows of one value without parentheses, which sqlparser does not read.

use sqlparser::tokenizer::{Span, Token, TokenWithSpan};

fn is_word(token: Option<&TokenWithSpan>, words: &[&str]) -> bool {
    matches!(token.map(|t| &t.token), Some(Token::Word(w)) if w.quote_style.is_none()
        && words.iter().any(|word| w.value.eq_ignore_ascii_case(word)))
}

/// Whether a row without parentheses begins at a token.
fn begins_bare_row(token: Option<&TokenWithSpan>) -> bool {
    token.is_some_and(|t| t.token != Token::LParen) && !is_word(token, &["ROW"])
}

/// The tokens with parentheses around the rows of VALUES that have none.
pub(super) fn parenthesized(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let is_bare = |i: usize| is_word(tokens.get(i), &["VALUES"]) && begins_bare_row(tokens.get(i + 1));
    let Some(first) = (0..tokens.len()).find(|&i| is_bare(i)) else { return tokens };
    let mut all = tokens.get(..first).unwrap_or_default().to_vec();
    // the parentheses around the row that is read, if it got its own
    let mut bare: Option<usize> = None;
    let mut depth = 0_usize;
    let paren = |token: Token, at| TokenWithSpan { token, span: Span::new(at, at) };
    for i in first..tokens.len() {
        let Some(token) = tokens.get(i) else { break };
        let ends_list = is_word(Some(token), &["UNION", "INTERSECT", "EXCEPT", "ORDER", "LIMIT", "OFFSET", "FETCH"]);
        if bare == Some(depth) && (ends_list || matches!(token.token, Token::Comma | Token::RParen)) {
            all.push(paren(Token::RParen, token.span.start));
            bare = None;
        }
        match token.token {
            Token::LParen | Token::LBracket => depth += 1,
            Token::RParen | Token::RBracket => depth = depth.saturating_sub(1),
            _ => {}
        }
        let continues = token.token == Token::Comma && all.last().is_some_and(|t| t.span.start == token.span.start);
        all.push(token.clone());
        if bare.is_none() && (is_bare(i) || continues && begins_bare_row(tokens.get(i + 1))) {
            let at = tokens.get(i + 1).map_or(token.span.end, |t| t.span.start);
            all.push(paren(Token::LParen, at));
            bare = Some(depth);
        }
    }
    if bare.is_some() {
        let at = all.last().map_or(Span::empty().end, |t| t.span.end);
        all.push(paren(Token::RParen, at));
    }
    all
}

//! The statement that the cursor is in.

use super::super::lex::{Kind, Lexeme, lexemes};

/// The pieces of the statement that `at` is in, comments left out.
pub fn statement_around(text: &str, at: usize) -> Vec<Lexeme> {
    let all = lexemes(text);
    let ends = |l: &Lexeme| l.is_symbol(text, ';');
    let begin = all.iter().rposition(|l| ends(l) && l.start < at).map_or(0, |i| i + 1);
    let end = all.iter().position(|l| ends(l) && l.start >= at).unwrap_or(all.len());
    all.get(begin..end).unwrap_or_default().iter().filter(|l| l.kind != Kind::Comment).copied().collect()
}

/// What of the pieces before the cursor belongs to its statement, without the words that a statement stands behind.
pub fn current(text: &str, before: Vec<Lexeme>) -> Vec<Lexeme> {
    let begin = before.iter().rposition(|l| l.is_symbol(text, ';')).map_or(0, |i| i + 1);
    let mut pieces: Vec<Lexeme> = before.into_iter().skip(begin).filter(|l| l.kind != Kind::Comment).collect();
    let leading = |pieces: &[Lexeme], words: &[&str]| {
        pieces.len() >= words.len() && pieces.iter().zip(words).all(|(l, word)| l.is_word(text, word))
    };
    if leading(&pieces, &["EXPLAIN", "PLAN", "FOR"]) {
        pieces.drain(..3);
    } else if leading(&pieces, &["EXPLAIN"]) {
        let details = pieces.iter().skip(1).take_while(|l| {
            l.is_symbol(text, ',')
                || ["ANALYZE", "ESTIMATED_COST", "CHANGELOG_MODE", "JSON_EXECUTION_PLAN", "PLAN_ADVICE"]
                    .iter()
                    .any(|word| l.is_word(text, word))
        });
        let count = 1 + details.count();
        pieces.drain(..count);
    }
    for words in [&["EXECUTE", "STATEMENT", "SET", "BEGIN"][..], &["STATEMENT", "SET", "BEGIN"]] {
        if leading(&pieces, words) {
            pieces.drain(..words.len());
        }
    }
    pieces
}

//! Colours of what is typed.

use std::ops::Range;

use super::lex::{Kind, Lexeme, lexemes};

const KEYWORD: &str = "\x1b[1;34m";
const STRING: &str = "\x1b[32m";
const NUMBER: &str = "\x1b[35m";
const NAME: &str = "\x1b[36m";
const COMMENT: &str = "\x1b[90m";
const HINT: &str = "\x1b[33m";
const WRONG: &str = "\x1b[31m";
const BRACKET: &str = "\x1b[1;7m";
const END: &str = "\x1b[0m";

/// Longer text stays as it is: it is drawn anew with every key.
const LONGEST: usize = 64 * 1024;

/// The text with colours, and with the bracket shown that belongs to the one at `cursor`.
pub fn paint(text: &str, cursor: Option<usize>) -> String {
    if text.len() > LONGEST {
        return text.to_owned();
    }
    let pieces = lexemes(text);
    let partner = cursor.and_then(|at| partner(text, &pieces, at));
    let mut painted = String::with_capacity(text.len() * 2);
    let mut done = 0;
    for piece in &pieces {
        painted.push_str(text.get(done..piece.start).unwrap_or_default());
        done = piece.end;
        let colour = if partner == Some(piece.start..piece.end) { Some(BRACKET) } else { colour(piece) };
        match colour {
            // a line break ends colours on some terminals
            Some(colour) => {
                for (n, line) in piece.text(text).split('\n').enumerate() {
                    if n > 0 {
                        painted.push('\n');
                    }
                    if !line.is_empty() {
                        painted.extend([colour, line, END]);
                    }
                }
            }
            None => painted.push_str(piece.text(text)),
        }
    }
    painted.push_str(text.get(done..).unwrap_or_default());
    painted
}

/// Text that is no part of what is typed.
pub fn faint(text: &str) -> String {
    format!("{COMMENT}{text}{END}")
}

fn colour(piece: &Lexeme) -> Option<&'static str> {
    match piece.kind {
        Kind::Keyword => Some(KEYWORD),
        Kind::Quoted => Some(NAME),
        Kind::String => Some(STRING),
        Kind::Number => Some(NUMBER),
        Kind::Comment => Some(COMMENT),
        Kind::HintStart | Kind::HintEnd => Some(HINT),
        Kind::Wrong => Some(WRONG),
        Kind::Word | Kind::Symbol => None,
    }
}

/// The bracket that belongs to the one at or before the cursor.
fn partner(text: &str, pieces: &[Lexeme], cursor: usize) -> Option<Range<usize>> {
    let bracket = |piece: &Lexeme| match piece.kind {
        Kind::Symbol => match piece.text(text) {
            "(" => Some((1_i32, ')')),
            "[" => Some((1, ']')),
            ")" => Some((-1, '(')),
            "]" => Some((-1, '[')),
            _ => None,
        },
        _ => None,
    };
    let at = pieces
        .iter()
        .position(|p| p.start == cursor && bracket(p).is_some())
        .or_else(|| pieces.iter().position(|p| p.end == cursor && bracket(p).is_some()))?;
    let (direction, other) = bracket(pieces.get(at)?)?;
    let own = pieces.get(at)?.text(text);
    let mut depth = 0_usize;
    let mut matching = |piece: &Lexeme| {
        if piece.is_symbol(text, other) {
            if depth == 0 {
                return true;
            }
            depth -= 1;
        } else if piece.kind == Kind::Symbol && piece.text(text) == own {
            depth += 1;
        }
        false
    };
    let found = if direction > 0 {
        pieces.iter().skip(at + 1).find(|p| matching(p))
    } else {
        pieces.iter().take(at).rev().find(|p| matching(p))
    };
    found.map(|p| p.start..p.end)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn plain(painted: &str) -> String {
        let mut text = String::new();
        let mut rest = painted;
        while let Some(at) = rest.find("\x1b[") {
            text.push_str(&rest[..at]);
            rest = rest[at..].split_once('m').unwrap().1;
        }
        text + rest
    }

    #[test]
    fn each_kind_has_its_colour() {
        assert_eq!(
            paint("select a, 'x' from `t` -- c", None),
            format!("{KEYWORD}select{END} a, {STRING}'x'{END} {KEYWORD}from{END} {NAME}`t`{END} {COMMENT}-- c{END}")
        );
        assert_eq!(paint("1 \"x\"", None), format!("{NUMBER}1{END} {WRONG}\"x\"{END}"));
    }

    #[test]
    fn the_partner_of_a_bracket_is_shown() {
        let text = "f(g(1), ')')";
        let shown =
            |cursor| paint(text, Some(cursor)).find(BRACKET).map(|at| plain(&paint(text, Some(cursor))[..at]).len());
        assert_eq!(shown(1), Some(11));
        assert_eq!(shown(12), Some(1));
        assert_eq!(shown(6), Some(3));
        assert_eq!(shown(8), None);
        assert_eq!(paint("(", Some(1)), "(");
        assert_eq!(paint("(]", Some(0)), "(]");
    }

    #[test]
    fn colours_change_no_text() {
        for text in ["SELECT 'a\nb'\n/* x\n\ny */ é", "", "'", "\n\n", "日本 \"x\" 1e5"] {
            for cursor in [None, Some(0), Some(text.len())] {
                assert_eq!(plain(&paint(text, cursor)), text);
            }
        }
    }
}

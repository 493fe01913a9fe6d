//! Shows how two transcripts differ.

use std::fmt::Write;
use std::time::Duration;

use similar::{ChangeTag, TextDiff};

/// Lines around a change.
const CONTEXT: usize = 3;
/// Lines of a difference that are shown.
const SHOWN: usize = 200;
/// Characters of a line that are shown.
const LINE: usize = 400;
/// Of them, those before the first difference, where the beginning of a line would not show it.
const BEFORE: usize = 100;
/// Characters of the statement at the head of a part.
const HEADING: usize = 100;
/// Time after which the difference of huge transcripts need not be the smallest.
const TIME: Duration = Duration::from_secs(2);

const RED: &str = "\u{1b}[31m";
const GREEN: &str = "\u{1b}[32m";
const CYAN: &str = "\u{1b}[36m";
const PLAIN: &str = "\u{1b}[0m";

/// A unified difference, each part headed by the statement it belongs to. Of many lines, the first are shown.
pub fn unified(name: &str, recorded: &str, now: &str) -> String {
    let diff = TextDiff::configure().timeout(TIME).diff_lines(recorded, now);
    let mut out = Lines { text: String::new(), count: 0 };
    out.push(&format!("--- {name}"));
    out.push(&format!("+++ {name}, now"));
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        let (old, new) = hunk
            .iter_changes()
            .find(|change| change.tag() != ChangeTag::Equal)
            .map_or((None, None), |change| (change.old_index(), change.new_index()));
        let statement = match (old, new) {
            (Some(line), _) => heading(diff.old_slices(), line),
            (_, Some(line)) => heading(diff.new_slices(), line),
            _ => None,
        };
        let statement: String = statement.unwrap_or_default().chars().take(HEADING).collect();
        out.push(format!("{} {statement}", hunk.header()).trim_end());
        let changes: Vec<(ChangeTag, &str)> = hunk.iter_changes().map(|c| (c.tag(), c.value())).collect();
        for ((tag, line), other) in changes.iter().zip(counterparts(&changes)) {
            let mark = match tag {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            let skipped = other.map_or(0, |other| hidden(line, other));
            out.push_from(Some(mark), line.trim_end_matches('\n'), skipped);
        }
    }
    if let Some(more) = out.count.checked_sub(SHOWN).filter(|more| *more > 0) {
        let _ = writeln!(out.text, "... {more} more lines");
    }
    out.text
}

/// A difference in colours.
pub fn coloured(difference: &str) -> String {
    let mut out = String::with_capacity(difference.len() * 2);
    for line in difference.lines() {
        let colour = match line.as_bytes().first() {
            Some(b'-') => RED,
            Some(b'+') => GREEN,
            Some(b'@') => CYAN,
            _ => "",
        };
        let end = if colour.is_empty() { "" } else { PLAIN };
        let _ = writeln!(out, "{colour}{line}{end}");
    }
    out
}

/// The statement that a line of a transcript belongs to.
fn heading<'a>(lines: &[&'a str], line: usize) -> Option<&'a str> {
    let before = lines.get(..=line)?;
    before.iter().rev().find(|line| line.starts_with("=== [")).map(|line| line.trim_end())
}

/// For each line that was taken away the one that came in its place, and the other way round.
fn counterparts<'a>(changes: &[(ChangeTag, &'a str)]) -> Vec<Option<&'a str>> {
    let mut others = vec![None; changes.len()];
    let run = |from: usize, wanted: ChangeTag| {
        let rest = changes.get(from..).unwrap_or_default();
        rest.iter().take_while(|(tag, _)| *tag == wanted).count()
    };
    let mut at = 0;
    while at < changes.len() {
        let gone = run(at, ChangeTag::Delete);
        let come = run(at + gone, ChangeTag::Insert);
        for (old, new) in (at..at + gone).zip(at + gone..at + gone + come) {
            for (one, other) in [(old, new), (new, old)] {
                if let (Some(place), Some((_, line))) = (others.get_mut(one), changes.get(other)) {
                    *place = Some(*line);
                }
            }
        }
        at += (gone + come).max(1);
    }
    others
}

/// How many characters of a line's beginning to leave out, so that its first difference to another one is shown.
fn hidden(line: &str, other: &str) -> usize {
    let same = line.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    if same + BEFORE > LINE { same - BEFORE } else { 0 }
}

struct Lines {
    text: String,
    count: usize,
}

impl Lines {
    fn push(&mut self, line: &str) {
        self.push_from(None, line, 0);
    }

    /// A line behind a mark, without so many characters of its beginning.
    fn push_from(&mut self, mark: Option<char>, line: &str, skipped: usize) {
        self.count += 1;
        if self.count > SHOWN {
            return;
        }
        self.text.extend(mark);
        if skipped > 0 {
            self.text.push_str("... ");
        }
        let line = line.char_indices().nth(skipped).and_then(|(at, _)| line.get(at..)).unwrap_or_default();
        let visible = |c: char| if c.is_control() && c != '\t' { '\u{fffd}' } else { c };
        self.text.extend(line.chars().take(LINE).map(visible));
        self.text.push_str(if line.chars().nth(LINE).is_some() { " ...\n" } else { "\n" });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORDED: &str = "=== [1] SELECT 1\n--- schema: a INT\n1\n--- 1 row(s)\n=== [2] SELECT 2\n--- schema: a INT\n1\n2\n--- 2 row(s)\n";

    #[test]
    fn a_change_is_shown_with_its_statement() {
        let now = RECORDED.replace("\n2\n", "\n3\n");
        insta::assert_snapshot!(unified("x.out", RECORDED, &now), @r"
        --- x.out
        +++ x.out, now
        @@ -5,5 +5,5 @@ === [2] SELECT 2
         === [2] SELECT 2
         --- schema: a INT
         1
        -2
        +3
         --- 2 row(s)
        ");
        let coloured = coloured(&unified("x.out", RECORDED, &now));
        assert!(coloured.contains("\u{1b}[31m-2\u{1b}[0m\n\u{1b}[32m+3\u{1b}[0m\n"));
    }

    #[test]
    fn much_is_cut() {
        let now: String = (0..5_000).map(|n| format!("{n}\n")).collect();
        let shown = unified("x.out", "", &now);
        assert_eq!(shown.lines().count(), SHOWN + 1);
        assert!(shown.ends_with("more lines\n"), "{shown}");
        let long = unified("x.out", "a\n", &format!("{}\u{1b}[2J\n", "é".repeat(10_000)));
        assert!(long.len() < 2_000 && !long.contains('\u{1b}'));
    }

    #[test]
    fn the_first_difference_of_long_lines_is_shown() {
        let start = "é".repeat(10_000);
        let shown = unified("x.out", &format!("{start}old{start}\n"), &format!("{start}new{start}\n"));
        let lines: Vec<&str> = shown.lines().skip(3).collect();
        let before = "é".repeat(BEFORE);
        for (line, mark) in lines.iter().zip(["-... ", "+... "]) {
            assert!(line.starts_with(&format!("{mark}{before}")) && line.ends_with(" ..."), "{line}");
            assert!(line.chars().count() < LINE + 20, "{line}");
        }
        assert!(lines[0].contains("éoldé") && lines[1].contains("énewé"), "{lines:?}");
        // one that only is longer
        let shown = unified("x.out", &format!("{start}\n"), &format!("{start}more\n"));
        assert!(shown.contains("émore\n"), "{shown}");
        // the n-th line that went stands for the n-th that came
        let shown = unified("x.out", &format!("{start}a\n{start}b\n"), &format!("{start}c\n{start}d\n"));
        for end in ["éa\n", "éb\n", "éc\n", "éd\n"] {
            assert!(shown.contains(end), "{shown}");
        }
        // what is short enough stands there as it is
        let shown = unified(
            "x.out",
            &format!("{}a\n", "x".repeat(LINE - BEFORE)),
            &format!("{}b\n", "x".repeat(LINE - BEFORE)),
        );
        assert!(!shown.contains("..."), "{shown}");
    }
}

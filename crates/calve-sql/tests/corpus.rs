//! The seeds of the fuzz targets and mutations of them: nothing panics or hangs, and what is printed parses again.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;
use std::time::{Duration, Instant};

use calve_sql::{Statement, parse_one, print, split};

fn seeds() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/statements");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 100, "{}", files.len());
    files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect()
}

/// A generator of numbers that is the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(end.max(1)).unwrap()).unwrap()
    }
}

/// Words, quoted pieces and signs of a text.
fn pieces(text: &str) -> Vec<&str> {
    calve_sql::lexemes(text).into_iter().filter_map(|lexeme| text.get(lexeme.range)).collect()
}

/// A statement with pieces left out, doubled, moved, or taken from another one.
fn mutated(seed: &str, other: &str, numbers: &mut Numbers) -> String {
    let mut own: Vec<&str> = pieces(seed);
    let others = pieces(other);
    for _ in 0..=numbers.below(3) {
        let at = numbers.below(own.len());
        match numbers.below(6) {
            0 if !own.is_empty() => drop(own.remove(at)),
            1 => own.truncate(at),
            2 if !own.is_empty() => own.insert(at, own[at]),
            3 if !own.is_empty() => {
                let to = numbers.below(own.len());
                own.swap(at, to);
            }
            4 if !others.is_empty() => own.insert(at.min(own.len()), others[numbers.below(others.len())]),
            _ if !others.is_empty() => {
                let from = numbers.below(others.len());
                own.splice(at.min(own.len())..at.min(own.len()), others[from..].iter().copied().take(6));
            }
            _ => {}
        }
    }
    own.join(" ")
}

/// Splits and parses a text, and prints its queries and parses them again.
fn check(text: &str) {
    let started = Instant::now();
    for statement in split(text) {
        let _ = calve_sql::parse(&statement);
    }
    calve_sql::is_complete(text);
    if let Ok(Statement::Query(query)) = parse_one(text) {
        let printed = print::query(&query);
        match parse_one(&printed) {
            Ok(Statement::Query(again)) => assert_eq!(print::query(&again), printed, "{text}"),
            other => panic!("{text}\nis printed as\n{printed}\nwhich is {other:?}"),
        }
    }
    assert!(started.elapsed() < Duration::from_secs(20), "{:?} for {text}", started.elapsed());
}

#[test]
fn seeds_hold() {
    seeds().iter().for_each(|seed| check(seed));
}

#[test]
fn mutations_of_seeds_hold() {
    let seeds = seeds();
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    for _ in 0..8_000 {
        let seed = &seeds[numbers.below(seeds.len())];
        let other = &seeds[numbers.below(seeds.len())];
        check(&mutated(seed, other, &mut numbers));
    }
}

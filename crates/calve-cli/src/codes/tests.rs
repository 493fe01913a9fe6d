#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use regex::Regex;

use super::*;

/// Codes that are no literal beside `Error::new` and its like.
const ELSEWHERE: [&str; 1] = ["malformed-row"];

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            if !["tests", "benches", "fuzz", "target"].contains(&name.as_str()) {
                sources(&path, found);
            }
        } else if name.ends_with(".rs") && name != "tests.rs" {
            found.push(path);
        }
    }
}

/// What finds the codes that functions of the sources are called with: those that take a code as their first argument, and
/// `Finding::new`, whose second one it is.
fn makers<'a>(texts: impl Iterator<Item = &'a str>) -> Regex {
    let takes = Regex::new(r"\bfn (\w+)(?:<[^>]*>)?\(([^)]*?)\bcode: &").unwrap();
    let mut makers = BTreeSet::from(["(?:Error|Self|Warning)::new".to_owned()]);
    for text in texts {
        for found in takes.captures_iter(text) {
            let before = found[2].trim();
            match &found[1] {
                "new" => assert!(["", "severity: Severity,"].contains(&before), "new({before} code: ..)"),
                name => {
                    assert!(["", "&self,"].contains(&before), "{name}: the code is not the first argument");
                    makers.insert(name.to_owned());
                }
            }
        }
    }
    for name in ["error", "refuse", "refused"] {
        assert!(makers.contains(name), "{makers:?}");
    }
    let makers: Vec<String> = makers.into_iter().collect();
    let code = r#"\s*(?:"([a-z][a-z0-9-]*)"|(?:\w+::)*([A-Z][A-Z_]+))\s*,"#;
    Regex::new(&format!(r"(?:\b(?:{})\(|\bFinding::new\(\s*[\w:]+,){code}", makers.join("|"))).unwrap()
}

/// The codes in the sources, each with a file that has it.
fn codes() -> BTreeMap<String, PathBuf> {
    let mut files = vec![];
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut files);
    let constant = Regex::new(r#"const ([A-Z_]+): &str = "([a-z][a-z0-9-]*)";"#).unwrap();
    let mut texts = vec![];
    let mut constants = BTreeMap::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        // unit tests stand at the end of a file
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap().to_owned();
        for found in constant.captures_iter(&code) {
            constants.insert(found[1].to_owned(), found[2].to_owned());
        }
        texts.push((file, code));
    }
    let made = makers(texts.iter().map(|(_, code)| code.as_str()));
    let mut codes = BTreeMap::new();
    for (file, code) in texts {
        for found in made.captures_iter(&code) {
            let name = match (found.get(1), found.get(2)) {
                (Some(literal), _) => literal.as_str().to_owned(),
                (None, Some(name)) => constants[name.as_str()].clone(),
                (None, None) => unreachable!(),
            };
            codes.insert(name, file.clone());
        }
    }
    codes
}

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let codes = codes();
    assert!(codes.len() > 80, "{codes:?}");
    let pages: BTreeSet<&str> = PAGES.iter().map(|page| page.code).collect();
    let missing: Vec<_> = codes.iter().filter(|(code, _)| !pages.contains(code.as_str())).collect();
    assert!(missing.is_empty(), "write pages/CODE.md and add it to pages.rs: {missing:?}");
    let idle: Vec<_> = pages.iter().filter(|page| !codes.contains_key(**page) && !ELSEWHERE.contains(*page)).collect();
    assert!(idle.is_empty(), "nothing has the code of these pages: {idle:?}");
}

#[test]
fn pages_are_sorted_and_of_one_form() {
    assert!(PAGES.is_sorted_by_key(|page| page.code));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/codes/pages");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), PAGES.len(), "a page is not in pages.rs");
    for page in PAGES {
        assert!(page.text.starts_with(&format!("# {}\n\n", page.code)), "{}", page.code);
        assert!(page.text.contains("\n## Where it comes from\n"), "{}", page.code);
        assert!(
            page.text.ends_with('\n') && page.text.lines().all(|line| line.chars().count() <= 140),
            "{}",
            page.code
        );
        let summary = page.summary();
        assert!(summary.len() > 10 && !summary.starts_with('#'), "{}", page.code);
    }
}

#[test]
fn a_code_is_found_as_it_is_copied() {
    for code in ["unknown-column", "error[unknown-column]", " UNKNOWN-COLUMN "] {
        assert!(explain(Some(code)).unwrap().starts_with("# unknown-column\n"), "{code}");
    }
    assert_eq!(
        explain(Some("unknown-colum")).unwrap_err(),
        "there is no code 'unknown-colum'; did you mean 'unknown-column'?"
    );
    assert!(explain(Some("zzz")).unwrap_err().contains("lists all codes"));
    let list = explain(None).unwrap();
    assert_eq!(list.lines().count(), PAGES.len());
    assert!(list.contains("\nunknown-table"));
}

//! From a value along a path, as Jayway's JsonPath goes.

use std::borrow::Cow;

use super::path::{Path, Step};
use super::scan::{Json, key_order, push_quoted};

/// What a path leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found<'a> {
    /// A value of the text.
    Value(Json<'a>),
    /// Members of an object, for `['a','b']`.
    Members(Vec<(Cow<'a, str>, Json<'a>)>),
    /// All values, of a path that may lead to several.
    All(Vec<Found<'a>>),
    Number(usize),
    Keys(Vec<Cow<'a, str>>),
    /// A function of something it does not work for.
    Null,
}

impl Found<'_> {
    pub fn is_null(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Value(json) => json.is_null(),
            _ => false,
        }
    }

    pub fn is_scalar(&self) -> bool {
        match self {
            Self::Null | Self::Number(_) => true,
            Self::Value(json) => json.is_scalar(),
            _ => false,
        }
    }

    /// The value as JSON, keys in order.
    pub fn push(&self, out: &mut String) {
        fn list<T>(items: &[T], out: &mut String, push: impl Fn(&T, &mut String)) {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                push(item, out);
            }
            out.push(']');
        }
        match self {
            Self::Value(json) => json.push(out),
            Self::Null => out.push_str("null"),
            Self::Number(number) => out.push_str(&number.to_string()),
            Self::All(items) => list(items, out, |item, out| item.push(out)),
            Self::Keys(keys) => list(keys, out, |key, out| push_quoted(key, out)),
            Self::Members(members) => {
                let mut members: Vec<_> = members.iter().collect();
                members.sort_by(|(a, _), (b, _)| key_order(a, b));
                out.push('{');
                for (i, (key, value)) in members.into_iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    push_quoted(key, out);
                    out.push(':');
                    value.push(out);
                }
                out.push('}');
            }
        }
    }
}

/// Why a strict path leads nowhere, in Flink's words.
type Missing = String;

struct Walk<'p, 'a> {
    path: &'p Path,
    root: Json<'a>,
    is_lax: bool,
    found: Vec<Found<'a>>,
}

/// What a path leads to from `here`; `None` where a lax path leads nowhere.
pub(super) fn read<'a>(
    path: &Path,
    here: Json<'a>,
    root: Json<'a>,
    is_lax: bool,
) -> Result<Option<Found<'a>>, Missing> {
    let mut walk = Walk { path, root, is_lax, found: vec![] };
    let walked = walk.step(0, here, true);
    if let (Err(missing), false) = (&walked, is_lax) {
        return Err(missing.clone());
    }
    if !path.is_definite() {
        let found = if walked.is_ok() { walk.found } else { vec![] };
        return Ok(Some(Found::All(found)));
    }
    match walk.found.pop() {
        Some(found) => Ok(Some(found)),
        None if is_lax => Ok(None),
        None => Err(format!("No results for path: {}", shown(path, path.steps.len()))),
    }
}

/// The one value a definite path leads to.
pub(super) fn one<'a>(path: &Path, here: Json<'a>, root: Json<'a>) -> Option<Json<'a>> {
    match read(path, here, root, true) {
        Ok(Some(Found::Value(json))) => Some(json),
        _ => None,
    }
}

/// The first steps of a path, as Jayway writes them.
fn shown(path: &Path, steps: usize) -> String {
    let mut out = "$".to_owned();
    for step in path.steps.iter().take(steps) {
        match step {
            Step::Property(name) => out.push_str(&format!("['{name}']")),
            Step::Index(index) => out.push_str(&format!("[{index}]")),
            _ => out.push_str("[..]"),
        }
    }
    out
}

impl<'a> Walk<'_, 'a> {
    /// Goes on from a value with the step at `at`. `definite`: all steps before led to one value.
    fn step(&mut self, at: usize, here: Json<'a>, definite: bool) -> Result<(), Missing> {
        let path = self.path;
        let Some(step) = path.steps.get(at) else {
            self.found.push(Found::Value(here));
            return Ok(());
        };
        let is_last = at + 1 == path.steps.len();
        let fails = definite && !self.is_lax;
        match step {
            Step::Property(name) => {
                if !here.is_object() {
                    return if fails { Err(self.no_object(at, name)) } else { Ok(()) };
                }
                match here.member(name) {
                    Some(value) => self.step(at + 1, value, definite),
                    None if is_last || !fails => Ok(()),
                    None => Err(format!("Missing property in path {}", shown(path, at + 1))),
                }
            }
            Step::Properties(names) => {
                let Some(first) = names.first().filter(|_| !here.is_object()) else {
                    if is_last {
                        let members = names.iter().filter_map(|n| Some((Cow::Owned(n.clone()), here.member(n)?)));
                        self.found.push(Found::Members(members.collect()));
                        return Ok(());
                    }
                    for value in names.iter().filter_map(|n| here.member(n)) {
                        self.step(at + 1, value, false)?;
                    }
                    return Ok(());
                };
                if fails { Err(self.no_object(at, first)) } else { Ok(()) }
            }
            Step::Index(_) | Step::Indices(_) | Step::Slice(..) => {
                if !here.is_array() {
                    let mut context = String::new();
                    here.push(&mut context);
                    return if fails {
                        Err(format!("Filter can only be applied to arrays. Current context is: {context}"))
                    } else {
                        Ok(())
                    };
                }
                self.elements(step, at, here, definite)
            }
            Step::Wildcard => {
                let values: Vec<Json<'a>> = if here.is_object() {
                    here.members().into_iter().map(|(_, value)| value).collect()
                } else {
                    here.elements().collect()
                };
                for value in values {
                    // What is missing below is left out.
                    let before = self.found.len();
                    if self.step(at + 1, value, false).is_err() {
                        self.found.truncate(before);
                    }
                }
                Ok(())
            }
            Step::Scan => self.scan(at + 1, here),
            Step::Filter(filter) => {
                if here.is_object() {
                    return if filter.accepts(here, self.root) { self.step(at + 1, here, false) } else { Ok(()) };
                }
                if !here.is_array() {
                    return if fails {
                        Err(format!("Filter: [?] can not be applied to primitives. Current context is: {}", {
                            let mut context = String::new();
                            here.push(&mut context);
                            context
                        }))
                    } else {
                        Ok(())
                    };
                }
                for element in here.elements() {
                    if filter.accepts(element, self.root) {
                        self.step(at + 1, element, false)?;
                    }
                }
                Ok(())
            }
            Step::Length => {
                self.found.push(if here.is_array() {
                    Found::Number(here.elements().count())
                } else if here.is_object() {
                    Found::Number(here.members().len())
                } else {
                    Found::Null
                });
                Ok(())
            }
            Step::Keys => {
                self.found.push(if here.is_object() {
                    Found::Keys(here.members().into_iter().map(|(key, _)| key).collect())
                } else {
                    Found::Null
                });
                Ok(())
            }
        }
    }

    fn no_object(&self, at: usize, name: &str) -> Missing {
        format!(
            "Expected to find an object with property ['{name}'] in path {} but found a value of another kind.",
            shown(self.path, at)
        )
    }

    /// The elements of an array that a step picks.
    fn elements(&mut self, step: &Step, at: usize, here: Json<'a>, definite: bool) -> Result<(), Missing> {
        // Most often the first ones are wanted, which needs no count.
        if let Step::Index(index) = step
            && let Ok(index) = usize::try_from(*index)
        {
            return match here.elements().nth(index) {
                Some(element) => self.step(at + 1, element, definite),
                None => Ok(()),
            };
        }
        let elements: Vec<Json<'a>> = here.elements().collect();
        let length = elements.len() as i64;
        let from_end = |index: i64| if index < 0 { index + length } else { index };
        let picked: Vec<i64> = match step {
            Step::Index(index) => vec![from_end(*index)],
            Step::Indices(indices) => indices.iter().map(|i| from_end(*i)).collect(),
            Step::Slice(Some(from), None) => (from_end(*from).max(0)..length).collect(),
            Step::Slice(None, Some(to)) => (0..from_end(*to).min(length)).collect(),
            Step::Slice(Some(from), Some(to)) => {
                (*from..(*to).min(length)).take(elements.len() * 2).map(from_end).collect()
            }
            _ => vec![],
        };
        let definite = definite && matches!(step, Step::Index(_));
        for index in picked {
            if let Some(element) = usize::try_from(index).ok().and_then(|i| elements.get(i)) {
                self.step(at + 1, *element, definite)?;
            }
        }
        Ok(())
    }

    /// All values from here on that the step at `at` works for.
    fn scan(&mut self, at: usize, here: Json<'a>) -> Result<(), Missing> {
        let is_last = at + 1 == self.path.steps.len();
        let matches = match self.path.steps.get(at) {
            Some(Step::Property(name)) => here.member(name).is_some(),
            Some(Step::Properties(names)) => {
                here.is_object() && (!is_last || names.iter().all(|n| here.member(n).is_some()))
            }
            Some(Step::Index(_) | Step::Indices(_) | Step::Slice(..)) => here.is_array(),
            Some(Step::Wildcard) => here.is_object() || here.is_array(),
            Some(Step::Filter(filter)) => here.is_object() && filter.accepts(here, self.root),
            _ => false,
        };
        if matches {
            self.step(at, here, false)?;
        }
        if here.is_object() {
            for (_, value) in here.members() {
                self.scan(at, value)?;
            }
        } else {
            for element in here.elements() {
                self.scan(at, element)?;
            }
        }
        Ok(())
    }
}

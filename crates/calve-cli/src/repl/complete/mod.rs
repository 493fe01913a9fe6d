//! What the Tab key offers.
//!
//! [`mod@context`] reads off the text what may stand at the cursor; here the names of that kind are collected.

mod around;
mod context;
mod tables;

use calve_engine::{ConnectorOption, connector_options};
use calve_options::{Kind, OptionDef};

use self::context::{Context, Options, Slot, context};
use self::tables::TableName;
use super::names::Names;
use super::words;

/// What there is to do about unfinished text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Nothing fits.
    Nothing,
    /// From that offset up to the cursor, put this text.
    Replace(usize, String),
    /// It could become one of these.
    List(Vec<String>),
}

/// Something the text can become.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Candidate {
    /// As it is listed.
    display: String,
    /// As it is written.
    replacement: String,
}

/// Candidates that are offered at most.
const MOST: usize = 1_000;

/// Offers names and words.
#[derive(Debug, Clone)]
pub struct Completion {
    names: Names,
    functions: Vec<&'static str>,
}

impl Completion {
    /// Offers these names.
    pub fn new(names: Names) -> Self {
        Self { names, functions: calve_engine::function_names() }
    }

    /// What to do at the place `at` of the text.
    pub fn step(&self, text: &str, at: usize) -> Step {
        let (start, mut candidates) = self.candidates(text, at);
        let typed = text.get(start..at).unwrap_or_default();
        match candidates.as_slice() {
            [] => Step::Nothing,
            [only] if only.replacement == typed => Step::Nothing,
            [_] => Step::Replace(start, candidates.swap_remove(0).replacement),
            many => {
                let common = common_beginning(many);
                if common.len() > typed.len() {
                    return Step::Replace(start, common.to_owned());
                }
                Step::List(candidates.into_iter().map(|candidate| candidate.display).collect())
            }
        }
    }

    /// The candidates for the place `at` of the text, and where the text begins that they replace.
    fn candidates(&self, text: &str, at: usize) -> (usize, Vec<Candidate>) {
        let context = context(text, at);
        let behind = text.get(at..).unwrap_or_default();
        let mut offer = Offer { context: &context, quote_follows: behind.starts_with('\''), pairs: vec![] };
        match &context.slot {
            Slot::Nothing => {}
            Slot::Words(words) => offer.words(words),
            Slot::Catalog => offer.names(self.names.catalogs()),
            Slot::Database => self.databases(&mut offer),
            Slot::Table(words) => self.tables(&mut offer, words),
            Slot::TargetColumn => offer.names(context.target.iter().flat_map(|target| self.names.columns(target))),
            Slot::Expression => self.expression(&mut offer),
            Slot::OptionName(options) => self.option_names(&mut offer, options),
            Slot::OptionValue(options, name) => self.option_values(&mut offer, options, name),
        }
        offer.pairs.truncate(MOST);
        (context.start, offer.pairs)
    }

    fn databases(&self, offer: &mut Offer<'_>) {
        match offer.context.qualifier.as_slice() {
            [] => {
                offer.names(self.names.databases(&self.names.current().0));
                // USE CATALOG, and catalogs that go before a database
                if offer.pairs.is_empty() {
                    offer.words(&["CATALOG"]);
                }
                offer.prefixes(self.names.catalogs());
            }
            [catalog] => offer.names(self.names.databases(catalog)),
            _ => {}
        }
    }

    fn tables(&self, offer: &mut Offer<'_>, words: &'static [&'static str]) {
        let (catalog, database) = self.names.current();
        match offer.context.qualifier.as_slice() {
            [] => {
                offer.names(offer.context.queries.iter().cloned());
                offer.names(self.names.tables(&catalog, &database));
                offer.prefixes(self.names.databases(&catalog));
                offer.prefixes(self.names.catalogs());
                if !offer.context.prefix.is_empty() || offer.pairs.is_empty() {
                    offer.words(words);
                }
            }
            [first] => {
                offer.names(self.names.tables(&catalog, first));
                if self.names.catalogs().contains(first) {
                    offer.prefixes(self.names.databases(first));
                }
            }
            [catalog, database] => offer.names(self.names.tables(catalog, database)),
            _ => {}
        }
    }

    fn expression(&self, offer: &mut Offer<'_>) {
        let context = offer.context;
        if !context.qualifier.is_empty() {
            let tables = context.tables.iter().filter(|table| is_called(table, &context.qualifier));
            offer.names(tables.flat_map(|table| self.names.columns(&table.path)));
            return;
        }
        offer.names(context.tables.iter().flat_map(|table| self.names.columns(&table.path)));
        let tables = context.tables.iter().filter_map(|table| table.alias.as_ref().or_else(|| table.path.last()));
        offer.prefixes(tables.cloned());
        if !context.backtick && (!context.prefix.is_empty() || offer.pairs.is_empty()) {
            offer.functions(&self.functions);
            offer.words(words::IN_EXPRESSIONS);
        }
    }

    fn option_names(&self, offer: &mut Offer<'_>, options: &Options) {
        match self.place(options) {
            Place::Connector(connector) => {
                offer.strings(["connector"]);
                for option in connector_options().iter().filter(|option| belongs(option.owner, connector)) {
                    match option.name.split_once('#') {
                        None => offer.strings([option.name]),
                        // the name of a column follows
                        Some((begin, _)) => offer.begun_string(begin),
                    }
                }
            }
            Place::Known(place) => offer.strings(options_of(place).map(|option| option.name)),
        }
        offer.pairs.sort_by(|a, b| a.display.cmp(&b.display));
    }

    fn option_values(&self, offer: &mut Offer<'_>, options: &Options, name: &str) {
        match self.place(options) {
            Place::Connector(_) if name == "connector" => offer.strings(CONNECTORS),
            Place::Connector(_) if name == "format" => offer.strings(FORMATS),
            Place::Connector(connector) => {
                let named = |option: &&ConnectorOption| option.name == name && belongs(option.owner, connector);
                let default = connector_options().iter().find(named).and_then(|option| option.default);
                match default {
                    Some("true" | "false") => offer.strings(["true", "false"]),
                    default => offer.strings(default),
                }
            }
            Place::Known(place) => {
                for option in options_of(place).filter(|option| option.name == name) {
                    match option.kind {
                        Kind::Boolean => offer.strings(["true", "false"]),
                        Kind::OneOf(values) => offer.strings(values.iter().copied()),
                        _ => offer.strings(option.default),
                    }
                }
            }
        }
    }

    fn place<'o>(&self, options: &'o Options) -> Place<'o> {
        Place::Known(match options {
            Options::Session => calve_options::Place::Session,
            Options::Catalog => calve_options::Place::Catalog,
            Options::Read => calve_options::Place::Read,
            Options::Write => calve_options::Place::Write,
            Options::Temporary(connector) => return Place::Connector(connector.as_deref()),
            Options::Table(path, connector) => {
                let catalog = match path.as_slice() {
                    [catalog, _, _] => catalog.clone(),
                    _ => self.names.current().0,
                };
                if connector.is_some() || !self.names.is_iceberg(&catalog) {
                    return Place::Connector(connector.as_deref());
                }
                calve_options::Place::Table
            }
        })
    }
}

/// Where the options come from.
enum Place<'a> {
    /// The table of all options.
    Known(calve_options::Place),
    /// A connector, or all of them.
    Connector(Option<&'a str>),
}

const CONNECTORS: [&str; 4] = ["blackhole", "datagen", "filesystem", "print"];
const FORMATS: [&str; 4] = ["csv", "json", "parquet", "raw"];

fn options_of(place: calve_options::Place) -> impl Iterator<Item = &'static OptionDef> {
    calve_options::TABLE.iter().filter(move |option| option.ineffective.is_none() && option.places.contains(&place))
}

/// Whether the options of a connector or format may stand in tables of a connector.
fn belongs(owner: &str, connector: Option<&str>) -> bool {
    connector.is_none_or(|connector| owner == connector || (connector == "filesystem" && FORMATS.contains(&owner)))
}

/// What all candidates begin with.
fn common_beginning(candidates: &[Candidate]) -> &str {
    let Some((first, others)) = candidates.split_first() else { return "" };
    let first = first.replacement.as_str();
    let length = first
        .char_indices()
        .find(|(at, c)| {
            others.iter().any(|o| o.replacement.get(*at..).and_then(|rest| rest.chars().next()) != Some(*c))
        })
        .map_or(first.len(), |(at, _)| at);
    first.get(..length).unwrap_or(first)
}

/// Whether names before a dot mean a table of the statement.
fn is_called(table: &TableName, names: &[String]) -> bool {
    match (&table.alias, names) {
        (Some(alias), [name]) => alias == name,
        (None, names) => table.path.ends_with(names),
        _ => false,
    }
}

/// Candidates as they are found.
struct Offer<'a> {
    context: &'a Context,
    /// Whether a string's closing quote stands behind the cursor.
    quote_follows: bool,
    pairs: Vec<Candidate>,
}

impl Offer<'_> {
    /// Whether a candidate continues what is typed. Names are told apart by case, but people may be lazy.
    fn fits(&self, candidate: &str) -> bool {
        let mut chars = candidate.chars().flat_map(char::to_lowercase);
        self.context.prefix.chars().flat_map(char::to_lowercase).all(|c| chars.next() == Some(c))
    }

    fn push(&mut self, display: String, replacement: String) {
        if !self.pairs.iter().any(|known| known.replacement == replacement) {
            self.pairs.push(Candidate { display, replacement });
        }
    }

    fn written(&self, name: &str) -> String {
        if self.context.backtick { calve_sql::print::identifier(name) } else { words::written(name) }
    }

    fn names(&mut self, names: impl IntoIterator<Item = String>) {
        for name in names.into_iter().take(MOST) {
            if self.fits(&name) {
                self.push(name.clone(), self.written(&name));
            }
        }
    }

    /// Names that go before a dot.
    fn prefixes(&mut self, names: impl IntoIterator<Item = String>) {
        for name in names {
            if self.fits(&name) {
                self.push(format!("{name}."), format!("{}.", self.written(&name)));
            }
        }
    }

    fn functions(&mut self, names: &[&str]) {
        for name in names {
            if self.fits(name) {
                let name = self.in_case(name);
                self.push(format!("{name}("), format!("{name}("));
            }
        }
    }

    fn words(&mut self, words: &[&str]) {
        if !self.context.qualifier.is_empty() || self.context.backtick {
            return;
        }
        for word in words {
            if self.fits(word) {
                let word = self.in_case(word);
                // a type may go on with its length
                let end = if words::TYPES.contains(&word.to_uppercase().as_str()) { "" } else { " " };
                self.push(word.clone(), format!("{word}{end}"));
            }
        }
    }

    fn strings<'s>(&mut self, strings: impl IntoIterator<Item = &'s str>) {
        let end = if self.quote_follows { "" } else { "'" };
        for string in strings {
            if self.fits(string) {
                self.push(string.to_owned(), format!("'{string}{end}"));
            }
        }
    }

    /// The beginning of a string that has to be continued.
    fn begun_string(&mut self, begin: &str) {
        if self.fits(begin) {
            self.push(format!("{begin}..."), format!("'{begin}"));
        }
    }

    /// A word in the case that is typed.
    fn in_case(&self, word: &str) -> String {
        let small = self.context.prefix.chars().next().is_some_and(char::is_lowercase);
        if small { word.to_lowercase() } else { word.to_owned() }
    }
}

#[cfg(test)]
mod tests;

//! Options of CREATE CATALOG that the server overrides. The specification lets it; whoever gave them should know, since what
//! the server says may hold inside of its own network alone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// Options that say where storage is. None of them is a secret.
const TOLD: [&str; 5] = ["s3.endpoint", "s3.path-style-access", "s3.region", "client.region", "gcs.service.host"];

/// What the options said, and what was told already.
pub(super) struct Overridden {
    catalog: String,
    given: BTreeMap<&'static str, String>,
    told: Mutex<Told>,
}

#[derive(Default)]
struct Told {
    seen: BTreeSet<(&'static str, String)>,
    pending: Vec<String>,
}

impl Overridden {
    /// For the options of a catalog.
    pub(super) fn new(catalog: &str, options: &BTreeMap<String, String>) -> Self {
        let given = TOLD.into_iter().filter_map(|key| Some((key, plain(options.get(key)?).to_owned())));
        let given = given.filter(|(_, value)| !value.is_empty()).collect();
        Self { catalog: catalog.to_owned(), given, told: Mutex::default() }
    }

    /// Notes what properties that the server gave override: those of a table, or of the whole catalog.
    pub(super) fn note(&self, properties: &BTreeMap<String, String>, table: Option<&str>) {
        for (key, given) in &self.given {
            let Some(value) =
                properties.get(*key).map(|value| plain(value)).filter(|value| !value.eq_ignore_ascii_case(given))
            else {
                continue;
            };
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            if told.seen.insert((key, value.to_owned())) {
                let of = table.map(|table| format!(" for table '{table}'")).unwrap_or_default();
                let catalog = &self.catalog;
                told.pending.push(format!(
                    "the server of catalog '{catalog}' sets '{key}' = '{value}'{of}, which wins over '{given}' in the options of \
                     the catalog"
                ));
            }
        }
    }

    /// What was noted since the last time.
    pub(super) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.told.lock().unwrap_or_else(PoisonError::into_inner).pending)
    }
}

fn plain(value: &str) -> &str {
    value.trim().trim_end_matches('/')
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    #[test]
    fn what_the_server_overrides_is_told_once() {
        let overridden = Overridden::new("c", &map(&[("s3.endpoint", "http://localhost:9000/"), ("s3.region", "")]));
        overridden.note(&map(&[("s3.endpoint", "http://localhost:9000"), ("s3.region", "x")]), None);
        assert!(overridden.take().is_empty(), "the same, and what was not given");
        let inner = map(&[("s3.endpoint", "http://minio:9000")]);
        overridden.note(&inner, Some("db.t"));
        overridden.note(&inner, Some("db.u"));
        let told = "the server of catalog 'c' sets 's3.endpoint' = 'http://minio:9000' for table 'db.t', which wins over \
                    'http://localhost:9000' in the options of the catalog";
        assert_eq!(overridden.take(), [told]);
        assert!(overridden.take().is_empty());
    }
}

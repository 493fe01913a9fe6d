//! Lists of catalogs that come in pages.

use std::collections::BTreeSet;

use calve_types::{Error, Result};

/// A list of more pages than this does not end.
const MOST_PAGES: usize = 100_000;

/// Follows the pages of a list.
pub(super) struct Pages {
    seen: BTreeSet<String>,
}

impl Pages {
    pub(super) fn new() -> Self {
        Self { seen: BTreeSet::new() }
    }

    /// The token of the page to ask for, `None` if there is none.
    ///
    /// # Errors
    /// `catalog-error` if the list does not end.
    pub(super) fn next(&mut self, token: Option<String>) -> Result<Option<String>> {
        let Some(token) = token.filter(|token| !token.is_empty()) else { return Ok(None) };
        if self.seen.len() >= MOST_PAGES || !self.seen.insert(token.clone()) {
            return Err(Error::new("catalog-error", "the server's list does not end")
                .with_detail("A page of it was announced twice, or there are too many pages."));
        }
        Ok(Some(token))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn pages_end() {
        let mut pages = Pages::new();
        assert_eq!(pages.next(None).unwrap(), None);
        assert_eq!(pages.next(Some(String::new())).unwrap(), None);
        assert_eq!(pages.next(Some("a".into())).unwrap().as_deref(), Some("a"));
        assert_eq!(pages.next(Some("b".into())).unwrap().as_deref(), Some("b"));
        assert_eq!(pages.next(Some("a".into())).unwrap_err().code, "catalog-error");
    }
}

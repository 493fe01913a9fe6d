//! "Did you mean": the name that a misspelt one most likely was meant to be.

use crate::Error;

/// Names longer than this are no misspelt ones, in characters: comparing takes quadratic time.
const LONGEST: usize = 200;

/// The candidate closest to `name`, if it is close enough to be meant: one in four characters may be wrong, missing, too
/// many or swapped with its neighbour, and at least one. Case does not count. The first of several that are as close;
/// never `name` itself.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    if length > LONGEST {
        return None;
    }
    let lower = name.to_lowercase();
    candidates
        .into_iter()
        .filter(|candidate| *candidate != name)
        .filter_map(|candidate| {
            let other = candidate.chars().count();
            let most = (length.max(other) / 4).max(1);
            // the distance is at least that
            if length.abs_diff(other) > most {
                return None;
            }
            let distance = strsim::damerau_levenshtein(&lower, &candidate.to_lowercase());
            // at least one character is the same
            (distance <= most && distance < length.max(other)).then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

impl Error {
    /// With the hint that it is the database of a table's name that is not there, among those of the catalog.
    pub fn without_database<'a>(self, database: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        match nearest(database, known) {
            Some(near) => self.with_hint(format!("there is no database '{database}': did you mean '{near}'?")),
            None => self.with_hint(format!("there is no database '{database}': SHOW DATABASES lists them")),
        }
    }

    /// With the hint `did you mean 'x'?`, if one of the candidates is [`nearest`] enough to `name`; the hint stays as it is
    /// otherwise.
    pub fn did_you_mean<'a>(self, name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Self {
        match nearest(name, candidates) {
            Some(near) => self.with_hint(format!("did you mean '{near}'?")),
            None => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_names_find_what_was_meant() {
        let known = ["i", "id", "name", "customer_id", "ROW_NUMBER"];
        let near = |name: &str| nearest(name, known);
        assert_eq!(near("ID"), Some("id"));
        assert_eq!(near("nmae"), Some("name"));
        assert_eq!(near("custmer_di"), Some("customer_id"));
        assert_eq!(near("row_numbr"), Some("ROW_NUMBER"));
        assert_eq!(near("name"), None);
        assert_eq!(near("zzzz"), None);
        assert_eq!(near("x"), None);
        assert_eq!(near(&"a".repeat(100_000)), None);
    }

    #[test]
    fn a_suggestion_is_a_hint() {
        let error = || Error::new("unknown-column", "no");
        assert_eq!(error().did_you_mean("nmae", ["name"]).hint.as_deref(), Some("did you mean 'name'?"));
        assert_eq!(error().with_hint("look").did_you_mean("x", ["name"]).hint.as_deref(), Some("look"));
    }
}

//! Where new files lie and what they are called.

use std::fmt::Write as _;

use calve_types::{Error, Result};
use uuid::Uuid;

use crate::table::Table;

/// Names for the files of one job, below the table's data folder (Java's `OutputFileFactory` and `LocationProviders`).
#[derive(Debug)]
pub(crate) struct Locations {
    data: String,
    job: Uuid,
}

impl Locations {
    /// Honours `write.data.path` and its older name `write.folder-storage.path`.
    ///
    /// # Errors
    /// `not-supported` for layouts calve does not make.
    pub(crate) fn new(table: &Table) -> Result<Self> {
        if table.property("write.object-storage.enabled").is_some_and(|v| v.eq_ignore_ascii_case("true")) {
            return Err(Error::unsupported("write.object-storage.enabled")
                .with_hint("unset the table property to write files in folders by partition"));
        }
        if let Some(class) = table.property("write.location-provider.impl") {
            return Err(Error::unsupported(format!("write.location-provider.impl '{class}'")));
        }
        let data = match table.property("write.data.path").or_else(|| table.property("write.folder-storage.path")) {
            Some(path) => path.trim_end_matches('/').to_owned(),
            None => format!("{}/data", table.metadata().location().trim_end_matches('/')),
        };
        Ok(Self { data, job: Uuid::now_v7() })
    }

    /// The folder all data files lie below.
    pub(crate) fn data_folder(&self) -> &str {
        &self.data
    }

    /// A name no other file has: writer and count tell the files of this job apart, its id those of others.
    pub(crate) fn file(&self, partition: &str, writer: usize, count: usize, suffix: &str) -> String {
        let mut location = self.data.clone();
        if !partition.is_empty() {
            location.push('/');
            location.push_str(partition);
        }
        // writing to a String cannot fail; the 0 is Java's attempt number
        let _ = write!(location, "/{writer:05}-0-{}-{count:05}{suffix}", self.job);
        location
    }
}

/// Java's `URLEncoder` with UTF-8: letters, digits and `.-*_` stay, a blank is `+`.
pub(crate) fn url_encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'*' | b'_' => encoded.push(char::from(byte)),
            b' ' => encoded.push('+'),
            _ => {
                let _ = write!(encoded, "%{byte:02X}");
            }
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_encoded_as_java_does() {
        assert_eq!(url_encode("a b/ü=%.-*_~"), "a+b%2F%C3%BC%3D%25.-*_%7E");
    }
}

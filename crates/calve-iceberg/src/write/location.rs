//! Where new files lie and what they are called.

use std::fmt::Write as _;

use calve_types::{Error, Result};
use uuid::Uuid;

use super::transform::murmur3;
use crate::table::Table;

/// Names for the files of one job, below the table's data folder (Java's `OutputFileFactory` and `LocationProviders`).
#[derive(Debug)]
pub(crate) struct Locations {
    data: String,
    layout: Layout,
    job: Uuid,
}

/// How files lie below the data folder.
#[derive(Debug)]
enum Layout {
    /// In folders by partition.
    Partitions,
    /// In folders by a hash of their names, so that an object store spreads them (`write.object-storage.enabled`).
    Hashed {
        /// The end of the table's location, if the data folder is not below it: tables may share the folder.
        context: Option<String>,
        /// Whether there are folders by partition below (`write.object-storage.partitioned-paths`).
        partitions: bool,
    },
}

/// Names of the folder of data files that Java's library refuses by now.
const DEPRECATED: [&str; 2] = ["write.object-storage.path", "write.folder-storage.path"];

impl Locations {
    /// Honours `write.data.path` and `write.object-storage.*`.
    ///
    /// # Errors
    /// `not-supported` for `write.location-provider.impl`; `invalid-option` for older names of `write.data.path`.
    pub(crate) fn new(table: &Table) -> Result<Self> {
        if let Some(class) = table.property("write.location-provider.impl") {
            return Err(Error::unsupported(format!("write.location-provider.impl '{class}'"))
                .with_hint("calve runs no Java classes: unset the table property"));
        }
        let is_true = |name, default| table.property(name).map_or(default, |v: &str| v.eq_ignore_ascii_case("true"));
        let hashed = is_true("write.object-storage.enabled", false);
        let root = table.metadata().location().trim_end_matches('/');
        let data = match table.property("write.data.path") {
            Some(path) => path.trim_end_matches('/').to_owned(),
            None => {
                // the first of them is about the hashed layout alone
                let old = DEPRECATED.iter().skip(usize::from(!hashed)).find(|name| table.property(name).is_some());
                if let Some(old) = old {
                    return Err(Error::new("invalid-option", format!("option '{old}' is deprecated"))
                        .with_detail(format!(
                            "Property '{old}' has been deprecated and will be removed in 2.0.0, use 'write.data.path' \
                             instead."
                        ))
                        .with_hint(format!("ALTER TABLE ... SET ('write.data.path' = '...') and RESET ('{old}')")));
                }
                format!("{root}/data")
            }
        };
        let layout = if hashed {
            Layout::Hashed {
                context: (!data.starts_with(root)).then(|| context(root)),
                partitions: is_true("write.object-storage.partitioned-paths", true),
            }
        } else {
            Layout::Partitions
        };
        Ok(Self { data, layout, job: Uuid::now_v7() })
    }

    /// The folder all data files lie below.
    pub(crate) fn data_folder(&self) -> &str {
        &self.data
    }

    /// A name no other file has: writer and count tell the files of this job apart, its id those of others.
    pub(crate) fn file(&self, partition: &str, writer: usize, count: usize, suffix: &str) -> String {
        // the 0 is Java's attempt number
        self.place(partition, &format!("{writer:05}-0-{}-{count:05}{suffix}", self.job))
    }

    fn place(&self, partition: &str, name: &str) -> String {
        let data = &self.data;
        let in_partition = if partition.is_empty() { name.to_owned() } else { format!("{partition}/{name}") };
        match &self.layout {
            Layout::Partitions => format!("{data}/{in_partition}"),
            Layout::Hashed { context, partitions } => {
                let name = if *partitions { &in_partition } else { name };
                let folders = entropy(name);
                match context {
                    Some(context) => format!("{data}/{folders}/{context}/{name}"),
                    None if *partitions => format!("{data}/{folders}/{name}"),
                    None => format!("{data}/{folders}-{name}"),
                }
            }
        }
    }
}

/// The last two parts of a table's location.
fn context(root: &str) -> String {
    let mut parts = root.rsplit('/').filter(|part| !part.is_empty());
    match (parts.next(), parts.next()) {
        (Some(table), Some(database)) if !database.ends_with(':') => format!("{database}/{table}"),
        (table, _) => table.unwrap_or_default().to_owned(),
    }
}

/// Twenty bits of a name's hash, as folders of four bits, the last of eight.
fn entropy(name: &str) -> String {
    let bits = format!("{:032b}", murmur3(name.as_bytes()));
    let mut folders = String::with_capacity(23);
    for (at, bit) in bits.chars().skip(12).enumerate() {
        if matches!(at, 4 | 8 | 12) {
            folders.push('/');
        }
        folders.push(bit);
    }
    folders
}

/// Java's `URLEncoder` with UTF-8: letters, digits and `.-*_` stay, a blank is `+`.
pub(crate) fn url_encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'*' | b'_' => encoded.push(char::from(byte)),
            b' ' => encoded.push('+'),
            _ => {
                // writing to a String cannot fail
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

    fn locations(data: &str, context: Option<&str>, partitions: bool) -> Locations {
        let layout = Layout::Hashed { context: context.map(str::to_owned), partitions };
        Locations { data: data.to_owned(), layout, job: Uuid::nil() }
    }

    /// Where Flink with Iceberg 1.11 put files of these names.
    #[test]
    fn hashed_folders_are_those_of_java() {
        let data = "file:/tmp/wh/d/os/data";
        assert_eq!(
            locations(data, None, true)
                .place("s=a+b%2Fc", "00000-0-a44e85bb-e2fa-4c3d-9dd7-12ea05408314-00001.parquet"),
            "file:/tmp/wh/d/os/data/0001/0100/0110/10011111/s=a+b%2Fc/\
             00000-0-a44e85bb-e2fa-4c3d-9dd7-12ea05408314-00001.parquet"
        );
        assert_eq!(
            locations(data, None, false)
                .place("s=a+b%2Fc", "00000-0-e157a18d-9a56-40b7-a4f9-031d6b04528d-00001.parquet"),
            "file:/tmp/wh/d/os/data/0000/1110/1011/10010101-00000-0-e157a18d-9a56-40b7-a4f9-031d6b04528d-00001.parquet"
        );
        assert_eq!(
            locations("file:/tmp/else/x", Some("d/os3"), true)
                .place("", "00000-0-9fc29fe9-44a5-449a-b343-eda62ab20c08-00001.parquet"),
            "file:/tmp/else/x/0000/1101/1011/10001001/d/os3/00000-0-9fc29fe9-44a5-449a-b343-eda62ab20c08-00001.parquet"
        );
    }

    #[test]
    fn tables_in_one_folder_are_told_apart() {
        assert_eq!(context("file:/tmp/wh/d/os3"), "d/os3");
        assert_eq!(context("s3://bucket/t"), "bucket/t");
        assert_eq!(context("file:/t"), "t");
    }
}

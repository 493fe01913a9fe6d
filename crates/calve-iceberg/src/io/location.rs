//! Locations: what metadata calls a file, and the storage it lies in.
//!
//! A location is `/abs`, `file:/abs` or `file:///abs`, or a URI of object storage: `s3://bucket/key` (`s3a`, `s3n`),
//! `gs://bucket/key`, `abfss://container@account.dfs.core.windows.net/key` (`abfs`, `wasb`, `wasbs`). Keys are taken
//! literally, as Iceberg writes them: `%41` is three characters.
//!
//! **What a table may touch.** Metadata is written by whoever may write to a table, and its reader has more rights than that:
//! the reader's own files, the reader's own buckets. So a table may name
//!
//! * files in the kind of storage where the catalog keeps its metadata file (its home), in any bucket there;
//! * files in another kind of remote storage only if the catalog's properties speak of that kind (`s3.*`, `gcs.*`, `adls.*`, a
//!   `warehouse` or an `io-impl` of it, or vended credentials for it);
//! * files of the local file system only if its home is the local file system.
//!
//! No location leaves its bucket or its container, and `..` is refused everywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use calve_types::{Error, Result};
use object_store::path::Path as StorePath;

use super::properties::{check_file_io, given};
use crate::error::Context;

/// A kind of storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    /// The local file system.
    Local,
    /// Amazon S3, and what speaks like it.
    S3,
    /// Google Cloud Storage.
    Gcs,
    /// Azure Data Lake Storage.
    Adls,
}

/// Schemes of URIs, those that we write ourselves first.
const SCHEMES: [(&str, Kind); 9] = [
    ("file", Kind::Local),
    ("s3", Kind::S3),
    ("s3a", Kind::S3),
    ("s3n", Kind::S3),
    ("gs", Kind::Gcs),
    ("abfss", Kind::Adls),
    ("abfs", Kind::Adls),
    ("wasbs", Kind::Adls),
    ("wasb", Kind::Adls),
];

impl Kind {
    /// The kind of a URI's scheme.
    pub(super) fn of_scheme(scheme: &str) -> Option<Self> {
        SCHEMES.iter().find(|(known, _)| *known == scheme).map(|(_, kind)| *kind)
    }

    /// The scheme we write ourselves.
    pub(super) fn scheme(self) -> &'static str {
        SCHEMES.iter().find(|(_, kind)| *kind == self).map_or("file", |(scheme, _)| scheme)
    }

    /// What people call it.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Local => "the local file system",
            Self::S3 => "S3",
            Self::Gcs => "Google Cloud Storage",
            Self::Adls => "Azure Data Lake Storage",
        }
    }

    /// What its properties begin with.
    fn prefix(self) -> Option<&'static str> {
        match self {
            Self::Local => None,
            Self::S3 => Some("s3."),
            Self::Gcs => Some("gcs."),
            Self::Adls => Some("adls."),
        }
    }

    /// Whether it is reached over a network.
    pub(crate) fn is_remote(self) -> bool {
        self != Self::Local
    }
}

/// A location, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place<'a> {
    /// The kind of storage.
    pub(crate) kind: Kind,
    /// The bucket, or `container@host`; empty for local files.
    pub(crate) authority: &'a str,
    /// The key without a slash in front; the absolute path of a local file.
    pub(crate) key: &'a str,
}

impl<'a> Place<'a> {
    /// Takes a location apart.
    ///
    /// # Errors
    /// `not-supported` for another scheme, `invalid-table` for a relative path or a URI without a bucket.
    pub(crate) fn parse(location: &'a str) -> Result<Self> {
        let invalid = |why: &str| Error::new("invalid-table", format!("the location '{location}' {why}"));
        if location.starts_with('/') {
            return Ok(Self { kind: Kind::Local, authority: "", key: location });
        }
        if let Some(rest) = location.strip_prefix("file:") {
            let path = rest.strip_prefix("//").unwrap_or(rest);
            if path.starts_with('/') {
                return Ok(Self { kind: Kind::Local, authority: "", key: path });
            }
            return Err(invalid("is not an absolute path").with_hint("use '/path' or 'file:///path'"));
        }
        let Some((scheme, rest)) = location.split_once("://").filter(|(scheme, _)| !scheme.contains('/')) else {
            return Err(invalid("is not an absolute path").with_hint("use '/path' or 'file:///path'"));
        };
        let Some(kind) = Kind::of_scheme(scheme) else {
            return Err(Error::unsupported(format!("files of scheme '{scheme}' ('{location}')"))
                .with_hint("known are local files ('/path'), 's3://', 'gs://' and 'abfss://'"));
        };
        let (authority, key) = rest.split_once('/').unwrap_or((rest, ""));
        if authority.is_empty() {
            return Err(invalid("names no bucket"));
        }
        Ok(Self { kind, authority, key })
    }

    /// The path in the routing store: the kind, the authority, the key.
    ///
    /// # Errors
    /// `invalid-table` for keys that no path can hold: `..`, `.`, two slashes in a row, control characters.
    pub(super) fn store_path(&self, location: &str) -> Result<StorePath> {
        let what = || format!("use the file '{location}'");
        let invalid = |e: object_store::path::Error| Error::new("invalid-table", format!("cannot {}: {e}", what()));
        if self.kind == Kind::Local {
            let path = StorePath::from_absolute_path(self.key).context(what)?;
            return StorePath::parse(format!("{}/{path}", Kind::Local.scheme())).map_err(invalid);
        }
        StorePath::parse(format!("{}/{}/{}", self.kind.scheme(), self.authority, self.key)).map_err(invalid)
    }
}

/// The kinds of storage that may be touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reach {
    /// Whether there is more than local files at all.
    remote: bool,
    /// The kinds that properties speak of.
    named: BTreeSet<Kind>,
    /// Where the table lies whose files these are.
    home: Home,
}

/// Where a table lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Home {
    /// The files are no table's: the catalog reads what it names itself.
    Catalog,
    /// In this kind of storage.
    Kind(Kind),
    /// In storage we do not know: its files may be nowhere else.
    Unknown,
}

impl Reach {
    /// Local files.
    pub(super) fn local() -> Self {
        Self { remote: false, named: BTreeSet::new(), home: Home::Catalog }
    }

    /// All storage, with the kinds that the properties speak of.
    ///
    /// # Errors
    /// `not-supported` for an unknown `io-impl`.
    pub(super) fn of(properties: &BTreeMap<String, String>) -> Result<Self> {
        let remote = [Kind::S3, Kind::Gcs, Kind::Adls].into_iter();
        let spoken = |kind: &Kind| {
            let begins = |key: &String| kind.prefix().is_some_and(|prefix| key.starts_with(prefix));
            properties.keys().any(|key| begins(key) || (*kind == Kind::S3 && key.starts_with("client.")))
        };
        let mut named: BTreeSet<Kind> = remote.filter(spoken).collect();
        named.extend(check_file_io(properties)?);
        let warehouse = given(properties, "warehouse").and_then(|location| Place::parse(location).ok());
        named.extend(warehouse.map(|place| place.kind));
        Ok(Self { remote: true, named, home: Home::Catalog })
    }

    /// The same, with another kind that is spoken of.
    pub(super) fn with(mut self, kind: Kind) -> Self {
        self.named.insert(kind);
        self
    }

    /// What a table may touch whose metadata lies there.
    pub(super) fn of_table(&self, location: &str) -> Self {
        let home = Place::parse(location).map_or(Home::Unknown, |place| Home::Kind(place.kind));
        Self { home, ..self.clone() }
    }

    /// Takes a location apart if it may be touched.
    ///
    /// # Errors
    /// Those of [`Place::parse`]; `not-supported` or `invalid-table` if it may not be touched.
    pub(super) fn place<'a>(&self, location: &'a str) -> Result<Place<'a>> {
        let place = Place::parse(location)?;
        let kind = place.kind;
        if kind.is_remote() && !self.remote {
            return Err(Error::unsupported(format!("files of scheme '{}' ('{location}')", kind.scheme()))
                .with_hint("only local files are supported here: '/path' or 'file:///path'"));
        }
        let lies = match self.home {
            Home::Catalog => return Ok(place),
            Home::Kind(home) if home == kind || (kind.is_remote() && self.named.contains(&kind)) => return Ok(place),
            Home::Kind(home) => home.title(),
            Home::Unknown => "storage that calve does not know",
        };
        let error = Error::new("invalid-table", format!("the file '{location}' lies outside of its table's storage"))
            .with_detail(format!("The table lies in {lies}, the file would be in {}.", kind.title()));
        Err(match kind.prefix() {
            None => error.with_hint("local files are read only for tables whose metadata lies there, too"),
            Some(prefix) => error.with_hint(format!("set the catalog's '{prefix}*' options to reach such files")),
        })
    }

    /// The path in the routing store of a location that may be touched.
    ///
    /// # Errors
    /// As [`Reach::place`] and [`Place::store_path`]; `invalid-table` for a folder.
    pub(super) fn file(&self, location: &str) -> Result<(Kind, StorePath)> {
        let place = self.place(location)?;
        if place.kind.is_remote() && (place.key.is_empty() || place.key.ends_with('/')) {
            return Err(Error::new("invalid-table", format!("the location '{location}' is a folder, not a file")));
        }
        Ok((place.kind, place.store_path(location)?))
    }
}

/// The file system path of a location: `/abs`, `file:/abs`, `file:///abs`.
///
/// # Errors
/// `not-supported` for another scheme, `invalid-table` for a relative path.
pub(crate) fn local_path(location: &str) -> Result<PathBuf> {
    Reach::local().place(location).map(|place| Path::new(place.key).to_path_buf())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    fn reach(properties: &[(&str, &str)]) -> Reach {
        Reach::of(&properties.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()).unwrap()
    }

    #[test]
    fn locations_are_taken_apart() {
        let place = |location| Place::parse(location).map(|p| (p.kind, p.authority, p.key)).map_err(|e| e.code);
        for scheme in ["s3", "s3a", "s3n"] {
            let location = format!("{scheme}://b.c/k/%41 b");
            assert_eq!(Place::parse(&location).unwrap(), Place { kind: Kind::S3, authority: "b.c", key: "k/%41 b" });
        }
        assert_eq!(place("gs://b"), Ok((Kind::Gcs, "b", "")));
        assert_eq!(place("abfss://c@a.dfs.core.windows.net/x/y"), Ok((Kind::Adls, "c@a.dfs.core.windows.net", "x/y")));
        assert_eq!(place("/a/b"), Ok((Kind::Local, "", "/a/b")));
        assert_eq!(place("file:/a"), Ok((Kind::Local, "", "/a")));
        assert_eq!(place("file:///a"), Ok((Kind::Local, "", "/a")));
        assert_eq!(place("hdfs://n/x"), Err("not-supported"));
        for location in ["", "a/b", "file:a", "file://host", "s3:///k", "a/s3://b/c"] {
            assert_eq!(place(location), Err("invalid-table"), "{location}");
        }
    }

    #[test]
    fn keys_are_literal_and_stay_in_their_bucket() {
        let path = |location| reach(&[]).file(location).map(|(_, path)| path.to_string()).map_err(|e| e.code);
        assert_eq!(path("s3a://b/k=a b/100%/%2F/ü?#*"), Ok("s3/b/k=a b/100%/%2F/ü?#*".to_owned()));
        assert_eq!(path("file:///a/%41"), Ok("file/a/%41".to_owned()));
        for location in
            ["s3://b/../c/k", "s3://b/a/./k", "s3://b/a//k", "s3://b/a\nb", "s3://b", "s3://b/", "s3://b/k/"]
        {
            assert_eq!(path(location), Err("invalid-table"), "{location}");
        }
        assert!(path("/a/../etc/passwd").is_err());
    }

    #[test]
    fn a_table_touches_its_own_kind_of_storage_and_those_that_are_named() {
        let table = |properties: &[(&str, &str)], home: &str, file: &str| {
            reach(properties).of_table(home).place(file).map(|_| ()).map_err(|e| e.code)
        };
        let (s3, gs, local) = ("s3://b/t/m.json", "gs://b/x", "/etc/passwd");
        assert_eq!(table(&[], s3, "s3a://other/x"), Ok(()));
        assert_eq!(table(&[], local, "/elsewhere"), Ok(()));
        for file in [local, "file:/etc/passwd", "file:///etc/passwd"] {
            assert_eq!(table(&[], s3, file), Err("invalid-table"));
            assert_eq!(
                table(&[("warehouse", "/w"), ("io-impl", "org.apache.iceberg.hadoop.HadoopFileIO")], s3, file),
                Err("invalid-table")
            );
        }
        assert_eq!(table(&[], local, s3), Err("invalid-table"));
        assert_eq!(table(&[], s3, gs), Err("invalid-table"));
        for named in [
            ("s3.region", "x"),
            ("client.region", "x"),
            ("warehouse", "s3://w"),
            ("io-impl", "org.apache.iceberg.aws.s3.S3FileIO"),
        ] {
            assert_eq!(table(&[named], local, s3), Ok(()), "{named:?}");
            assert_eq!(table(&[named], local, gs), Err("invalid-table"));
        }
        assert_eq!(table(&[("gcs.project-id", "p")], s3, gs), Ok(()));
        let refused = reach(&[]).of_table(s3).place(local).unwrap_err();
        assert_eq!(refused.message, "the file '/etc/passwd' lies outside of its table's storage");
        assert_eq!(refused.detail.unwrap(), "The table lies in S3, the file would be in the local file system.");
        assert_eq!(table(&[], "hdfs://n/t", local), Err("invalid-table"));
        // without a table, a catalog reads what it is told to read
        assert!(reach(&[]).place(s3).is_ok() && reach(&[]).place(local).is_ok());
        assert_eq!(
            Reach::local().place(s3).unwrap_err().message,
            "not supported: files of scheme 's3' ('s3://b/t/m.json')"
        );
    }

    #[test]
    fn only_classes_whose_storage_we_reach() {
        let of = |class: &str| Reach::of(&BTreeMap::from([("io-impl".to_owned(), class.to_owned())]));
        assert!(of("org.apache.iceberg.io.ResolvingFileIO").is_ok());
        let error = of("com.x.OurFileIO").unwrap_err();
        assert_eq!(error.message, "not supported: io-impl 'com.x.OurFileIO'");
    }
}

//! The options of `CREATE CATALOG`, with the checks and the words of Flink's `FlinkCatalogFactory`.

use std::collections::BTreeMap;
use std::sync::Arc;

use calve_types::{Error, Result};

use super::hadoop::HadoopCatalog;
use super::hadoop_remote::RemoteHadoopCatalog;
use super::image::{ImageChanges, ImageOf, image_with};
use super::jdbc::JdbcCatalog;
use super::rest::RestCatalog;
use super::settings::Settings;
use super::warehouse::is_remote;
use super::{Catalog, names};

/// Catalogs that are known, by `catalog-type` and by the Java class in `catalog-impl`.
const KNOWN: [(&str, &str); 7] = [
    ("hadoop", "org.apache.iceberg.hadoop.HadoopCatalog"),
    ("hive", "org.apache.iceberg.hive.HiveCatalog"),
    ("rest", "org.apache.iceberg.rest.RESTCatalog"),
    ("jdbc", "org.apache.iceberg.jdbc.JdbcCatalog"),
    ("glue", "org.apache.iceberg.aws.glue.GlueCatalog"),
    ("nessie", "org.apache.iceberg.nessie.NessieCatalog"),
    ("s3tables", "software.amazon.s3tables.iceberg.S3TablesCatalog"),
];

/// Those that this version runs.
const RUN: &[&str] = &["hadoop", "jdbc", "rest"];

/// Which catalogs there are instead.
fn what_runs() -> String {
    let mut kinds: Vec<String> = RUN.iter().map(|kind| format!("'{kind}'")).collect();
    let last = kinds.pop().unwrap_or_default();
    format!("this version runs 'catalog-type' = {} and {last}", kinds.join(", "))
}

fn unsupported(what: String) -> Error {
    Error::unsupported(what).with_hint(what_runs())
}

/// Opens a catalog from the WITH options of `CREATE CATALOG`. Options nobody knows are kept quiet, as in Flink.
///
/// # Errors
/// `invalid-option` or `unknown-catalog-type` for what Flink refuses, with Flink's sentence as detail; `not-supported`
/// for a catalog that calve does not run yet.
pub fn open(name: &str, options: &BTreeMap<String, String>) -> Result<Arc<dyn Catalog>> {
    open_with(name, options, Access::Full)
}

/// Opens an image of a catalog: its changes stay in memory. It begins with what the catalog holds if it is `full`, and else
/// with nothing; the catalog is not asked for anything then. On top of it are `changes`, which all images that get them
/// share.
///
/// # Errors
/// As [`open`].
pub fn open_image(
    name: &str,
    options: &BTreeMap<String, String>,
    full: bool,
    changes: ImageChanges,
) -> Result<Arc<dyn Catalog>> {
    let catalog = open_with(name, options, Access::ReadOnly)?;
    Ok(image_with(if full { ImageOf::Contents(catalog) } else { ImageOf::Rules(catalog) }, changes))
}

/// What is done with a catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// It is read and written, and made if it is not there.
    Full,
    /// It is read alone; one that is not there is empty.
    ReadOnly,
}

fn open_with(name: &str, options: &BTreeMap<String, String>, access: Access) -> Result<Arc<dyn Catalog>> {
    let kind = kind(name, options)?;
    check_cache(options)?;
    let base_namespace: Vec<String> = match options.get("base-namespace").map(|b| b.trim()) {
        None | Some("") => Vec::new(),
        Some(base) => base.split('.').map(str::to_owned).collect(),
    };
    names::check_namespace(&base_namespace)?;
    let settings = Settings {
        name: name.to_owned(),
        default_database: options.get("default-database").cloned().unwrap_or_else(|| "default".to_owned()),
        base_namespace,
    };
    match kind {
        "hadoop" => match options.get("warehouse").map(|warehouse| warehouse.trim()) {
            Some(warehouse) if is_remote(warehouse) => {
                Ok(Arc::new(RemoteHadoopCatalog::open(settings, warehouse, options)?))
            }
            warehouse => Ok(Arc::new(HadoopCatalog::open(settings, warehouse)?)),
        },
        "jdbc" => Ok(Arc::new(JdbcCatalog::open(settings, options, access)?)),
        "rest" => Ok(Arc::new(RestCatalog::open(settings, options)?)),
        other => Err(unsupported(format!("catalog-type '{other}'"))),
    }
}

/// The kind of catalog the options ask for.
fn kind(name: &str, options: &BTreeMap<String, String>) -> Result<&'static str> {
    match (options.get("catalog-type"), options.get("catalog-impl")) {
        (Some(kind), Some(class)) => Err(Error::new(
            "invalid-option",
            format!("options 'catalog-type' and 'catalog-impl' of catalog '{name}' exclude each other"),
        )
        .with_detail(format!(
            "Cannot create catalog {name}, both catalog-type and catalog-impl are set: catalog-type={kind}, \
             catalog-impl={class}"
        ))),
        (None, Some(class)) => match KNOWN.iter().find(|(_, c)| c == class) {
            Some((kind, _)) if RUN.contains(kind) => Ok(kind),
            _ => Err(unsupported(format!("catalog-impl '{class}'"))),
        },
        (None, None) => Err(Error::unsupported("catalog-type 'hive'")
            .with_hint(format!("'hive' is the default where 'catalog-type' is not set; {}", what_runs()))),
        (Some(given), None) => match KNOWN.iter().find(|(kind, _)| kind.eq_ignore_ascii_case(given)) {
            Some((kind, _)) => Ok(kind),
            None => {
                let error = Error::new("unknown-catalog-type", format!("unknown catalog-type '{given}'"))
                    .with_detail(format!("Unknown catalog-type: {given} (Must be 'hive', 'hadoop' or 'rest')"));
                let error = error.with_hint(what_runs());
                Err(error.did_you_mean(given, KNOWN.iter().map(|(kind, _)| *kind)))
            }
        },
    }
}

/// Tables are always loaded in their newest version, as Flink does too, so that the cache's options change nothing.
fn check_cache(options: &BTreeMap<String, String>) -> Result<()> {
    const KEY: &str = "cache.expiration-interval-ms";
    match options.get(KEY).map(|v| (v, v.trim().parse::<i64>())) {
        None => Ok(()),
        Some((_, Ok(0))) => Err(Error::new("invalid-option", format!("option '{KEY}' must not be 0"))
            .with_detail(format!("{KEY} is not allowed to be 0."))
            .with_hint("a negative value means: never expire")),
        Some((_, Ok(_))) => Ok(()),
        Some((value, Err(_))) => {
            Err(Error::new("invalid-option", format!("invalid value '{value}' of option '{KEY}'"))
                .with_hint("use a number of milliseconds"))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    fn try_open(options: &[(&str, &str)]) -> Result<Arc<dyn Catalog>> {
        open("c", &options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect())
    }

    fn refused(options: &[(&str, &str)]) -> (String, String) {
        let error = try_open(options).unwrap_err();
        (error.message, error.detail.unwrap_or_default())
    }

    #[test]
    fn kinds() {
        let dir = tempfile::tempdir().unwrap();
        let warehouse = dir.path().to_str().unwrap();
        for options in [
            vec![("catalog-type", "HADOOP"), ("my.extra", "1"), ("clients", "3"), ("property-version", "1")],
            vec![("catalog-impl", "org.apache.iceberg.hadoop.HadoopCatalog")],
        ] {
            let all: Vec<_> = options.into_iter().chain([("type", "iceberg"), ("warehouse", warehouse)]).collect();
            let catalog = try_open(&all).unwrap();
            assert_eq!((catalog.name(), catalog.default_database()), ("c", "default"));
        }
        assert_eq!(
            refused(&[("catalog-type", "fooType")]),
            (
                "unknown catalog-type 'fooType'".into(),
                "Unknown catalog-type: fooType (Must be 'hive', 'hadoop' or 'rest')".into()
            )
        );
        let hint = try_open(&[("catalog-type", "hadop")]).unwrap_err().hint.unwrap();
        assert!(hint.starts_with("did you mean 'hadoop'?"), "{hint}");
        assert_eq!(refused(&[("catalog-type", "NESSIE")]).0, "not supported: catalog-type 'nessie'");
        assert_eq!(refused(&[]).0, "not supported: catalog-type 'hive'");
        assert_eq!(refused(&[("catalog-impl", "com.x.Y")]).0, "not supported: catalog-impl 'com.x.Y'");
        assert_eq!(
            refused(&[("catalog-type", "hadoop"), ("catalog-impl", "com.x.Y")]).1,
            "Cannot create catalog c, both catalog-type and catalog-impl are set: catalog-type=hadoop, catalog-impl=com.x.Y"
        );
    }

    #[test]
    fn values() {
        let hadoop = |key, value| refused(&[("catalog-type", "hadoop"), ("warehouse", "/w"), (key, value)]);
        assert_eq!(
            hadoop("cache.expiration-interval-ms", "0").1,
            "cache.expiration-interval-ms is not allowed to be 0."
        );
        assert!(hadoop("cache.expiration-interval-ms", "soon").0.starts_with("invalid value 'soon'"));
        assert!(hadoop("base-namespace", "a..b").0.contains("is not a database name"));
        assert!(hadoop("base-namespace", "a/../..").0.contains("is not a database name"));
        assert!(refused(&[("catalog-type", "hadoop")]).1.contains("must not be null or empty"));
        assert_eq!(
            refused(&[("catalog-type", "hadoop"), ("warehouse", "hdfs://b/w")]).0,
            "not supported: a warehouse of scheme 'hdfs' ('hdfs://b/w')"
        );
        assert!(refused(&[("catalog-type", "hadoop"), ("warehouse", "file:w")]).0.contains("is not an absolute path"));
        assert!(try_open(&[("catalog-type", "hadoop"), ("warehouse", "./w")]).is_ok());
        assert!(try_open(&[("catalog-type", "hadoop"), ("warehouse", "s3://b/w/")]).is_ok());
        let catalog = try_open(&[
            ("catalog-type", "hadoop"),
            ("warehouse", "/w"),
            ("base-namespace", "a.b"),
            ("default-database", "d"),
        ])
        .unwrap();
        assert_eq!(catalog.base_namespace(), ["a", "b"]);
        assert_eq!(catalog.default_database(), "d");
        assert_eq!(catalog.ident("x", "t").unwrap().to_string(), "a.b.x.t");
    }
}

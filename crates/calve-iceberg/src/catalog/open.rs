//! The options of `CREATE CATALOG`, with the checks and the words of Flink's `FlinkCatalogFactory`.

use std::collections::BTreeMap;
use std::sync::Arc;

use calve_types::{Error, Result, nearest};

use super::hadoop::HadoopCatalog;
use super::image::{ImageChanges, ImageOf, image_with};
use super::rest::RestCatalog;
use super::settings::Settings;
use super::{Catalog, glue, jdbc, names, s3tables};

/// A kind of catalog.
struct Kind {
    /// Its `catalog-type`.
    name: &'static str,
    /// Its Java class, in `catalog-impl`.
    class: &'static str,
    /// What to do where it is not run; `None` if it is.
    instead: Option<&'static str>,
}

const fn runs(name: &'static str, class: &'static str) -> Kind {
    Kind { name, class, instead: None }
}

const fn not_run(name: &'static str, class: &'static str, instead: &'static str) -> Kind {
    Kind { name, class, instead: Some(instead) }
}

/// All kinds that are known by name.
const KNOWN: [Kind; 11] = [
    runs("hadoop", "org.apache.iceberg.hadoop.HadoopCatalog"),
    runs("jdbc", "org.apache.iceberg.jdbc.JdbcCatalog"),
    runs("rest", "org.apache.iceberg.rest.RESTCatalog"),
    runs("glue", "org.apache.iceberg.aws.glue.GlueCatalog"),
    runs("s3tables", "software.amazon.s3tables.iceberg.S3TablesCatalog"),
    not_run(
        "hive",
        "org.apache.iceberg.hive.HiveCatalog",
        "the metastore of Hive 4.1, or a REST server over an older one such as Apache Gravitino's, serves the same tables: \
         'catalog-type' = 'rest', 'uri' = 'http://HOST:PORT/iceberg'",
    ),
    not_run(
        "nessie",
        "org.apache.iceberg.nessie.NessieCatalog",
        "Nessie serves the same tables to REST clients: 'catalog-type' = 'rest', 'uri' = 'http://HOST:19120/iceberg'",
    ),
    not_run(
        "bigquery",
        "org.apache.iceberg.gcp.bigquery.BigQueryMetastoreCatalog",
        "BigLake serves tables to REST clients: 'catalog-type' = 'rest', \
         'uri' = 'https://biglake.googleapis.com/iceberg/v1/restcatalog', 'warehouse' = 'gs://BUCKET', 'token' = '...'",
    ),
    not_run(
        "snowflake",
        "org.apache.iceberg.snowflake.SnowflakeCatalog",
        "Snowflake's Open Catalog serves tables to REST clients: 'catalog-type' = 'rest', \
         'uri' = 'https://ACCOUNT.snowflakecomputing.com/polaris/api/catalog', 'credential' = 'ID:SECRET', 'scope' = '...'",
    ),
    not_run(
        "dynamodb",
        "org.apache.iceberg.aws.dynamodb.DynamoDbCatalog",
        "register its tables in AWS Glue, and use 'catalog-type' = 'glue'",
    ),
    not_run(
        "ecs",
        "org.apache.iceberg.dell.ecs.EcsCatalog",
        "register its tables in a REST or JDBC catalog, with the bucket behind 's3.endpoint'",
    ),
];

/// The kind of Iceberg catalog of a name, whether it is run or not, in any case.
pub fn kind_named(name: &str) -> Option<&'static str> {
    KNOWN.iter().find(|kind| kind.name.eq_ignore_ascii_case(name)).map(|kind| kind.name)
}

/// The class of a known catalog that another name most likely was meant to be: one that is nearly the same, or the same
/// without its package.
fn class_meant(class: &str) -> Option<&'static str> {
    let of_name = |name: &str| name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let same = KNOWN.iter().find(|kind| of_name(kind.class) == of_name(class)).map(|kind| kind.class);
    same.or_else(|| nearest(class, KNOWN.iter().map(|kind| kind.class)))
}

/// Which catalogs there are instead.
fn what_runs() -> String {
    let runs = KNOWN.iter().filter(|kind| kind.instead.is_none());
    let mut kinds: Vec<String> = runs.map(|kind| format!("'{}'", kind.name)).collect();
    let last = kinds.pop().unwrap_or_default();
    format!("this version runs 'catalog-type' = {} and {last}", kinds.join(", "))
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
        "hadoop" => Ok(Arc::new(HadoopCatalog::open(settings, options)?)),
        "jdbc" => jdbc::open(settings, options, access),
        "rest" => Ok(Arc::new(RestCatalog::open(settings, options)?)),
        "glue" => glue::open(settings, options),
        "s3tables" => Ok(Arc::new(RestCatalog::open(settings, &s3tables::rest_options(name, options)?)?)),
        other => Err(Error::internal(format!("catalogs of kind '{other}' are known and not opened"))),
    }
}

/// The kind of catalog the options ask for, one that is run.
fn kind(name: &str, options: &BTreeMap<String, String>) -> Result<&'static str> {
    let refusal = |what: String, hint: String| Err(Error::unsupported(what).with_hint(hint));
    match (options.get("catalog-type"), options.get("catalog-impl")) {
        (Some(kind), Some(class)) => Err(Error::new(
            "invalid-option",
            format!("options 'catalog-type' and 'catalog-impl' of catalog '{name}' exclude each other"),
        )
        .with_detail(format!(
            "Cannot create catalog {name}, both catalog-type and catalog-impl are set: catalog-type={kind}, \
             catalog-impl={class}"
        ))),
        (None, Some(class)) => match KNOWN.iter().find(|kind| kind.class == class) {
            Some(Kind { name, instead: None, .. }) => Ok(name),
            Some(Kind { instead: Some(instead), .. }) => {
                refusal(format!("catalog-impl '{class}'"), (*instead).to_owned())
            }
            None => {
                let meant = class_meant(class).map(|meant| format!("did you mean '{meant}'? ")).unwrap_or_default();
                refusal(format!("catalog-impl '{class}'"), meant + &what_runs())
            }
        },
        (None, None) => refusal(
            "catalog-type 'hive'".to_owned(),
            format!("'hive' is the default where 'catalog-type' is not set; {}", what_runs()),
        ),
        (Some(given), None) => match KNOWN.iter().find(|kind| kind.name.eq_ignore_ascii_case(given)) {
            Some(Kind { name, instead: None, .. }) => Ok(name),
            Some(Kind { name, instead: Some(instead), .. }) => {
                refusal(format!("catalog-type '{name}'"), (*instead).to_owned())
            }
            None => {
                let error = Error::new("unknown-catalog-type", format!("unknown catalog-type '{given}'"))
                    .with_detail(format!("Unknown catalog-type: {given} (Must be 'hive', 'hadoop' or 'rest')"));
                let error = error.with_hint(what_runs());
                Err(error.did_you_mean(given, KNOWN.iter().map(|kind| kind.name)))
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

    fn not_run(options: &[(&str, &str)]) -> (String, String) {
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
            not_run(&[("catalog-type", "fooType")]),
            (
                "unknown catalog-type 'fooType'".into(),
                "Unknown catalog-type: fooType (Must be 'hive', 'hadoop' or 'rest')".into()
            )
        );
        let hint = try_open(&[("catalog-type", "hadop")]).unwrap_err().hint.unwrap();
        assert!(hint.starts_with("did you mean 'hadoop'?"), "{hint}");
        assert_eq!(not_run(&[("catalog-type", "NESSIE")]).0, "not supported: catalog-type 'nessie'");
        assert_eq!(not_run(&[]).0, "not supported: catalog-type 'hive'");
        assert_eq!(not_run(&[("catalog-impl", "com.x.Y")]).0, "not supported: catalog-impl 'com.x.Y'");
        for (class, meant) in [
            ("org.apache.iceberg.rest.RestCatalog", "org.apache.iceberg.rest.RESTCatalog"),
            ("RESTCatalog", "org.apache.iceberg.rest.RESTCatalog"),
            ("org.apache.iceberg.hadop.HadopCatalog", "org.apache.iceberg.hadoop.HadoopCatalog"),
        ] {
            let hint = try_open(&[("catalog-impl", class)]).unwrap_err().hint.unwrap();
            assert!(hint.starts_with(&format!("did you mean '{meant}'? this version runs")), "{hint}");
        }
        assert!(try_open(&[("catalog-impl", "com.x.Y")]).unwrap_err().hint.unwrap().starts_with("this version runs"));
        assert_eq!((kind_named("Hive"), kind_named("iceberg")), (Some("hive"), None));
        for Kind { name, class, instead } in KNOWN {
            for (key, value) in [("catalog-type", name), ("catalog-impl", class)] {
                // one that is run wants other options, or gets on without them
                let all = [(key, value), ("uri", "jdbc:mysql:x"), ("warehouse", warehouse), ("client.region", "x")];
                let answer = try_open(&all);
                match instead {
                    Some(instead) => {
                        let error = answer.unwrap_err();
                        assert_eq!(error.message, format!("not supported: {key} '{value}'"));
                        assert_eq!(error.hint.unwrap(), instead);
                    }
                    None => {
                        assert!(
                            answer.is_ok_and(|c| c.name() == "c") || matches!(name, "jdbc" | "rest" | "s3tables"),
                            "{value}"
                        )
                    }
                }
            }
        }
        assert_eq!(
            not_run(&[("catalog-type", "hadoop"), ("catalog-impl", "com.x.Y")]).1,
            "Cannot create catalog c, both catalog-type and catalog-impl are set: catalog-type=hadoop, catalog-impl=com.x.Y"
        );
    }

    #[test]
    fn values() {
        let hadoop = |key, value| not_run(&[("catalog-type", "hadoop"), ("warehouse", "/w"), (key, value)]);
        assert_eq!(
            hadoop("cache.expiration-interval-ms", "0").1,
            "cache.expiration-interval-ms is not allowed to be 0."
        );
        assert!(hadoop("cache.expiration-interval-ms", "soon").0.starts_with("invalid value 'soon'"));
        assert!(hadoop("base-namespace", "a..b").0.contains("is not a database name"));
        assert!(hadoop("base-namespace", "a/../..").0.contains("is not a database name"));
        assert!(not_run(&[("catalog-type", "hadoop")]).1.contains("must not be null or empty"));
        assert_eq!(
            not_run(&[("catalog-type", "hadoop"), ("warehouse", "hdfs://b/w")]).0,
            "not supported: a warehouse of scheme 'hdfs' ('hdfs://b/w')"
        );
        assert!(not_run(&[("catalog-type", "hadoop"), ("warehouse", "file:w")]).0.contains("is not an absolute path"));
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

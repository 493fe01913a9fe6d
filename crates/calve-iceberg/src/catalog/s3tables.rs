//! Table buckets of Amazon S3 Tables, by the options of their Java catalog (`S3TablesCatalog`): the service's REST interface
//! serves the same tables, so that this is a REST catalog with requests signed for `s3tables`.

use std::collections::BTreeMap;

use calve_types::{Error, Result};

use crate::io::aws;

/// The options of the REST catalog that serves the table bucket of `warehouse`, an ARN. `s3tables.endpoint` is another
/// address than AWS's; what is given of the REST catalog's own options stays.
///
/// # Errors
/// `invalid-option` for a warehouse that is none, or no ARN of a table bucket.
pub(super) fn rest_options(catalog: &str, options: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>> {
    let given = |key: &str| options.get(key).map(|value| value.trim()).filter(|value| !value.is_empty());
    let hint = "use the ARN of a table bucket: 'arn:aws:s3tables:REGION:ACCOUNT:bucket/NAME'";
    let warehouse = given("warehouse").ok_or_else(|| {
        Error::new("invalid-option", format!("option 'warehouse' of catalog '{catalog}' is missing")).with_hint(hint)
    })?;
    let parts: Vec<&str> = warehouse.splitn(6, ':').collect();
    let ["arn", partition, "s3tables", region, _, bucket] = parts.as_slice() else { return Err(no_bucket(warehouse)) };
    if !bucket.strip_prefix("bucket/").is_some_and(|name| !name.is_empty() && !name.contains('/')) {
        return Err(no_bucket(warehouse));
    }
    aws::check_region(region).map_err(|_| no_bucket(warehouse))?;
    let domain = if *partition == "aws-cn" { "amazonaws.com.cn" } else { "amazonaws.com" };
    let endpoint = given("s3tables.endpoint").map(|endpoint| endpoint.trim_end_matches('/').to_owned());
    let endpoint = endpoint.unwrap_or_else(|| format!("https://s3tables.{region}.{domain}"));
    let mut rest = options.clone();
    for (key, value) in [
        ("uri", format!("{endpoint}/iceberg")),
        ("rest.sigv4-enabled", "true".to_owned()),
        ("rest.signing-name", "s3tables".to_owned()),
        ("rest.signing-region", (*region).to_owned()),
        // the buckets of the tables are in the same one
        ("client.region", (*region).to_owned()),
    ] {
        rest.entry(key.to_owned()).or_insert(value);
    }
    Ok(rest)
}

fn no_bucket(warehouse: &str) -> Error {
    Error::new("invalid-option", format!("the warehouse '{warehouse}' is not the ARN of a table bucket"))
        .with_hint("use 'arn:aws:s3tables:REGION:ACCOUNT:bucket/NAME'")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    fn rest(options: &[(&str, &str)]) -> Result<BTreeMap<String, String>> {
        rest_options("c", &options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect())
    }

    #[test]
    fn a_table_bucket_is_a_rest_catalog() {
        let bucket = ("warehouse", "arn:aws:s3tables:eu-central-1:123456789012:bucket/lake");
        let options = rest(&[bucket, ("s3.path-style-access", "true")]).unwrap();
        for (key, value) in [
            ("uri", "https://s3tables.eu-central-1.amazonaws.com/iceberg"),
            ("warehouse", bucket.1),
            ("rest.sigv4-enabled", "true"),
            ("rest.signing-name", "s3tables"),
            ("rest.signing-region", "eu-central-1"),
            ("client.region", "eu-central-1"),
            ("s3.path-style-access", "true"),
        ] {
            assert_eq!(options.get(key).map(String::as_str), Some(value), "{key}");
        }
        let elsewhere = rest(&[bucket, ("s3tables.endpoint", "http://localhost:1/"), ("client.region", "x")]).unwrap();
        assert_eq!(
            (elsewhere["uri"].as_str(), elsewhere["client.region"].as_str()),
            ("http://localhost:1/iceberg", "x")
        );
        let chinese = rest(&[("warehouse", "arn:aws-cn:s3tables:cn-north-1:1:bucket/lake")]).unwrap();
        assert_eq!(chinese["uri"], "https://s3tables.cn-north-1.amazonaws.com.cn/iceberg");
    }

    #[test]
    fn what_is_no_table_bucket() {
        assert_eq!(rest(&[]).unwrap_err().message, "option 'warehouse' of catalog 'c' is missing");
        for warehouse in [
            "s3://bucket/w",
            "arn:aws:s3:::bucket",
            "arn:aws:s3tables:eu-central-1:1:bucket/",
            "arn:aws:s3tables:eu-central-1:1:bucket/a/table/b",
            "arn:aws:s3tables:evil.example/:1:bucket/a",
            "arn:aws:s3tables::1:bucket/a",
        ] {
            let error = rest(&[("warehouse", warehouse)]).unwrap_err();
            assert!(error.code == "invalid-option" && error.message.contains(warehouse), "{error}");
        }
    }
}

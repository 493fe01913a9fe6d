//! S3 and what speaks like it, from the properties of the Java library's `S3FileIO`.

use std::collections::BTreeMap;
use std::env;
use std::sync::Arc;

use calve_types::{Error, Result};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, AwsCredentialProvider, Checksum};
use object_store::{ObjectStore, RetryConfig};
use reqwest::Url;

use super::assume_role;
use super::aws::{check_region, credentials, region_of_environment};
use super::http::store_options;
use super::properties::{given, is_anonymous, is_true};
use crate::error::Context;

/// Makes the store of a bucket; nothing is contacted.
///
/// # Errors
/// `invalid-option` for properties that are wrong or missing; `not-supported` for what calve does not do.
pub(super) fn open(
    bucket: &str,
    properties: &BTreeMap<String, String>,
    vended: Option<AwsCredentialProvider>,
    retry: RetryConfig,
) -> Result<Arc<dyn ObjectStore>> {
    check_bucket(bucket)?;
    let endpoint = endpoint(properties)?;
    let region = region(bucket, properties, endpoint.as_ref())?;
    let options = store_options(properties)?.with_allow_http(endpoint.as_ref().is_some_and(|e| e.scheme() == "http"));
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(bucket)
        .with_region(region)
        .with_client_options(options)
        .with_retry(retry);
    let named = is_virtual_host(bucket, properties, endpoint.as_ref());
    builder = builder.with_virtual_hosted_style_request(named);
    match endpoint {
        Some(endpoint) if named => builder = builder.with_endpoint(with_bucket(&endpoint, bucket)?),
        Some(endpoint) => builder = builder.with_endpoint(endpoint.as_str().trim_end_matches('/')),
        None if bucket.ends_with("--x-s3") => builder = builder.with_s3_express(true),
        None => {}
    }
    builder = match vended {
        Some(vended) => builder.with_credentials(vended),
        None if is_anonymous(properties) && !assume_role::is_asked(properties) => builder.with_skip_signature(true),
        None => builder.with_credentials(credentials(properties, &["s3", "client"])?),
    };
    if is_true(properties, "s3.checksum-enabled") {
        builder = builder.with_checksum_algorithm(Checksum::SHA256);
    }
    let store = encrypted(builder, properties)?.build();
    Ok(Arc::new(store.context(|| format!("use the bucket '{bucket}'"))?))
}

/// Names that are part of a host name or of a path and nothing else: a name with `#` or `@` in it would send signed requests
/// to another host.
fn check_bucket(bucket: &str) -> Result<()> {
    let good = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_');
    if bucket.starts_with("arn:") {
        return Err(Error::unsupported(format!("access points ('{bucket}')")).with_hint("use the name of the bucket"));
    }
    if !(1..=255).contains(&bucket.len()) || !bucket.bytes().all(good) || bucket.starts_with('.') {
        return Err(Error::new("invalid-table", format!("'{bucket}' is not the name of a bucket")));
    }
    Ok(())
}

/// `s3.endpoint`, or the variables that AWS's tools know.
fn endpoint(properties: &BTreeMap<String, String>) -> Result<Option<Url>> {
    let variable = |key: &str| env::var(key).ok().map(|v| v.trim().to_owned()).filter(|v| !v.is_empty());
    let (source, text) = match given(properties, "s3.endpoint") {
        Some(endpoint) => ("option 's3.endpoint'", endpoint.to_owned()),
        None => match variable("AWS_ENDPOINT_URL_S3").or_else(|| variable("AWS_ENDPOINT_URL")) {
            Some(endpoint) => ("the variable AWS_ENDPOINT_URL", endpoint),
            None => return Ok(None),
        },
    };
    let url = Url::parse(&text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    match url {
        Some(url) if url.username().is_empty() && url.password().is_none() => Ok(Some(url)),
        Some(_) => Err(Error::new("invalid-option", format!("{source} holds a user or a password"))
            .with_hint("use 's3.access-key-id' and 's3.secret-access-key'")),
        None => Err(Error::new("invalid-option", format!("invalid value '{text}' of {source}"))
            .with_hint("use an address such as 'http://127.0.0.1:9000'")),
    }
}

/// The region requests are signed for. Servers other than Amazon's take any.
fn region(bucket: &str, properties: &BTreeMap<String, String>, endpoint: Option<&Url>) -> Result<String> {
    // the Java library's clients of a role are in its region
    let given = given(properties, "s3.region")
        .or_else(|| assume_role::region(properties))
        .or_else(|| given(properties, "client.region"))
        .map(str::to_owned)
        .or_else(region_of_environment);
    let region = match (given, endpoint) {
        (Some(region), _) => region,
        (None, Some(_)) => "us-east-1".to_owned(),
        (None, None) => {
            return Err(Error::new("invalid-option", format!("no region is known for the bucket '{bucket}'"))
                .with_hint("set 'client.region' or the variable AWS_REGION to the region of the bucket, or 's3.endpoint' for another server"));
        }
    };
    check_region(&region)?;
    Ok(region)
}

/// Whether the bucket is part of the host's name: as AWS's client does it, not with `s3.path-style-access`, not for
/// addresses of numbers or this machine, and not for names that no certificate covers.
fn is_virtual_host(bucket: &str, properties: &BTreeMap<String, String>, endpoint: Option<&Url>) -> bool {
    let is_name = !bucket.contains(['.', '_']) && !bucket.bytes().any(|b| b.is_ascii_uppercase());
    let host = endpoint.and_then(Url::host_str);
    let is_number =
        host.is_some_and(|h| h == "localhost" || h.starts_with('[') || h.parse::<std::net::IpAddr>().is_ok());
    !is_true(properties, "s3.path-style-access") && is_name && !is_number
}

/// `https://host` becomes `https://bucket.host`.
fn with_bucket(endpoint: &Url, bucket: &str) -> Result<String> {
    let mut url = endpoint.clone();
    let host = format!("{bucket}.{}", endpoint.host_str().unwrap_or_default());
    match url.set_host(Some(&host)) {
        Ok(()) => Ok(url.as_str().trim_end_matches('/').to_owned()),
        Err(e) => Err(Error::new("invalid-option", format!("no host '{host}': {e}"))
            .with_hint("set 's3.path-style-access' = 'true'")),
    }
}

/// `s3.sse.type`: how the server encrypts what is written, and with which key (`s3.sse.key`). For the key of one's own, its
/// checksum (`s3.sse.md5`) is computed.
fn encrypted(builder: AmazonS3Builder, properties: &BTreeMap<String, String>) -> Result<AmazonS3Builder> {
    const TYPE: &str = "s3.sse.type";
    let key = given(properties, "s3.sse.key");
    let set = |builder: AmazonS3Builder, name: &str, value: &str| -> Result<AmazonS3Builder> {
        let name: AmazonS3ConfigKey =
            name.parse().map_err(|_| Error::internal(format!("no setting '{name}' of S3")))?;
        Ok(builder.with_config(name, value))
    };
    let kms = |kind: &str| {
        let builder = set(builder.clone(), "aws_server_side_encryption", kind)?;
        key.map_or(Ok(builder.clone()), |key| set(builder, "aws_sse_kms_key_id", key))
    };
    let kind = given(properties, TYPE).unwrap_or("none").to_ascii_lowercase();
    match kind.as_str() {
        "none" => Ok(builder),
        "s3" => set(builder, "aws_server_side_encryption", "AES256"),
        "kms" => kms("aws:kms"),
        "dsse-kms" => kms("aws:kms:dsse"),
        "custom" => match key {
            Some(key) => Ok(builder.with_ssec_encryption(key)),
            None => Err(Error::new("invalid-option", "option 's3.sse.key' is missing")
                .with_detail("Cannot initialize SSE-C S3FileIO with null encryption key")
                .with_hint("give the key of 256 bits in Base64")),
        },
        _ => Err(Error::new("invalid-option", format!("invalid value '{kind}' of option '{TYPE}'"))
            .with_hint("use none, s3, kms, dsse-kms or custom")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    const KEYS: [(&str, &str); 2] = [("s3.access-key-id", "AKID"), ("s3.secret-access-key", "SECRET")];

    fn properties(given: &[(&str, &str)]) -> BTreeMap<String, String> {
        KEYS.iter().chain(given).map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    fn opened(bucket: &str, given: &[(&str, &str)]) -> Result<String> {
        open(bucket, &properties(given), None, RetryConfig::default()).map(|store| format!("{store:?}"))
    }

    #[test]
    fn addresses() {
        let shown = |bucket, given: &[(&str, &str)]| {
            let text = opened(bucket, given).unwrap();
            let (_, rest) = text.split_once("bucket_endpoint: \"").unwrap();
            rest.split('"').next().unwrap().to_owned()
        };
        let region = ("client.region", "eu-west-1");
        assert_eq!(shown("b", &[region]), "https://b.s3.eu-west-1.amazonaws.com");
        assert_eq!(shown("b.c", &[region]), "https://s3.eu-west-1.amazonaws.com/b.c");
        assert_eq!(shown("b", &[region, ("s3.path-style-access", "TRUE")]), "https://s3.eu-west-1.amazonaws.com/b");
        assert_eq!(shown("b", &[("s3.endpoint", "https://minio.example:9000/")]), "https://b.minio.example:9000");
        assert_eq!(
            shown("b", &[("s3.endpoint", "https://m.example"), ("s3.path-style-access", "true")]),
            "https://m.example/b"
        );
        for host in ["http://127.0.0.1:9000", "http://localhost:9000", "http://[::1]:9000"] {
            assert_eq!(shown("b", &[("s3.endpoint", host)]), format!("{host}/b"));
        }
        // what the catalog says about S3 wins over what it says about all of AWS
        let text = opened("b", &[("s3.region", "us-west-2"), region]).unwrap();
        assert!(text.contains("region: \"us-west-2\""), "{text}");
    }

    #[test]
    fn secrets_are_not_shown() {
        for given in [
            vec![("client.region", "x")],
            vec![("client.region", "x"), ("s3.session-token", "SECRET"), ("s3.sse.type", "kms")],
        ] {
            let text = opened("b", &given).unwrap();
            assert!(!text.contains("SECRET"), "{text}");
        }
    }

    #[test]
    fn encryption() {
        let kind = |value, more: &[(&str, &str)]| {
            let all: Vec<_> =
                [("client.region", "x"), ("s3.sse.type", value)].into_iter().chain(more.iter().copied()).collect();
            opened("b", &all)
        };
        assert!(kind("s3", &[]).unwrap().contains("AES256"));
        let kms = kind("kms", &[("s3.sse.key", "arn:k")]).unwrap();
        assert!(kms.contains("aws:kms") && kms.contains("arn:k"), "{kms}");
        assert!(kind("dsse-kms", &[]).unwrap().contains("aws:kms:dsse"));
        assert!(kind("custom", &[("s3.sse.key", "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")]).is_ok());
        assert_eq!(kind("custom", &[]).unwrap_err().message, "option 's3.sse.key' is missing");
        assert!(kind("rot13", &[]).unwrap_err().message.contains("invalid value 'rot13'"));
    }

    #[test]
    fn names_that_would_lead_elsewhere_are_refused() {
        for bucket in ["evil.com#", "a@evil.com", "a:80", "", "a?b", "a b", ".a", "a%2f"] {
            assert_eq!(opened(bucket, &[("client.region", "x")]).unwrap_err().code, "invalid-table", "{bucket}");
        }
        for endpoint in ["minio:9000", "ftp://h", "127.0.0.1:9000", "http://"] {
            assert_eq!(opened("b", &[("s3.endpoint", endpoint)]).unwrap_err().code, "invalid-option", "{endpoint}");
        }
        let error = opened("b", &[("s3.endpoint", "http://u:SECRET@h")]).unwrap_err();
        assert!(!format!("{error:?}").contains("SECRET"));
        assert_eq!(opened("b", &[("client.region", "eu/west")]).unwrap_err().code, "invalid-option");
        let half = open(
            "b",
            &BTreeMap::from([KEYS[0]].map(|(k, v)| (k.to_owned(), v.to_owned()))),
            None,
            RetryConfig::default(),
        );
        assert!(half.is_err());
    }
}

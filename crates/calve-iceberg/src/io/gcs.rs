//! Google Cloud Storage, from the properties of the Java library's `GCSFileIO`.

use std::collections::BTreeMap;
use std::sync::Arc;

use calve_types::{Error, Result};
use object_store::gcp::{GcpCredential, GcpCredentialProvider, GoogleCloudStorageBuilder};
use object_store::{HeaderMap, HeaderValue, ObjectStore, RetryConfig, StaticCredentialProvider};

use super::http::store_options;
use super::properties::{check_header, first, given, is_true};
use crate::error::Context;

/// Makes the store of a bucket; nothing is contacted. Credentials are `gcs.oauth2.token`, `gcs.credentials-json`, none with
/// `gcs.no-auth`, else Google's default chain: `GOOGLE_APPLICATION_CREDENTIALS`, gcloud's file, the machine's account.
///
/// # Errors
/// `invalid-option` for properties or credentials that are wrong.
pub(super) fn open(
    bucket: &str,
    properties: &BTreeMap<String, String>,
    vended: Option<GcpCredentialProvider>,
    retry: RetryConfig,
) -> Result<Arc<dyn ObjectStore>> {
    let good = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.' | b'_');
    if bucket.is_empty() || !bucket.bytes().all(good) {
        return Err(Error::new("invalid-table", format!("'{bucket}' is not the name of a bucket")));
    }
    let address = first(properties, &["gcs.service.host", "gcs.service.path"]);
    let plain = address.is_some_and(|address| address.starts_with("http://"));
    let mut options = store_options(properties)?.with_allow_http(plain);
    if let Some(project) = given(properties, "gcs.user-project") {
        let value = HeaderValue::from_str(project).map_err(|_| {
            Error::new("invalid-option", format!("invalid value '{project}' of option 'gcs.user-project'"))
        })?;
        let mut headers = HeaderMap::new();
        headers.insert("x-goog-user-project", value);
        options = options.with_default_headers(headers);
    }
    let anonymous = is_true(properties, "gcs.no-auth") || is_true(properties, "gcs.allow-anonymous");
    let own = credential(properties)?;
    let json = given(properties, "gcs.credentials-json");
    let explicit = vended.is_some() || own.is_some() || anonymous || json.is_some();
    let builder = if explicit { GoogleCloudStorageBuilder::new() } else { GoogleCloudStorageBuilder::from_env() };
    let mut builder = builder.with_bucket_name(bucket).with_client_options(options).with_retry(retry);
    builder = match (vended, own, json) {
        (Some(vended), _, _) => builder.with_credentials(vended),
        (None, Some(own), _) => builder.with_credentials(Arc::new(StaticCredentialProvider::new(own))),
        // a credential is asked for all the same, which would look for a file or a machine's account
        (None, None, _) if anonymous => builder
            .with_skip_signature(true)
            .with_credentials(Arc::new(StaticCredentialProvider::new(GcpCredential { bearer: String::new() }))),
        (None, None, Some(json)) => builder.with_service_account_key(json),
        (None, None, None) => builder,
    };
    if let Some(address) = address {
        builder = builder.with_base_url(address.trim_end_matches('/'));
    }
    match builder.build() {
        Ok(store) => Ok(Arc::new(store)),
        // the library's text may quote the key
        Err(_) if json.is_some() => {
            Err(Error::new("invalid-option", "option 'gcs.credentials-json' is not the key of a service account")
                .with_hint("use the text of the JSON file that Google gives"))
        }
        Err(error) => Err(error).context(|| format!("use the bucket '{bucket}'")),
    }
}

/// The token given by properties.
///
/// # Errors
/// `invalid-option` for one that no header can hold.
pub(super) fn credential(properties: &BTreeMap<String, String>) -> Result<Option<GcpCredential>> {
    let Some(token) = given(properties, "gcs.oauth2.token") else { return Ok(None) };
    check_header("token of Google Cloud Storage", token)?;
    Ok(Some(GcpCredential { bearer: token.to_owned() }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    fn opened(bucket: &str, given: &[(&str, &str)]) -> Result<String> {
        let properties = given.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        open(bucket, &properties, None, RetryConfig::default()).map(|store| format!("{store:?}"))
    }

    #[test]
    fn properties_become_a_store() {
        let text =
            opened("b", &[("gcs.oauth2.token", "SECRET"), ("gcs.service.host", "http://127.0.0.1:4443/")]).unwrap();
        assert!(text.contains("http://127.0.0.1:4443"), "{text}");
        assert!(opened("b", &[("gcs.no-auth", "true"), ("gcs.user-project", "p")]).is_ok());
        let error = opened("b", &[("gcs.credentials-json", "SECRET")]).unwrap_err();
        assert!(error.code == "invalid-option" && !format!("{error:?}").contains("SECRET"));
        let error = opened("b", &[("gcs.oauth2.token", "SECRET\nx")]).unwrap_err();
        assert!(error.code == "invalid-option" && !format!("{error:?}").contains("SECRET"));
        assert_eq!(opened("b/../c", &[("gcs.no-auth", "true")]).unwrap_err().code, "invalid-table");
    }
}

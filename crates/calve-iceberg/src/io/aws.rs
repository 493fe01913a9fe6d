//! Credentials, regions and signatures of AWS, for storage and for catalogs.

use std::collections::BTreeMap;
use std::env;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use calve_types::{Error, Result};
use object_store::aws::{AmazonS3Builder, AwsAuthorizer, AwsCredential, AwsCredentialProvider};
use object_store::client::{HttpRequest, HttpRequestBody};
use object_store::{BackoffConfig, CredentialProvider, RetryConfig, StaticCredentialProvider};

use super::assume_role::{self, Role};
use super::explain::foreign;
use super::profile::Profile;
use super::properties::{check_header, given};
use crate::error::Context;

/// The credentials for services of AWS: those of a role that the options ask for (`client.factory`), which is taken with
/// [`own_credentials`]; else these.
///
/// # Errors
/// As [`own_credentials`]; for wrong options of a role.
pub(crate) fn credentials(properties: &BTreeMap<String, String>, prefixes: &[&str]) -> Result<AwsCredentialProvider> {
    let own = own_credentials(properties, prefixes)?;
    match assume_role::is_asked(properties) {
        true => Ok(Arc::new(Role::new(properties, own)?)),
        false => Ok(own),
    }
}

/// The credentials that requests are signed with: `PREFIX.access-key-id`, `PREFIX.secret-access-key` and
/// `PREFIX.session-token` of the first of the prefixes (such as `s3`, `client`, `rest`) that has a key, else what AWS's
/// default chain finds: the `AWS_*` variables, a web identity, a profile of `~/.aws`, a container's, a machine's. Nothing
/// is asked before credentials are needed; those that expire are fetched again in time.
///
/// # Errors
/// `invalid-option` for half a pair of keys; `not-supported` for a profile with keys of another kind.
pub(crate) fn own_credentials(
    properties: &BTreeMap<String, String>,
    prefixes: &[&str],
) -> Result<AwsCredentialProvider> {
    for prefix in prefixes {
        if let Some(credential) = static_credential(properties, prefix)? {
            return Ok(Arc::new(StaticCredentialProvider::new(credential)));
        }
    }
    default_chain()
}

/// The keys given by properties that begin with a prefix, `None` if there are none.
///
/// # Errors
/// `invalid-option` for half a pair of keys, and for ones that no header can hold.
pub(super) fn static_credential(properties: &BTreeMap<String, String>, prefix: &str) -> Result<Option<AwsCredential>> {
    let [id, secret, token] =
        ["access-key-id", "secret-access-key", "session-token"].map(|name| format!("{prefix}.{name}"));
    let missing = |there: &str, absent: &str| {
        Error::new("invalid-option", format!("option '{there}' is set, and '{absent}' is not"))
            .with_hint("set both, or none to use the AWS_* variables")
    };
    match (given(properties, &id), given(properties, &secret)) {
        (None, None) => Ok(None),
        (Some(_), None) => Err(missing(&id, &secret)),
        (None, Some(_)) => Err(missing(&secret, &id)),
        (Some(key_id), Some(secret_key)) => {
            let token = given(properties, &token).map(str::to_owned);
            let credential = AwsCredential { key_id: key_id.to_owned(), secret_key: secret_key.to_owned(), token };
            check(&credential)?;
            Ok(Some(credential))
        }
    }
}

/// The region of AWS: that of a role that is to be taken, `client.region`, `s3.region`, then `AWS_REGION`, `AWS_DEFAULT_REGION`, the profile's.
pub(crate) fn region(properties: &BTreeMap<String, String>) -> Option<String> {
    let options = ["client.region", "s3.region"].into_iter().find_map(|key| given(properties, key));
    assume_role::region(properties).or(options).map(str::to_owned).or_else(region_of_environment)
}

/// The region that AWS's own tools take from the environment.
pub(super) fn region_of_environment() -> Option<String> {
    let variable = |key: &str| env::var(key).ok().map(|v| v.trim().to_owned()).filter(|v| !v.is_empty());
    variable("AWS_REGION").or_else(|| variable("AWS_DEFAULT_REGION")).or_else(|| Profile::load().region)
}

/// Signs a request with Signature Version 4.
///
/// # Errors
/// `access-denied` if there are no credentials; `invalid-option` for ones or a region that no header can hold; `internal` for a
/// request whose body is a stream.
pub(crate) async fn sign(
    request: &mut reqwest::Request,
    provider: &AwsCredentialProvider,
    service: &str,
    region: &str,
) -> Result<()> {
    check_region(region)?;
    let credential = provider.get_credential().await.context(|| "find the credentials of AWS")?;
    check(&credential)?;
    let body = match request.body() {
        None => Bytes::new(),
        Some(body) => match body.as_bytes() {
            Some(bytes) => Bytes::copy_from_slice(bytes),
            None => return Err(Error::internal("a request that is a stream cannot be signed")),
        },
    };
    let mut signed = HttpRequest::new(HttpRequestBody::from(body));
    *signed.method_mut() = request.method().clone();
    *signed.uri_mut() = match request.url().as_str().parse() {
        Ok(uri) => uri,
        Err(e) => return Err(Error::new("invalid-option", format!("cannot sign a request to this address: {e}"))),
    };
    *signed.headers_mut() = std::mem::take(request.headers_mut());
    AwsAuthorizer::new(&credential, service, region).authorize(&mut signed, None);
    *request.headers_mut() = std::mem::take(signed.headers_mut());
    Ok(())
}

/// A region is part of host names and of headers.
///
/// # Errors
/// `invalid-option` for anything but letters, digits and hyphens.
pub(crate) fn check_region(region: &str) -> Result<()> {
    if region.is_empty() || !region.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
        return Err(Error::new("invalid-option", format!("'{region}' is not a region of AWS"))
            .with_hint("use a name such as 'eu-central-1'"));
    }
    Ok(())
}

/// Keys go into headers as they are.
pub(super) fn check(credential: &AwsCredential) -> Result<()> {
    check_header("access key id of AWS", &credential.key_id)?;
    credential.token.as_deref().map_or(Ok(()), |token| check_header("session token of AWS", token))
}

/// Who asks an instance for its credentials waits seconds at most: most machines are none of Amazon's.
fn short_retry() -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig { init_backoff: Duration::from_millis(50), ..BackoffConfig::default() },
        max_retries: 1,
        retry_timeout: Duration::from_secs(5),
    }
}

fn default_chain() -> Result<AwsCredentialProvider> {
    let set = |key: &str| env::var_os(key).is_some_and(|value| !value.is_empty());
    let own = set("AWS_ACCESS_KEY_ID") || (set("AWS_WEB_IDENTITY_TOKEN_FILE") && set("AWS_ROLE_ARN"));
    if !own {
        let profile = Profile::load();
        if let Some(credential) = profile.credential()? {
            check(&credential)?;
            return Ok(Arc::new(StaticCredentialProvider::new(credential)));
        }
        let container = set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") || set("AWS_CONTAINER_CREDENTIALS_FULL_URI");
        let disabled = env::var("AWS_EC2_METADATA_DISABLED").is_ok_and(|v| v.eq_ignore_ascii_case("true"));
        if disabled && !container {
            return Ok(Arc::new(Nowhere));
        }
    }
    // the builder only finds the credentials: the bucket is of no importance, the region says who is asked for a web identity's
    let region = region_of_environment().unwrap_or_else(|| "us-east-1".to_owned());
    let builder = AmazonS3Builder::from_env().with_bucket_name("none").with_region(region).with_s3_express(false);
    let store = builder.with_retry(short_retry()).build().context(|| "find the credentials of AWS")?;
    Ok(Arc::new(Checked(store.credentials().clone())))
}

fn no_credentials() -> Error {
    Error::new("access-denied", "no credentials of AWS were found").with_hint(
        "set 's3.access-key-id' and 's3.secret-access-key', the variables AWS_ACCESS_KEY_ID and \
         AWS_SECRET_ACCESS_KEY, or a profile in ~/.aws/credentials; 'client.credentials-provider' = \
         'AnonymousCredentialsProvider' reads public buckets",
    )
}

/// There are no credentials, and nobody to ask.
#[derive(Debug)]
struct Nowhere;

#[async_trait]
impl CredentialProvider for Nowhere {
    type Credential = AwsCredential;

    async fn get_credential(&self) -> object_store::Result<Arc<AwsCredential>> {
        Err(foreign(no_credentials()))
    }
}

/// Credentials that others made: looked at before they go into headers, and an error that says what to do.
#[derive(Debug)]
struct Checked(AwsCredentialProvider);

#[async_trait]
impl CredentialProvider for Checked {
    type Credential = AwsCredential;

    async fn get_credential(&self) -> object_store::Result<Arc<AwsCredential>> {
        let found = self.0.get_credential().await.map_err(|error| {
            tracing::debug!(%error, "no credentials of AWS");
            foreign(no_credentials())
        })?;
        check(&found).map_err(foreign)?;
        Ok(found)
    }
}

//! Azure Data Lake Storage, from the properties of the Java library's `ADLSFileIO`.

use std::collections::BTreeMap;
use std::sync::Arc;

use calve_types::{Error, Result};
use object_store::azure::{AzureAccessKey, AzureCredential, AzureCredentialProvider, MicrosoftAzureBuilder};
use object_store::{ObjectStore, RetryConfig, StaticCredentialProvider};
use reqwest::Url;

use super::http::store_options;
use super::properties::{check_header, first, given};
use super::vended::of_account;
use crate::error::Context;

/// Hosts of Azure's clouds. A token goes nowhere else, whatever a location says.
const CLOUDS: [&str; 5] = [
    ".core.windows.net",
    ".core.chinacloudapi.cn",
    ".core.usgovcloudapi.net",
    ".storage.azure.net",
    ".fabric.microsoft.com",
];

/// A container, the account it belongs to, and the host that was named for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Container<'a> {
    name: &'a str,
    /// The first part of the host.
    pub(super) account: &'a str,
    host: &'a str,
}

impl<'a> Container<'a> {
    /// From `container@account.dfs.core.windows.net`.
    ///
    /// # Errors
    /// `invalid-table` for another shape.
    pub(super) fn parse(authority: &'a str) -> Result<Self> {
        let invalid = || {
            Error::new("invalid-table", format!("'{authority}' does not name a container of Azure Data Lake Storage"))
                .with_hint("use 'abfss://container@account.dfs.core.windows.net/path'")
        };
        let (name, host) = authority.split_once('@').ok_or_else(invalid)?;
        let account = host.split('.').next().unwrap_or_default();
        let is_name = |text: &str, more: &[u8]| {
            !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || more.contains(&b))
        };
        if !is_name(name, b"-_$") || !is_name(account, b"-") || !is_name(host, b"-.") {
            return Err(invalid());
        }
        Ok(Self { name, account, host })
    }

    /// The value of a property for this account: `KEY.HOST`, `KEY.ACCOUNT` or `KEY`.
    fn property<'p>(&self, properties: &'p BTreeMap<String, String>, key: &str) -> Option<&'p str> {
        given(properties, &format!("{key}.{}", self.host)).or_else(|| of_account(properties, key, self.account))
    }
}

/// Makes the store of a container; nothing is contacted. Credentials are `adls.sas-token.ACCOUNT`,
/// `adls.auth.shared-key.account.name` and `.key` (pyiceberg: `adls.account-name`, `adls.account-key`), `adls.token`,
/// pyiceberg's `adls.tenant-id`, `adls.client-id` and `adls.client-secret`, else the `AZURE_*` variables and the machine's
/// identity. `adls.connection-string.ACCOUNT` is an endpoint, as in the Java library, or a connection string of Azure.
///
/// # Errors
/// `invalid-option` for properties or credentials that are wrong; `invalid-table` for a host that is none of Azure's and
/// that no property names.
pub(super) fn open(
    authority: &str,
    properties: &BTreeMap<String, String>,
    vended: Option<AzureCredentialProvider>,
    retry: RetryConfig,
) -> Result<Arc<dyn ObjectStore>> {
    let container = Container::parse(authority)?;
    let connection = container.property(properties, "adls.connection-string").map(Connection::parse);
    let endpoint = match connection.as_ref().and_then(|connection| connection.endpoint.clone()) {
        Some(endpoint) => Some(endpoint),
        None => default_endpoint(&container)?,
    };
    let plain = endpoint.as_deref().is_some_and(|endpoint| endpoint.starts_with("http://"));
    let builder = match (&vended, credential(properties, &container)?, connection.and_then(|c| c.key)) {
        (Some(vended), _, _) => MicrosoftAzureBuilder::new().with_credentials(vended.clone()),
        (None, Some(own), _) => {
            MicrosoftAzureBuilder::new().with_credentials(Arc::new(StaticCredentialProvider::new(own)))
        }
        (None, None, Some(key)) => MicrosoftAzureBuilder::new().with_access_key(key),
        (None, None, None) => application(properties),
    };
    let mut builder = builder
        .with_account(container.account)
        .with_container_name(container.name)
        .with_client_options(store_options(properties)?.with_allow_http(plain))
        .with_retry(retry);
    if let Some(endpoint) = endpoint {
        builder = builder.with_endpoint(endpoint);
    }
    match builder.build() {
        Ok(store) => Ok(Arc::new(store)),
        Err(error) => Err(error).context(|| format!("use the container '{authority}'")),
    }
}

/// Azure's identities: those of an application, else of the environment.
fn application(properties: &BTreeMap<String, String>) -> MicrosoftAzureBuilder {
    let builder = MicrosoftAzureBuilder::from_env();
    let [tenant, id, secret] =
        ["adls.tenant-id", "adls.client-id", "adls.client-secret"].map(|key| given(properties, key));
    let builder = match (tenant, id, secret) {
        (Some(tenant), Some(id), Some(secret)) => builder.with_client_secret_authorization(id, secret, tenant),
        _ => builder,
    };
    match given(properties, "adls.authority-host") {
        Some(host) => builder.with_authority_host(host),
        None => builder,
    }
}

/// The address of the account's blobs; `None` for the library's own default.
fn default_endpoint(container: &Container<'_>) -> Result<Option<String>> {
    let Some((account, domain)) = container.host.split_once('.') else { return Ok(None) };
    if !CLOUDS.iter().any(|cloud| container.host.ends_with(cloud)) {
        return Err(Error::new("invalid-table", format!("the host '{}' is none of Azure's", container.host))
            .with_hint(format!(
                "name its address in the option 'adls.connection-string.{}' if it is right",
                container.host
            )));
    }
    // files are read and written as blobs
    let domain = domain.strip_prefix("dfs.").map_or_else(|| domain.to_owned(), |rest| format!("blob.{rest}"));
    Ok(Some(format!("https://{account}.{domain}")))
}

/// What a connection string says.
struct Connection {
    endpoint: Option<String>,
    key: Option<String>,
}

impl Connection {
    fn parse(text: &str) -> Self {
        if !text.contains("AccountName=") && !text.contains("AccountKey=") && !text.contains("BlobEndpoint=") {
            return Self { endpoint: Some(text.trim_end_matches('/').to_owned()), key: None };
        }
        let value = |key: &str| {
            let mut parts = text.split(';').filter_map(|part| part.trim().split_once('='));
            parts.find(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, value)| value.trim().to_owned())
        };
        Self { endpoint: value("BlobEndpoint"), key: value("AccountKey") }
    }
}

/// The credential given by properties, for one account.
///
/// # Errors
/// `invalid-option` for one that is no key, or that no header can hold; it is not shown.
pub(super) fn credential(
    properties: &BTreeMap<String, String>,
    container: &Container<'_>,
) -> Result<Option<AzureCredential>> {
    if let Some(token) = container.property(properties, "adls.sas-token") {
        return Ok(Some(AzureCredential::SASToken(sas_pairs(token)?)));
    }
    let name = first(properties, &["adls.auth.shared-key.account.name", "adls.account-name"]);
    let key = first(properties, &["adls.auth.shared-key.account.key", "adls.account-key"]);
    if let Some(key) = key.filter(|_| name.is_none_or(|name| name == container.account)) {
        let key = AzureAccessKey::try_new(key)
            .map_err(|_| Error::new("invalid-option", "the account key of Azure is not Base64"))?;
        return Ok(Some(AzureCredential::AccessKey(key)));
    }
    let Some(token) = given(properties, "adls.token") else { return Ok(None) };
    check_header("token of Azure", token)?;
    Ok(Some(AzureCredential::BearerToken(token.to_owned())))
}

/// The parameters of a shared access signature. A plus sign in it is one: signatures are Base64.
fn sas_pairs(token: &str) -> Result<Vec<(String, String)>> {
    let query = token.trim_start_matches('?').replace('+', "%2B");
    let invalid = || Error::new("invalid-option", "the SAS token of Azure is not a list of parameters");
    let url = Url::parse(&format!("https://h/?{query}")).map_err(|_| invalid())?;
    let pairs: Vec<_> = url.query_pairs().map(|(key, value)| (key.into_owned(), value.into_owned())).collect();
    if !pairs.iter().any(|(key, _)| key == "sig") {
        return Err(invalid());
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    const CONTAINER: &str = "c@acc.dfs.core.windows.net";

    fn opened(authority: &str, given: &[(&str, &str)]) -> Result<String> {
        let properties = given.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        open(authority, &properties, None, RetryConfig::default()).map(|store| format!("{store:?}"))
    }

    #[test]
    fn properties_become_a_store() {
        let token = ("adls.token", "SECRET");
        let text = opened(CONTAINER, &[token]).unwrap();
        assert!(text.contains("acc.blob.core.windows.net"), "{text}");
        let text = opened("c@acc.dfs.core.chinacloudapi.cn", &[token]).unwrap();
        assert!(text.contains("acc.blob.core.chinacloudapi.cn"), "{text}");
        let local = ("adls.connection-string.acc.dfs.core.windows.net", "http://127.0.0.1:10000/acc/");
        assert!(opened(CONTAINER, &[token, local]).unwrap().contains("127.0.0.1"));
        assert_eq!(opened("c@evil.com", &[token]).unwrap_err().message, "the host 'evil.com' is none of Azure's");
        assert!(
            opened("c@own.example", &[token, ("adls.connection-string.own.example", "https://own.example")]).is_ok()
        );
        for authority in
            ["c", "c@", "@acc.dfs.core.windows.net", "c@a/b.core.windows.net", "c@evil.com#.core.windows.net"]
        {
            assert_eq!(opened(authority, &[token]).unwrap_err().code, "invalid-table", "{authority}");
        }
    }

    #[test]
    fn credentials_by_account() {
        let container = Container::parse(CONTAINER).unwrap();
        let of = |given: &[(&str, &str)]| {
            credential(&given.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(), &container)
        };
        let Ok(Some(AzureCredential::SASToken(pairs))) = of(&[("adls.sas-token.acc", "?sv=1&sig=a%2Bb+c%3D")]) else {
            panic!()
        };
        assert_eq!(pairs, [("sv".to_owned(), "1".to_owned()), ("sig".to_owned(), "a+b+c=".to_owned())]);
        assert!(matches!(
            of(&[("adls.sas-token.acc.dfs.core.windows.net", "sig=x")]),
            Ok(Some(AzureCredential::SASToken(_)))
        ));
        assert!(of(&[("adls.sas-token.other", "sig=x")]).unwrap().is_none());
        let key = ("adls.auth.shared-key.account.key", "c2VjcmV0");
        assert!(matches!(
            of(&[key, ("adls.auth.shared-key.account.name", "acc")]),
            Ok(Some(AzureCredential::AccessKey(_)))
        ));
        assert!(of(&[key, ("adls.auth.shared-key.account.name", "other")]).unwrap().is_none());
        for bad in [("adls.account-key", "SECRET!"), ("adls.sas-token", "SECRET"), ("adls.token", "SECRET x")] {
            assert!(!format!("{:?}", of(&[bad]).unwrap_err()).contains("SECRET"));
        }
    }
}

//! A REST catalog that answered: its configuration, what it offers, and the paths of its resources.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use calve_types::{Error, Result};
use iceberg::TableIdent;
use reqwest::header::{HeaderName, HeaderValue};

use super::address::{Address, decoded, encoded};
use super::client::{Call, Client, has_status};
use super::messages::{Config, some_values};
use super::overridden::Overridden;
use crate::io::TableIo;

/// Endpoints as servers list them (Java's `Endpoint`).
pub(super) mod endpoint {
    pub(in super::super) const LIST_NAMESPACES: &str = "GET /v1/{prefix}/namespaces";
    pub(in super::super) const CREATE_NAMESPACE: &str = "POST /v1/{prefix}/namespaces";
    pub(in super::super) const LOAD_NAMESPACE: &str = "GET /v1/{prefix}/namespaces/{namespace}";
    pub(in super::super) const NAMESPACE_EXISTS: &str = "HEAD /v1/{prefix}/namespaces/{namespace}";
    pub(in super::super) const DROP_NAMESPACE: &str = "DELETE /v1/{prefix}/namespaces/{namespace}";
    pub(in super::super) const SET_PROPERTIES: &str = "POST /v1/{prefix}/namespaces/{namespace}/properties";
    pub(in super::super) const LIST_TABLES: &str = "GET /v1/{prefix}/namespaces/{namespace}/tables";
    pub(in super::super) const CREATE_TABLE: &str = "POST /v1/{prefix}/namespaces/{namespace}/tables";
    pub(in super::super) const LOAD_TABLE: &str = "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}";
    pub(in super::super) const TABLE_EXISTS: &str = "HEAD /v1/{prefix}/namespaces/{namespace}/tables/{table}";
    pub(in super::super) const COMMIT_TABLE: &str = "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}";
    pub(in super::super) const DROP_TABLE: &str = "DELETE /v1/{prefix}/namespaces/{namespace}/tables/{table}";
    pub(in super::super) const RENAME_TABLE: &str = "POST /v1/{prefix}/tables/rename";
    pub(in super::super) const COMMIT_TRANSACTION: &str = "POST /v1/{prefix}/transactions/commit";
    pub(in super::super) const CREDENTIALS: &str = "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials";

    /// What a server offers that lists nothing (Java's `RESTSessionCatalog`, but for transactions, which are used only
    /// where they are listed).
    pub(super) const OLD: [&str; 12] = [
        LIST_NAMESPACES,
        CREATE_NAMESPACE,
        LOAD_NAMESPACE,
        DROP_NAMESPACE,
        SET_PROPERTIES,
        LIST_TABLES,
        CREATE_TABLE,
        LOAD_TABLE,
        COMMIT_TABLE,
        DROP_TABLE,
        RENAME_TABLE,
        CREDENTIALS,
    ];
}

/// Properties that decide who we are to a server, and where it is.
const IDENTITY: [&str; 11] = [
    "uri",
    "credential",
    "token",
    "scope",
    "audience",
    "resource",
    "oauth2-server-uri",
    "token-expires-in-ms",
    "token-refresh-enabled",
    "token-exchange-enabled",
    "calve.tls.ca-file",
];

/// What to look at where Amazon S3 Tables are not reached: its address is made of the region.
const S3_TABLES: &str = "is the region in the ARN of 'warehouse' right, and one that has S3 Tables? can this machine reach the \
                         internet, maybe by a proxy (HTTPS_PROXY)? 's3tables.endpoint' names another address, such as that of a \
                         VPC endpoint";

/// Which way of delegating access to storage is asked for.
const ACCESS_DELEGATION: HeaderName = HeaderName::from_static("x-iceberg-access-delegation");

/// A server and its configuration.
pub(super) struct Server {
    pub(super) client: Client,
    /// Defaults of the server, options of the catalog, overrides of the server; the later ones win.
    pub(super) properties: BTreeMap<String, String>,
    /// Storage with the properties of the catalog.
    pub(super) io: TableIo,
    /// What the server says otherwise than the catalog's options.
    pub(super) overridden: Overridden,
    prefix: String,
    /// `None` if the server does not list them.
    endpoints: Option<BTreeSet<String>>,
    /// Between the levels of a namespace.
    separator: String,
    /// `rest-page-size`.
    page_size: Option<u32>,
    delegation: Option<(HeaderName, HeaderValue)>,
}

impl Server {
    /// Asks the server for its configuration, and becomes what that says.
    ///
    /// # Errors
    /// What the server answers; `invalid-option`, `not-supported` for properties that cannot be used.
    pub(super) async fn connect(catalog: &str, address: Address, options: &BTreeMap<String, String>) -> Result<Self> {
        let client = Client::new(address, options)?;
        let mut call = Call::get("v1/config");
        if let Some(warehouse) = options.get("warehouse").filter(|value| !value.trim().is_empty()) {
            call = call.query("warehouse", warehouse.as_str());
        }
        let answer: Result<Config, _> = client.ask(&call).await;
        let config = answer.map_err(|failure| {
            let (with_version, missing) = (client.address.ends_with_version(), has_status(&failure, &[404]));
            let denied = has_status(&failure, &[401, 403]);
            let of_tables = options.get("rest.signing-name").is_some_and(|name| name == "s3tables");
            let failure = if of_tables { failure.unless_reached(S3_TABLES) } else { failure };
            let error = failure.error(format!("connect to catalog '{catalog}'"));
            match (with_version, error.hint.clone()) {
                (true, _) if missing => error.with_hint("leave '/v1' out of 'uri': it is added to it"),
                // some servers refuse strangers before they look at the path
                (true, Some(hint)) if denied => {
                    error.with_hint(format!("leave '/v1' out of 'uri': it is added to it; if that is not it: {hint}"))
                }
                _ => error,
            }
        })?;
        let mut properties = some_values(config.defaults);
        properties.extend(options.iter().map(|(key, value)| (key.clone(), value.clone())));
        properties.extend(some_values(config.overrides));
        let overridden = Overridden::new(catalog, options);
        overridden.note(&properties, None);
        let same = |key: &str| properties.get(key) == options.get(key);
        let of_client = |key: &&String| key.starts_with("header.") || key.starts_with("rest.");
        let client = match IDENTITY.iter().all(|key| same(key)) && properties.keys().filter(of_client).all(|k| same(k))
        {
            true => client,
            false => {
                let uri = properties.get("uri").map_or("", String::as_str);
                Client::new(Address::parse(uri, catalog)?, &properties)?
            }
        };
        let client = client.with_keys(config.key_lifetime.as_deref());
        let given = |key: &str| properties.get(key).map(|value| value.trim()).filter(|value| !value.is_empty());
        let page_size = match given("rest-page-size") {
            None => None,
            Some(value) => Some(value.parse().ok().filter(|size| *size > 0).ok_or_else(|| {
                Error::new("invalid-option", format!("invalid value '{value}' of option 'rest-page-size'"))
                    .with_hint("use a positive number")
            })?),
        };
        Ok(Self {
            io: TableIo::new(&properties)?,
            overridden,
            prefix: given("prefix").map(|prefix| format!("{}/", prefix.trim_matches('/'))).unwrap_or_default(),
            endpoints: config.endpoints.map(|list| list.iter().map(|e| e.trim().to_owned()).collect()),
            separator: given("namespace-separator").map_or_else(|| "\u{1f}".to_owned(), decoded),
            page_size,
            delegation: delegation(&client, &properties),
            client,
            properties,
        })
    }

    /// Whether the server has an endpoint.
    pub(super) fn offers(&self, endpoint: &str) -> bool {
        match &self.endpoints {
            Some(list) => list.contains(endpoint),
            None => endpoint::OLD.contains(&endpoint),
        }
    }

    /// Refuses what the server says it has no endpoint for.
    ///
    /// # Errors
    /// `not-supported`, with the Java library's words.
    pub(super) fn needs(&self, endpoint: &str, what: impl fmt::Display) -> Result<()> {
        if self.offers(endpoint) {
            return Ok(());
        }
        Err(Error::unsupported(format!("{what} on this server"))
            .with_detail(format!("Server does not support endpoint: {endpoint}")))
    }

    /// The levels of a namespace as one text.
    ///
    /// # Errors
    /// `invalid-name` if a level holds what separates levels.
    pub(super) fn joined(&self, namespace: &[String]) -> Result<String> {
        if let Some(level) = namespace.iter().find(|level| level.contains(&self.separator)) {
            let shown = level.escape_debug();
            return Err(Error::new("invalid-name", format!("'{shown}' is not a database name of this catalog"))
                .with_detail(format!("'{}' separates levels there.", self.separator.escape_debug())));
        }
        Ok(namespace.join(&self.separator))
    }

    /// A path below the prefix.
    pub(super) fn path(&self, rest: &str) -> String {
        format!("v1/{}{rest}", self.prefix)
    }

    /// # Errors
    /// As [`Server::joined`].
    pub(super) fn namespace_path(&self, namespace: &[String]) -> Result<String> {
        Ok(self.path(&format!("namespaces/{}", encoded(&self.joined(namespace)?))))
    }

    /// # Errors
    /// As [`Server::joined`].
    pub(super) fn tables_path(&self, namespace: &[String]) -> Result<String> {
        Ok(format!("{}/tables", self.namespace_path(namespace)?))
    }

    /// # Errors
    /// As [`Server::joined`].
    pub(super) fn table_path(&self, ident: &TableIdent) -> Result<String> {
        Ok(format!("{}/{}", self.tables_path(ident.namespace())?, encoded(ident.name())))
    }

    /// A call for one page of a list; the first one has no token.
    pub(super) fn page(&self, path: String, token: Option<String>) -> Call {
        // an empty token says that we know of pages
        let call = Call::get(path).query("pageToken", token.unwrap_or_default());
        match self.page_size {
            Some(size) => call.query("pageSize", size.to_string()),
            None => call,
        }
    }

    /// The header that asks for credentials of storage along with a table.
    pub(super) fn delegation(&self) -> Option<(HeaderName, HeaderValue)> {
        self.delegation.clone()
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("client", &self.client).field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

/// Credentials are asked for unless the catalog's options say otherwise: by a header of their own (an empty one asks for
/// none), or by credentials of storage, which a server that has none to give need not be asked for.
fn delegation(client: &Client, properties: &BTreeMap<String, String>) -> Option<(HeaderName, HeaderValue)> {
    const OWN: [&str; 6] = [
        "s3.access-key-id",
        "client.credentials-provider",
        "gcs.oauth2.token",
        "gcs.service-account-key",
        "adls.connection-string",
        "adls.auth.shared-key.account.key",
    ];
    let header = format!("header.{}", ACCESS_DELEGATION.as_str());
    let said = client.has_header(&ACCESS_DELEGATION) || properties.keys().any(|key| key.eq_ignore_ascii_case(&header));
    let own = properties.keys().any(|key| OWN.contains(&key.as_str()) || key.starts_with("adls.sas-token"));
    (!said && !own).then(|| (ACCESS_DELEGATION, HeaderValue::from_static("vended-credentials")))
}

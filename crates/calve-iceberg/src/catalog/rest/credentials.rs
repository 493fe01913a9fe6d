//! Credentials for a table's files that come from the catalog (vended credentials).

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use calve_types::{Error, Result};
use iceberg::TableIdent;

use super::client::Call;
use super::messages::{Credentials, Loaded, StorageCredential};
use super::server::{Server, endpoint};
use crate::io::{CredentialSource, TableIo, VendedCredential};

/// Ends of the names of properties that are credentials or part of them.
const PARTS: [&str; 6] = ["access-key-id", "secret-access-key", "session-token", "token", "expires-at-ms", "sas-token"];

/// The storage of the tables that were loaded. A table whose answer says the same keeps its connections.
#[derive(Default)]
pub(super) struct TableStorage {
    last: Mutex<HashMap<TableIdent, Last>>,
}

/// What an answer said, and what was made of it.
struct Last {
    config: BTreeMap<String, String>,
    credentials: Vec<StorageCredential>,
    io: TableIo,
}

impl TableStorage {
    /// Access to the files of a table, as the answer to its loading says.
    ///
    /// # Errors
    /// `invalid-option`, `not-supported` for properties that cannot be used; `not-supported` for files that only the
    /// server may sign requests for.
    pub(super) fn of(&self, server: &Arc<Server>, ident: &TableIdent, loaded: &Loaded) -> Result<TableIo> {
        let mut config = loaded.config.clone();
        config.remove("token");
        if config.is_empty() && loaded.credentials.is_empty() {
            return Ok(server.io.clone());
        }
        refuse_signing(ident, &config, &loaded.credentials)?;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = last.get(ident)
            && last.config == config
            && last.credentials == loaded.credentials
        {
            return Ok(last.io.clone());
        }
        for said in std::iter::once(&config).chain(loaded.credentials.iter().map(|c| &c.config)) {
            server.overridden.note(said, Some(&ident.to_string()));
        }
        let vended = vended(&config, &loaded.credentials);
        // what expires is refreshed, not kept as a property for good
        let plain: BTreeMap<_, _> =
            config.iter().filter(|(key, _)| vended.is_empty() || !is_credential(key)).map(clone_entry).collect();
        let io = server.io.with_properties(&plain)?;
        let io = match vended.is_empty() {
            true => io,
            false => {
                let path = refresh_path(server, ident, &config)?;
                let source = Source::new(server.clone(), ident.clone(), path);
                io.with_credentials(vended, Some(Arc::new(source)))
            }
        };
        let entry = Last { config, credentials: loaded.credentials.clone(), io: io.clone() };
        last.insert(ident.clone(), entry);
        Ok(io)
    }

    /// Forgets a table that is gone.
    pub(super) fn forget(&self, ident: &TableIdent) {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).remove(ident);
    }
}

impl fmt::Debug for TableStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableStorage").finish_non_exhaustive()
    }
}

fn clone_entry((key, value): (&String, &String)) -> (String, String) {
    (key.clone(), value.clone())
}

fn is_credential(key: &str) -> bool {
    PARTS.iter().any(|part| key.ends_with(part) || key.contains(&format!("{part}.")))
}

/// Without credentials, files can be read by requests that the server signs, one by one.
fn refuse_signing(
    ident: &TableIdent,
    config: &BTreeMap<String, String>,
    credentials: &[StorageCredential],
) -> Result<()> {
    let signed = config.get("s3.remote-signing-enabled").is_some_and(|value| value.eq_ignore_ascii_case("true"));
    if signed && credentials.is_empty() && !config.contains_key("s3.access-key-id") {
        return Err(Error::unsupported(format!("remote signing of requests to S3 (table '{ident}')")).with_hint(
            "let the catalog vend credentials for the table, or set 's3.access-key-id' and 's3.secret-access-key' of your \
             own in the catalog's options",
        ));
    }
    Ok(())
}

/// The credentials of an answer: those of `storage-credentials`, else those among the properties, for all locations.
fn vended(config: &BTreeMap<String, String>, credentials: &[StorageCredential]) -> Vec<VendedCredential> {
    if !credentials.is_empty() {
        let of = |c: &StorageCredential| VendedCredential { prefix: c.prefix.clone(), config: c.config.clone() };
        return credentials.iter().map(of).collect();
    }
    // keys without an end may be kept
    let temporary = |key: &str| key.ends_with("session-token") || key.ends_with("expires-at-ms") || key.contains("sas");
    let found: BTreeMap<_, _> = config.iter().filter(|(key, _)| is_credential(key)).map(clone_entry).collect();
    match found.keys().any(|key| temporary(key) || key.ends_with("oauth2.token")) {
        true => vec![VendedCredential { prefix: String::new(), config: found }],
        false => vec![],
    }
}

/// Where the table's credentials can be asked for alone: as the answer says, or where servers have it that list it.
fn refresh_path(server: &Server, ident: &TableIdent, config: &BTreeMap<String, String>) -> Result<Option<String>> {
    const NAMED: [&str; 3] = [
        "client.refresh-credentials-endpoint",
        "gcs.oauth2.refresh-credentials-endpoint",
        "adls.refresh-credentials-endpoint",
    ];
    if let Some(path) = NAMED.iter().find_map(|key| config.get(*key)).filter(|path| !path.is_empty()) {
        return Ok(Some(path.clone()));
    }
    match server.offers(endpoint::CREDENTIALS) {
        true => Ok(Some(format!("{}/credentials", server.table_path(ident)?))),
        false => Ok(None),
    }
}

/// Asks for the credentials of one table.
pub(super) struct Source {
    server: Arc<Server>,
    ident: TableIdent,
    /// Below the catalog's address, or a URL; `None` where they come with the table alone.
    path: Option<String>,
}

impl Source {
    pub(super) fn new(server: Arc<Server>, ident: TableIdent, path: Option<String>) -> Self {
        Self { server, ident, path }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("table", &self.ident.to_string()).finish_non_exhaustive()
    }
}

#[async_trait]
impl CredentialSource for Source {
    async fn load(&self) -> Result<Vec<VendedCredential>> {
        let Self { server, ident, path } = self;
        let what = || format!("get credentials for the files of table '{ident}'");
        if let Some(path) = path {
            let url = server.client.address.resolve(path, "client.refresh-credentials-endpoint")?;
            // a token goes to nobody else
            if !server.client.address.is_of(&url) {
                return Err(Error::new("catalog-error", format!("cannot {}: they are elsewhere", what())));
            }
            let call = Call::get(path.as_str());
            match server.client.send_to(url, &call).await {
                Ok(body) => {
                    let answer: Result<Credentials, _> = server.client.parsed(&body);
                    let answer = answer.map_err(|failure| failure.error(what()))?;
                    return Ok(vended(&BTreeMap::new(), &answer.storage_credentials));
                }
                // an old server may know nothing of the path
                Err(failure) if super::client::has_status(&failure, &[404, 405, 501]) => {
                    tracing::debug!(?failure, "credentials are asked for with their table");
                }
                Err(failure) => return Err(failure.error(what())),
            }
        }
        let call = Call::get(server.table_path(ident)?).with_header(server.delegation());
        let body = server.client.send(&call).await.map_err(|failure| failure.error(what()))?;
        let loaded = Loaded::parse(&body, what)?;
        Ok(vended(&loaded.config, &loaded.credentials))
    }
}

//! Databases of a REST catalog.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use calve_types::{Error, Result};
use reqwest::Method;

use super::RestCatalog;
use super::client::{Call, has_status};
use super::failure::{Failure, Kind};
use super::messages::{CreateNamespace, Namespaces, UpdateProperties};
use super::server::{Server, endpoint};
use crate::catalog::names::check_namespace;
use crate::catalog::pages::Pages;

impl RestCatalog {
    /// The child namespaces of `parent`, sorted. A server without namespaces has the default database.
    ///
    /// # Errors
    /// `unknown-database`, what the server answers.
    pub(super) async fn namespaces_below(&self, parent: &[String]) -> Result<Vec<Vec<String>>> {
        check_namespace(parent)?;
        let server = self.server().await?;
        if !server.offers(endpoint::LIST_NAMESPACES) {
            let mut default = self.settings.base_namespace.clone();
            default.push(self.settings.default_database.clone());
            return Ok(if parent == self.settings.base_namespace { vec![default] } else { vec![] });
        }
        let (mut found, mut pages, mut token) = (BTreeSet::new(), Pages::new(), None);
        loop {
            let mut call = server.page(server.path("namespaces"), token);
            if !parent.is_empty() {
                call = call.query("parent", server.joined(parent)?);
            }
            let answer: Namespaces = match server.client.ask(&call).await {
                Ok(answer) => answer,
                Err(failure) if failure.kind == Kind::NotFound && !parent.is_empty() => {
                    return Err(self.settings.unknown_database(parent));
                }
                Err(failure) => {
                    return Err(failure.error(format!("list the databases of catalog '{}'", self.settings.name)));
                }
            };
            // some servers list what is deeper, too
            let below = answer.namespaces.into_iter().filter(|n| n.len() > parent.len() && n.starts_with(parent));
            found.extend(below.map(|mut levels| {
                levels.truncate(parent.len() + 1);
                levels
            }));
            token = pages.next(answer.next_page_token)?;
            if token.is_none() {
                return Ok(found.into_iter().collect());
            }
        }
    }

    /// Whether a namespace exists. A server that cannot be asked has them all.
    ///
    /// # Errors
    /// `invalid-name`, what the server answers.
    pub(super) async fn has_namespace(&self, namespace: &[String]) -> Result<bool> {
        check_namespace(namespace)?;
        if namespace.is_empty() {
            return Ok(true);
        }
        let server = self.server().await?;
        let found = self.find_namespace(server, namespace).await;
        found.map_err(|failure| failure.error(format!("look for database '{}'", self.settings.database(namespace))))
    }

    async fn find_namespace(&self, server: &Server, namespace: &[String]) -> Result<bool, Failure> {
        let path = server.namespace_path(namespace).map_err(Failure::of_error)?;
        if server.offers(endpoint::NAMESPACE_EXISTS) {
            match server.client.send(&Call::of(Method::HEAD, path.as_str())).await {
                Ok(_) => return Ok(true),
                Err(failure) if failure.kind == Kind::NotFound => return Ok(false),
                // a proxy may know nothing of HEAD
                Err(failure) if has_status(&failure, &[400, 405, 501]) => {}
                Err(failure) => return Err(failure),
            }
        } else if !server.offers(endpoint::LOAD_NAMESPACE) {
            return Ok(true);
        }
        match server.client.send(&Call::get(path)).await {
            Ok(_) => Ok(true),
            Err(failure) if failure.kind == Kind::NotFound => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// Creates a namespace.
    ///
    /// # Errors
    /// `database-exists`; `not-supported` by a server without namespaces; what the server answers.
    pub(super) async fn make_namespace(
        &self,
        namespace: &[String],
        properties: &BTreeMap<String, String>,
    ) -> Result<()> {
        check_namespace(namespace)?;
        let server = self.server().await?;
        self.needs_namespaces(server, endpoint::CREATE_NAMESPACE)?;
        server.joined(namespace)?;
        let call = Call::post(server.path("namespaces"), &CreateNamespace { namespace, properties })?;
        let what = format!("create database '{}'", self.settings.database(namespace));
        let mut lost = Lost::default();
        loop {
            let failure = match server.client.send(&call).await {
                Ok(_) => return Ok(()),
                Err(failure) => failure,
            };
            return match failure.kind {
                // it was not there a moment ago
                Kind::Conflict if lost.any() => Ok(()),
                Kind::Conflict => Err(self.settings.database_exists(namespace)),
                Kind::NotFound if namespace.len() > 1 => {
                    let parent = namespace.get(..namespace.len() - 1).unwrap_or_default();
                    Err(self.settings.unknown_database(parent))
                }
                // it is what was asked for that counts
                Kind::Unsure => match self.find_namespace(server, namespace).await {
                    Ok(true) => Ok(()),
                    Ok(false) if lost.again().await => continue,
                    Ok(false) => Err(failure.error(what)),
                    Err(_) => Err(unsettled(failure, &what)),
                },
                _ => Err(failure.error(what)),
            };
        }
    }

    /// Sets properties of a namespace.
    ///
    /// # Errors
    /// `unknown-database`; `not-supported` by a server without them; what the server answers.
    pub(super) async fn update_namespace(
        &self,
        namespace: &[String],
        updates: &BTreeMap<String, String>,
    ) -> Result<()> {
        check_namespace(namespace)?;
        let server = self.server().await?;
        self.needs_namespaces(server, endpoint::SET_PROPERTIES)?;
        let path = format!("{}/properties", server.namespace_path(namespace)?);
        // the same values again change nothing
        let call = Call::post(path, &UpdateProperties { removals: [], updates })?.idempotent();
        match server.client.send(&call).await {
            Ok(_) => Ok(()),
            Err(failure) if failure.kind == Kind::NotFound => Err(self.settings.unknown_database(namespace)),
            Err(failure) => {
                let what = format!("set properties of database '{}'", self.settings.database(namespace));
                Err(if failure.kind == Kind::Unsure { unsettled(failure, &what) } else { failure.error(what) })
            }
        }
    }

    /// Drops an empty namespace.
    ///
    /// # Errors
    /// `unknown-database`, `database-not-empty`; what the server answers.
    pub(super) async fn remove_namespace(&self, namespace: &[String]) -> Result<()> {
        check_namespace(namespace)?;
        if namespace.is_empty() {
            return Err(self.settings.unknown_database(namespace));
        }
        let server = self.server().await?;
        self.needs_namespaces(server, endpoint::DROP_NAMESPACE)?;
        let call = Call::of(Method::DELETE, server.namespace_path(namespace)?);
        let what = format!("drop database '{}'", self.settings.database(namespace));
        let mut lost = Lost::default();
        loop {
            let failure = match server.client.send(&call).await {
                Ok(_) => return Ok(()),
                Err(failure) => failure,
            };
            return match failure.kind {
                Kind::NotFound if lost.any() => Ok(()),
                Kind::NotFound => Err(self.settings.unknown_database(namespace)),
                // old servers answer 400
                Kind::Conflict => Err(self.settings.database_not_empty(namespace)),
                _ if failure.is("NotEmpty") => Err(self.settings.database_not_empty(namespace)),
                Kind::Unsure => match self.find_namespace(server, namespace).await {
                    Ok(false) => Ok(()),
                    Ok(true) if lost.again().await => continue,
                    Ok(true) => Err(failure.error(what)),
                    Err(_) => Err(unsettled(failure, &what)),
                },
                _ => Err(failure.error(what)),
            };
        }
    }

    /// Refuses what a server without namespaces cannot do, in Flink's words.
    fn needs_namespaces(&self, server: &Server, endpoint: &str) -> Result<()> {
        let name = &self.settings.name;
        server.needs(endpoint, format!("changing the databases of catalog '{name}'")).map_err(|error| {
            let detail = error.detail.as_deref().unwrap_or_default();
            let detail = format!("Namespaces are not supported by catalog: {name}. {detail}");
            error.with_detail(detail)
        })
    }
}

/// A request whose outcome was not known, and which was found not to have been carried out: so that it can be sent again. A
/// connection that was kept may be dead without anybody knowing.
#[derive(Default)]
pub(super) struct Lost {
    times: u32,
}

impl Lost {
    /// Whether it happened before: what is found then may be the doing of a request that came late.
    pub(super) fn any(&self) -> bool {
        self.times > 0
    }

    /// Whether it is to be sent again, after a pause.
    pub(super) async fn again(&mut self) -> bool {
        self.times += 1;
        if self.times > 2 {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(100) * self.times).await;
        true
    }
}

/// Nobody knows whether something was done, and nobody can be asked.
pub(super) fn unsettled(failure: Failure, what: &str) -> Error {
    let error = failure.error(what);
    Error { code: "commit-unknown", ..error }.with_hint("it may have happened: look before running the statement again")
}

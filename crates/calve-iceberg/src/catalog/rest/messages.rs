//! What is sent to a REST catalog and what it answers (the schemas of Iceberg's REST specification), as far as it is
//! used here.

use std::collections::BTreeMap;

use calve_types::{Error, Result};
use iceberg::spec::{Schema, SortOrder, TableMetadata, UnboundPartitionSpec};
use iceberg::{TableIdent, TableRequirement, TableUpdate};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::metadata::{may_default_nanoseconds, parse};
use crate::error::Context;

/// `CatalogConfig`.
#[derive(Deserialize)]
pub(super) struct Config {
    #[serde(default)]
    pub(super) defaults: Option<BTreeMap<String, Option<String>>>,
    #[serde(default)]
    pub(super) overrides: Option<BTreeMap<String, Option<String>>>,
    #[serde(default)]
    pub(super) endpoints: Option<Vec<String>>,
    /// How long the server knows an `Idempotency-Key`: a duration of ISO 8601. It takes none without.
    #[serde(default, rename = "idempotency-key-lifetime")]
    pub(super) key_lifetime: Option<String>,
}

/// `ListNamespacesResponse`.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Namespaces {
    #[serde(default)]
    pub(super) namespaces: Vec<Vec<String>>,
    #[serde(default)]
    pub(super) next_page_token: Option<String>,
}

/// `ListTablesResponse`.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Tables {
    #[serde(default)]
    pub(super) identifiers: Vec<Identifier>,
    #[serde(default)]
    pub(super) next_page_token: Option<String>,
}

/// `TableIdentifier`.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Identifier {
    namespace: Vec<String>,
    pub(super) name: String,
}

impl Identifier {
    pub(super) fn of(ident: &TableIdent) -> Self {
        Self { namespace: ident.namespace().to_vec(), name: ident.name().to_owned() }
    }
}

/// `CreateNamespaceRequest`.
#[derive(Serialize)]
pub(super) struct CreateNamespace<'a> {
    pub(super) namespace: &'a [String],
    pub(super) properties: &'a BTreeMap<String, String>,
}

/// `UpdateNamespacePropertiesRequest`.
#[derive(Serialize)]
pub(super) struct UpdateProperties<'a> {
    pub(super) removals: [&'a str; 0],
    pub(super) updates: &'a BTreeMap<String, String>,
}

/// `CreateTableRequest`.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct CreateTable<'a> {
    pub(super) name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) location: Option<&'a str>,
    pub(super) schema: &'a Schema,
    pub(super) partition_spec: UnboundPartitionSpec,
    pub(super) write_order: SortOrder,
    pub(super) stage_create: bool,
    pub(super) properties: BTreeMap<String, String>,
}

/// `RenameTableRequest`.
#[derive(Serialize)]
pub(super) struct RenameTable {
    pub(super) source: Identifier,
    pub(super) destination: Identifier,
}

/// `CommitTableRequest`; the identifier is for transactions.
#[derive(Serialize)]
pub(super) struct CommitTable {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) identifier: Option<Identifier>,
    pub(super) requirements: Vec<TableRequirement>,
    pub(super) updates: Vec<TableUpdate>,
}

/// `CommitTransactionRequest`.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct CommitTransaction {
    pub(super) table_changes: Vec<CommitTable>,
}

/// `LoadTableResult` and `CommitTableResponse`.
pub(super) struct Loaded {
    /// The metadata file; empty if the server does not tell.
    pub(super) location: String,
    pub(super) metadata: TableMetadata,
    /// Properties of the table's storage, and its `token`.
    pub(super) config: BTreeMap<String, String>,
    pub(super) credentials: Vec<StorageCredential>,
}

/// `StorageCredential`.
#[derive(Clone, PartialEq, Eq, Deserialize)]
pub(super) struct StorageCredential {
    pub(super) prefix: String,
    #[serde(default)]
    pub(super) config: BTreeMap<String, String>,
}

/// `LoadCredentialsResponse`.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Credentials {
    #[serde(default)]
    pub(super) storage_credentials: Vec<StorageCredential>,
}

/// What is around the metadata.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Around<M> {
    #[serde(default)]
    metadata_location: Option<String>,
    metadata: M,
    #[serde(default)]
    config: Option<BTreeMap<String, Option<String>>>,
    #[serde(default)]
    storage_credentials: Option<Vec<StorageCredential>>,
}

impl Loaded {
    /// Reads an answer.
    ///
    /// # Errors
    /// What is wrong with its text; `not-supported` for what would be lost.
    pub(super) fn parse(body: &[u8], what: impl Fn() -> String) -> Result<Self> {
        if !may_default_nanoseconds(body)
            && let Ok(around) = serde_json::from_slice::<Around<TableMetadata>>(body)
        {
            return Ok(around.finish(|metadata| metadata));
        }
        // what the library cannot read as it is
        let around: Around<Value> = serde_json::from_slice(body).context(&what)?;
        if !around.metadata.is_object() {
            return Err(Error::new("invalid-table", format!("cannot {}: the answer has no metadata", what())));
        }
        let text = serde_json::to_vec(&around.metadata).context(&what)?;
        let metadata = parse(&text, &what)?;
        Ok(around.finish(|_| metadata))
    }
}

impl<M> Around<M> {
    fn finish(self, metadata: impl FnOnce(M) -> TableMetadata) -> Loaded {
        Loaded {
            location: self.metadata_location.unwrap_or_default(),
            metadata: metadata(self.metadata),
            config: some_values(self.config),
            credentials: self.storage_credentials.unwrap_or_default(),
        }
    }
}

/// The entries that have a value.
pub(super) fn some_values(map: Option<BTreeMap<String, Option<String>>>) -> BTreeMap<String, String> {
    map.unwrap_or_default().into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
}

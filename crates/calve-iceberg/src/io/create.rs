//! Put-if-absent: of all who create a file, exactly one succeeds, and knows it.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use calve_types::{Error, Result};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutResult};
use uuid::Uuid;

use super::Left;
use super::explain::{explain, is_definite, is_unknown_request, is_unsent};
use super::location::Kind;
use super::stores::{Router, Stores};

/// What became of a file that was to be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Created {
    /// It is there, with these bytes. (After a lost answer, one that another wrote with the very same bytes is ours, too.)
    Done,
    /// There was a file already: another one.
    Exists,
}

/// Attempts at one file.
const ATTEMPTS: u32 = 6;

/// Creates a file in remote storage.
///
/// Requests are made once each, and every answer is looked at: a repeated one may find the file that the lost one made, so
/// the file is read and compared before anybody is told that it is another's.
///
/// # Errors
/// `not-supported` for a store without put-if-absent; `commit-unknown` if nobody can tell whether the file is there; any
/// other error means that it was not created.
pub(super) async fn create(
    stores: &Arc<Stores>,
    left: &Left,
    kind: Kind,
    path: &Path,
    location: &str,
    bytes: Bytes,
) -> Result<Created> {
    let store = Router::once(stores.clone());
    if kind == Kind::S3 {
        check_conditional(stores, left, &store, path, location).await?;
    }
    let what = || format!("create the file '{location}'");
    let mut sent = false;
    let mut last = None;
    for attempt in 0..ATTEMPTS {
        if attempt > 0 {
            tokio::time::sleep(Duration::from_millis(100 << attempt)).await;
        }
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        match store.put_opts(path, bytes.clone().into(), options).await {
            Ok(_) => return Ok(Created::Done),
            // 409 is said while two requests for the same file are under way: then there may be no file yet
            Err(error @ (object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. })) => {
                match found(&store, path, &bytes).await {
                    Ok(Some(created)) if sent => return Ok(created),
                    Ok(Some(_)) => return Ok(Created::Exists),
                    Ok(None) => last = Some(error),
                    Err(_) if sent => return Err(unknown(location, &error)),
                    // it is there, and no request of ours can have made it
                    Err(_) => return Ok(Created::Exists),
                }
            }
            Err(error) if is_unknown_request(&error) => return Err(no_condition(location)),
            Err(error) if is_unsent(&error) => last = Some(error),
            Err(error) if is_definite(&error) && !sent => return Err(explain(&error).error(what())),
            Err(error) if is_definite(&error) => return settle(&store, path, &bytes, location, error).await,
            Err(error) => {
                sent = true;
                last = Some(error);
            }
        }
    }
    match last {
        Some(error) if sent => settle(&store, path, &bytes, location, error).await,
        Some(error) => Err(explain(&error).error(what())),
        None => Err(Error::internal("a file was never tried to be created")),
    }
}

/// The file as it is: ours, another's, or none.
async fn found(store: &Router, path: &Path, bytes: &Bytes) -> object_store::Result<Option<Created>> {
    for attempt in 0..ATTEMPTS {
        if attempt > 0 {
            tokio::time::sleep(Duration::from_millis(100 << attempt)).await;
        }
        let read = match store.get(path).await {
            Ok(found) if found.meta.size != bytes.len() as u64 => return Ok(Some(Created::Exists)),
            Ok(found) => found.bytes().await,
            Err(error) => Err(error),
        };
        match read {
            Ok(read) if read == *bytes => return Ok(Some(Created::Done)),
            Ok(_) => return Ok(Some(Created::Exists)),
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) if attempt + 1 == ATTEMPTS || is_definite(&error) && !is_unsent(&error) => return Err(error),
            Err(_) => {}
        }
    }
    Ok(None)
}

/// After requests whose answers were lost: what is there says what became of them. A request that has not arrived yet may
/// still make the file.
async fn settle(
    store: &Router,
    path: &Path,
    bytes: &Bytes,
    location: &str,
    error: object_store::Error,
) -> Result<Created> {
    match found(store, path, bytes).await {
        Ok(Some(created)) => Ok(created),
        Ok(None) | Err(_) => Err(unknown(location, &error)),
    }
}

fn unknown(location: &str, error: &object_store::Error) -> Error {
    let failure = explain(error);
    let message = format!("nobody knows whether the file '{location}' was created: {}", failure.reason);
    let error = Error::new("commit-unknown", message).with_hint("look whether it is there before trying again");
    Error { detail: failure.detail, ..error }
}

fn no_condition(location: &str) -> Error {
    let bucket = location.splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
    Error::unsupported(format!("put-if-absent by the store of '{bucket}'"))
        .with_detail("Without it two writers can both believe that they wrote the next version of a table.")
        .with_hint("use a store that knows 'If-None-Match: *' for PUT, or a catalog that needs no such store: 'rest' or 'jdbc'")
}

/// Whether a bucket's store keeps the promise: some take the condition and do not look at it. Tried once per bucket, with
/// a file of its own that is deleted again.
async fn check_conditional(
    stores: &Arc<Stores>,
    left: &Left,
    store: &Router,
    path: &Path,
    location: &str,
) -> Result<()> {
    let bucket: String = path.as_ref().splitn(3, '/').take(2).collect::<Vec<_>>().join("/");
    let checked = || stores.conditional.lock().unwrap_or_else(PoisonError::into_inner);
    if checked().contains(&bucket) {
        return Ok(());
    }
    let (folder, name) = (path.as_ref().rsplit_once('/'), format!(".calve-{}", Uuid::new_v4()));
    let folder = folder.map_or(bucket.as_str(), |(folder, _)| folder);
    let probe = Path::parse(format!("{folder}/{name}")).map_err(|e| Error::internal(e.to_string()))?;
    let patient = Router::new(stores.clone());
    let second = match patient.put(&probe, Bytes::from_static(b"1").into()).await {
        Ok(_) => Ok(put_again(store, &probe).await),
        Err(error) => Err(explain(&error).error(format!("create the file '{location}'"))),
    };
    if let Err(error) = patient.delete(&probe).await {
        tracing::debug!(%error, "cannot delete a probe of put-if-absent");
        left.locations().extend(location.rsplit_once('/').map(|(folder, _)| format!("{folder}/{name}")));
    }
    match second? {
        Err(object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. }) => {
            checked().insert(bucket);
            Ok(())
        }
        Ok(_) => Err(no_condition(location)),
        Err(error) if is_unknown_request(&error) => Err(no_condition(location)),
        Err(error) => Err(explain(&error).error(format!("create the file '{location}'"))),
    }
}

/// Tries to create a file that is there.
async fn put_again(store: &Router, probe: &Path) -> object_store::Result<PutResult> {
    let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
    let mut again = store.put_opts(probe, Bytes::from_static(b"2").into(), options.clone()).await;
    for attempt in 1..ATTEMPTS {
        match &again {
            Err(error) if !is_definite(error) || is_unsent(error) => {
                tokio::time::sleep(Duration::from_millis(100 << attempt)).await;
                again = store.put_opts(probe, Bytes::from_static(b"2").into(), options.clone()).await;
            }
            _ => break,
        }
    }
    again
}

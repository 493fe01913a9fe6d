//! Credentials that a catalog vends: for a while, for a part of storage.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use calve_types::{Error, Result};
use chrono::Utc;
use object_store::CredentialProvider;
use tokio::sync::Mutex;

use super::explain::foreign;
use super::location::Kind;
use super::properties::given;

/// Credentials for the locations that begin with a prefix, as a REST catalog's `storage-credentials` has them.
#[derive(Clone, PartialEq, Eq)]
pub struct VendedCredential {
    /// What locations begin with: `s3://bucket/path`, or `s3` for all of S3. The longest one that fits counts.
    pub prefix: String,
    /// Properties that hold for these locations: `s3.access-key-id`, `gcs.oauth2.token`, `adls.sas-token.ACCOUNT`, ...
    pub config: BTreeMap<String, String>,
}

impl fmt::Debug for VendedCredential {
    /// The values are secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<_> = self.config.keys().collect();
        f.debug_struct("VendedCredential").field("prefix", &self.prefix).field("config", &keys).finish()
    }
}

impl VendedCredential {
    /// Whether a location begins with the prefix; `s3a://` and `s3n://` are `s3://`, and so on.
    fn covers(&self, location: &str) -> bool {
        match self.prefix.split_once("://") {
            None => location.starts_with(&self.prefix),
            Some((scheme, rest)) => {
                let scheme = match Kind::of_scheme(scheme) {
                    Some(kind) => kind.scheme(),
                    None => scheme,
                };
                let begins = location.strip_prefix(scheme).and_then(|l| l.strip_prefix("://"));
                begins.is_some_and(|location| location.starts_with(rest))
            }
        }
    }

    /// When they expire, in milliseconds since 1970: `s3.session-token-expires-at-ms`, `gcs.oauth2.token-expires-at`,
    /// `adls.sas-token-expires-at-ms.ACCOUNT` (the Java library's `VendedCredentialsProvider` and its siblings).
    fn expires_at(&self) -> Option<i64> {
        let is_time = |key: &str| {
            key == "s3.session-token-expires-at-ms"
                || key == "gcs.oauth2.token-expires-at"
                || key.starts_with("adls.sas-token-expires-at-ms")
        };
        let times = self.config.iter().filter(|(key, _)| is_time(key));
        times.filter_map(|(_, value)| value.trim().parse::<i64>().ok()).min()
    }
}

/// Where credentials come from again when they are about to expire.
#[async_trait]
pub trait CredentialSource: fmt::Debug + Send + Sync {
    /// Fresh credentials, for all prefixes.
    ///
    /// # Errors
    /// Those of the catalog.
    async fn load(&self) -> Result<Vec<VendedCredential>>;
}

/// Fetched again that long before they expire, or at half of their life if that is later.
const EARLY: i64 = 5 * 60 * 1000;

/// After an attempt, none is made for that long, in milliseconds.
const PAUSE: i64 = 10 * 1000;

/// The credentials of a table.
#[derive(Debug)]
pub(super) struct Vended {
    /// Those that the table came with: they decide which store a location belongs to.
    first: Vec<VendedCredential>,
    source: Option<Arc<dyn CredentialSource>>,
    now: Mutex<Current>,
}

#[derive(Debug)]
struct Current {
    credentials: Vec<VendedCredential>,
    expires: Option<i64>,
    refresh: Option<i64>,
}

impl Current {
    fn new(credentials: Vec<VendedCredential>) -> Self {
        let expires = credentials.iter().filter_map(VendedCredential::expires_at).min();
        let now = Utc::now().timestamp_millis();
        let refresh = expires.map(|at| at.saturating_sub(EARLY.min(at.saturating_sub(now).max(0) / 2)));
        Self { credentials, expires, refresh }
    }
}

fn longest<'a>(credentials: &'a [VendedCredential], location: &str) -> Option<&'a VendedCredential> {
    credentials.iter().filter(|c| c.covers(location)).max_by_key(|c| c.prefix.len())
}

impl Vended {
    pub(super) fn new(credentials: Vec<VendedCredential>, source: Option<Arc<dyn CredentialSource>>) -> Self {
        Self { first: credentials.clone(), source, now: Mutex::new(Current::new(credentials)) }
    }

    /// The kinds of storage that there are credentials for.
    pub(super) fn kinds(&self) -> impl Iterator<Item = Kind> + '_ {
        self.first.iter().filter_map(|c| Kind::of_scheme(c.prefix.split(':').next().unwrap_or_default()))
    }

    /// The credentials that a location belongs to.
    pub(super) fn of(&self, location: &str) -> Option<&VendedCredential> {
        longest(&self.first, location)
    }

    /// The credentials of a location as they are now, fetched again if they are about to expire.
    async fn current(&self, location: &str) -> Result<VendedCredential> {
        let mut current = self.now.lock().await;
        let now = Utc::now().timestamp_millis();
        if let (Some(source), Some(refresh)) = (&self.source, current.refresh)
            && now >= refresh
        {
            match source.load().await {
                Ok(fresh) => {
                    *current = Current::new(fresh);
                    // if they come expired, clocks differ: they may be good all the same
                    current.refresh = current.refresh.map(|at| at.max(now.saturating_add(PAUSE)));
                }
                // those at hand are good for a while
                Err(error) if current.expires.is_none_or(|at| now < at) => {
                    tracing::warn!(%error, "cannot get fresh storage credentials yet");
                    current.refresh = Some(now.saturating_add(PAUSE));
                }
                Err(error) => {
                    let Error { detail, hint, .. } = error.clone();
                    let message = format!("the catalog gives no fresh credentials for storage: {}", error.message);
                    return Err(Error { detail, hint, ..Error::new("access-denied", message) });
                }
            }
        }
        longest(&current.credentials, location).cloned().ok_or_else(|| {
            Error::new("access-denied", format!("the catalog gives no credentials for '{location}' any more"))
        })
    }

    /// Whether the credentials of a location hold what makes a `T`; if so, who gives it to the requests of a store.
    ///
    /// # Errors
    /// Those of `make`.
    pub(super) fn provider<T: fmt::Debug + Send + Sync + 'static>(
        self: &Arc<Self>,
        location: &str,
        make: Make<T>,
    ) -> Result<Option<Arc<dyn CredentialProvider<Credential = T>>>> {
        let Some(first) = self.of(location) else { return Ok(None) };
        if make(&first.config)?.is_none() {
            return Ok(None);
        }
        Ok(Some(Arc::new(Provider { vended: self.clone(), location: location.to_owned(), make })))
    }
}

/// Makes a store's credential from properties; `None` if they hold none.
pub(super) type Make<T> = Arc<dyn Fn(&BTreeMap<String, String>) -> Result<Option<T>> + Send + Sync>;

/// Gives a store the credentials of one location.
struct Provider<T> {
    vended: Arc<Vended>,
    location: String,
    make: Make<T>,
}

impl<T> fmt::Debug for Provider<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider").field("location", &self.location).finish_non_exhaustive()
    }
}

#[async_trait]
impl<T: fmt::Debug + Send + Sync + 'static> CredentialProvider for Provider<T> {
    type Credential = T;

    async fn get_credential(&self) -> object_store::Result<Arc<T>> {
        let credential = self.vended.current(&self.location).await.map_err(foreign)?;
        match (self.make)(&credential.config).map_err(foreign)? {
            Some(credential) => Ok(Arc::new(credential)),
            None => {
                let message = format!("the catalog's credentials for '{}' hold no keys", self.location);
                Err(foreign(Error::new("access-denied", message)))
            }
        }
    }
}

/// Properties, with those of the credentials of a location on top.
pub(super) fn merged(
    properties: &BTreeMap<String, String>,
    vended: Option<&VendedCredential>,
) -> BTreeMap<String, String> {
    let mut merged = properties.clone();
    if let Some(vended) = vended {
        merged.extend(vended.config.iter().map(|(key, value)| (key.clone(), value.clone())));
    }
    merged
}

/// A value that may be given for an account of its own: `KEY.ACCOUNT` or `KEY`.
pub(super) fn of_account<'a>(properties: &'a BTreeMap<String, String>, key: &str, account: &str) -> Option<&'a str> {
    given(properties, &format!("{key}.{account}")).or_else(|| given(properties, key))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn credential(prefix: &str, key: &str, expires_in: Option<i64>) -> VendedCredential {
        let mut config = BTreeMap::from([("s3.access-key-id".to_owned(), key.to_owned())]);
        if let Some(millis) = expires_in {
            let at = Utc::now().timestamp_millis() + millis;
            config.insert("s3.session-token-expires-at-ms".to_owned(), at.to_string());
        }
        VendedCredential { prefix: prefix.to_owned(), config }
    }

    #[derive(Debug, Default)]
    struct Counting {
        calls: AtomicUsize,
        broken: bool,
    }

    #[async_trait]
    impl CredentialSource for Counting {
        async fn load(&self) -> Result<Vec<VendedCredential>> {
            let calls = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
            if self.broken {
                return Err(Error::new("io", "gone"));
            }
            Ok(vec![credential("s3://b", &format!("fresh{calls}"), Some(3_600_000))])
        }
    }

    fn key(properties: &BTreeMap<String, String>) -> Result<Option<String>> {
        Ok(given(properties, "s3.access-key-id").map(str::to_owned))
    }

    async fn ask(vended: Vec<VendedCredential>, source: Arc<Counting>) -> object_store::Result<Arc<String>> {
        let vended = Arc::new(Vended::new(vended, Some(source)));
        let provider = vended.provider("s3://b/t/f", Arc::new(key)).unwrap().unwrap();
        for _ in 0..9 {
            provider.get_credential().await?;
        }
        provider.get_credential().await
    }

    #[test]
    fn the_longest_prefix_counts() {
        let all = [credential("s3", "a", None), credential("s3a://b/t", "b", None), credential("s3://b", "c", None)];
        let of = |location| longest(&all, location).map(|c| c.prefix.as_str());
        assert_eq!(of("s3://b/t/x"), Some("s3a://b/t"));
        assert_eq!(of("s3://b/u"), Some("s3://b"));
        assert_eq!(of("s3://c/u"), Some("s3"));
        assert_eq!(of("gs://b/t"), None);
    }

    #[tokio::test]
    async fn credentials_are_fetched_again_before_they_expire() {
        let source = Arc::new(Counting::default());
        let hour = 3_600_000;
        let got = ask(vec![credential("s3://b", "first", Some(hour))], source.clone()).await.unwrap();
        assert_eq!((got.as_str(), source.calls.load(Ordering::SeqCst)), ("first", 0));
        let got = ask(vec![credential("s3://b", "first", None)], source.clone()).await.unwrap();
        assert_eq!((got.as_str(), source.calls.load(Ordering::SeqCst)), ("first", 0));
        // at the end of their life
        let got = ask(vec![credential("s3://b", "first", Some(0))], source.clone()).await.unwrap();
        assert_eq!((got.as_str(), source.calls.load(Ordering::SeqCst)), ("fresh1", 1));
    }

    #[tokio::test]
    async fn a_failed_refresh_matters_only_when_they_have_expired() {
        let broken = || Arc::new(Counting { broken: true, ..Counting::default() });
        let mut old = Vended::new(vec![credential("s3://b", "first", Some(60_000))], Some(broken()));
        old.now.get_mut().refresh = Some(0);
        let vended = Arc::new(old);
        let provider = vended.provider("s3://b/x", Arc::new(key)).unwrap().unwrap();
        assert_eq!(provider.get_credential().await.unwrap().as_str(), "first");
        let error = ask(vec![credential("s3://b", "first", Some(-1))], broken()).await.unwrap_err();
        let error = super::super::explain::explain(&error).error("read 'x'");
        assert_eq!(error.code, "access-denied");
        assert_eq!(error.message, "cannot read 'x': the catalog gives no fresh credentials for storage: gone");
    }

    #[test]
    fn values_are_not_shown() {
        let shown = format!("{:?}", Vended::new(vec![credential("s3://b", "SECRET", Some(1))], None));
        assert!(shown.contains("s3.access-key-id") && !shown.contains("SECRET"), "{shown}");
    }
}

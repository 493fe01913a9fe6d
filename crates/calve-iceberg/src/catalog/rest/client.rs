//! Requests to a REST catalog: what goes into each of them.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use calve_types::{Error, Result};
use object_store::aws::AwsCredentialProvider;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, StatusCode, Url};
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::address::Address;
use super::auth::Auth;
use super::failure::{Failure, Kind};
use super::transport::{Again, Transport};
use crate::io::aws;

/// What is asked of the server.
pub(super) struct Call {
    pub(super) method: Method,
    /// Below the catalog's address, its parts encoded.
    pub(super) path: String,
    pub(super) query: Vec<(&'static str, String)>,
    body: Option<Bytes>,
    /// Whether it does the same when it is done twice.
    idempotent: bool,
    /// Of a call that changes something: by it a server that knows such keys tells a repetition.
    key: Option<Uuid>,
    /// The token of one table.
    token: Option<String>,
    /// Headers of this call alone.
    headers: HeaderMap,
}

impl Call {
    pub(super) fn of(method: Method, path: impl Into<String>) -> Self {
        let idempotent = matches!(method, Method::GET | Method::HEAD);
        let (query, headers, key) = (Vec::new(), HeaderMap::new(), (!idempotent).then(Uuid::now_v7));
        Self { method, path: path.into(), query, body: None, idempotent, key, token: None, headers }
    }

    pub(super) fn get(path: impl Into<String>) -> Self {
        Self::of(Method::GET, path)
    }

    /// A POST of a text in JSON.
    ///
    /// # Errors
    /// `internal` if it cannot be written as JSON.
    pub(super) fn post(path: impl Into<String>, body: &impl Serialize) -> Result<Self> {
        let text = serde_json::to_vec(body).map_err(|e| Error::internal(format!("a request is no JSON: {e}")))?;
        Ok(Self { body: Some(text.into()), ..Self::of(Method::POST, path) })
    }

    pub(super) fn query(mut self, key: &'static str, value: impl Into<String>) -> Self {
        self.query.push((key, value.into()));
        self
    }

    /// It does the same when it is done twice.
    pub(super) fn idempotent(self) -> Self {
        Self { idempotent: true, ..self }
    }

    /// With the token of one table instead of the catalog's.
    pub(super) fn with_token(self, token: Option<String>) -> Self {
        Self { token, ..self }
    }

    pub(super) fn with_header(mut self, header: Option<(HeaderName, HeaderValue)>) -> Self {
        if let Some((name, value)) = header {
            self.headers.insert(name, value);
        }
        self
    }
}

/// Signatures of requests (`rest.sigv4-enabled`).
struct Signing {
    provider: AwsCredentialProvider,
    service: String,
    region: String,
}

/// Keys that a server forgets sooner than this are of no use: that long the tries of one call may take.
const SHORTEST_LIFE_OF_KEYS: Duration = Duration::from_secs(900);
/// The specification's header of calls that change something.
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// A server as a certain person: requests with headers, tokens and signatures.
pub(super) struct Client {
    transport: Transport,
    pub(super) address: Address,
    auth: Auth,
    signing: Option<Signing>,
    /// `header.*`.
    headers: HeaderMap,
    /// Parts of options that no message may show.
    secrets: Vec<String>,
    /// Whether the server knows repetitions by their keys.
    keys: bool,
}

impl Client {
    /// A client from the properties of a catalog. Nothing is contacted.
    ///
    /// # Errors
    /// `invalid-option`, `not-supported` for properties that are wrong or of another kind of authentication.
    pub(super) fn new(address: Address, properties: &BTreeMap<String, String>) -> Result<Self> {
        let transport = Transport::new(properties)?;
        let auth = Auth::new(&address, properties)?;
        let flag = |key: &str| properties.get(key).is_some_and(|value| value.trim().eq_ignore_ascii_case("true"));
        let given = |key: &str| properties.get(key).map(|value| value.trim()).filter(|value| !value.is_empty());
        let signed = flag("rest.sigv4-enabled")
            || given("rest.auth.type").is_some_and(|kind| kind.eq_ignore_ascii_case("sigv4"));
        let signing = match signed {
            false => None,
            true => {
                let region = given("rest.signing-region").map(str::to_owned).or_else(|| aws::region(properties));
                let region = region.ok_or_else(|| {
                    Error::new("missing-option", "requests to the catalog are to be signed, and no region is known")
                        .with_hint("set 'rest.signing-region'")
                })?;
                Some(Signing {
                    provider: aws::own_credentials(properties, &["rest", "client", "s3"])?,
                    // Java's `AwsProperties.REST_SIGNING_NAME_DEFAULT`
                    service: given("rest.signing-name").unwrap_or("execute-api").to_owned(),
                    region,
                })
            }
        };
        let mut headers = HeaderMap::new();
        for (key, value) in properties {
            let Some(name) = key.strip_prefix("header.") else { continue };
            let parsed = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value));
            let (Ok(name), Ok(mut value)) = parsed else {
                return Err(Error::new("invalid-option", format!("the option '{key}' is not a header of HTTP")));
            };
            value.set_sensitive(true);
            if !value.is_empty() {
                headers.insert(name, value);
            }
        }
        Ok(Self { transport, address, auth, signing, headers, secrets: secrets(properties), keys: false })
    }

    /// For a server that says for how long it knows the keys of calls (`idempotency-key-lifetime`), if it does.
    pub(super) fn with_keys(self, lifetime: Option<&str>) -> Self {
        let lifetime = lifetime.and_then(duration);
        Self { keys: lifetime.is_some_and(|lifetime| lifetime >= SHORTEST_LIFE_OF_KEYS), ..self }
    }

    /// Whether a header is set by the catalog's options.
    pub(super) fn has_header(&self, name: &HeaderName) -> bool {
        self.headers.contains_key(name)
    }

    /// Sends a call; what it answers.
    ///
    /// # Errors
    /// Everything but success. A call that is not idempotent is sent again only where the server certainly did nothing.
    pub(super) async fn send(&self, call: &Call) -> Result<Bytes, Failure> {
        let url = self.address.url(&call.path, &call.query).map_err(Failure::of_error)?;
        self.send_to(url, call).await
    }

    /// As [`Client::send`], to a URL of its own.
    ///
    /// # Errors
    /// As [`Client::send`].
    pub(super) async fn send_to(&self, url: Url, call: &Call) -> Result<Bytes, Failure> {
        let scrub = |text: &str| self.scrub(text);
        let (mut token, mut renewed) = (call.token.clone(), false);
        let mut key = call.key.filter(|_| self.keys);
        let again = match (call.idempotent, key) {
            (true, _) => Again::Harmless,
            (false, Some(_)) => Again::ByKey,
            (false, None) => Again::No,
        };
        loop {
            let bearer = match &token {
                Some(token) => Some(token.clone()),
                None => self.auth.token(&self.transport, &scrub).await?,
            };
            let request = self.request(&url, call, key, bearer.as_deref()).await?;
            let failure = match self.transport.send_again(request, again, &scrub).await {
                Ok(body) => return Ok(body),
                Err(failure) => failure,
            };
            let failure = if bearer.is_none() && self.is_nobody(call) { failure.of_nobody() } else { failure };
            if failure.kind != Kind::Unauthorized || renewed {
                return Err(failure);
            }
            renewed = true;
            // a server may answer a key as it did before
            key = key.map(|_| Uuid::now_v7());
            // a table's token may have expired while the catalog's has not
            if token.take().is_none() && !self.auth.renew(bearer.as_deref(), &self.transport, &scrub).await? {
                return Err(failure);
            }
        }
    }

    /// Whether a call without a token says nothing of who asks.
    fn is_nobody(&self, call: &Call) -> bool {
        let by_header = self.headers.contains_key(AUTHORIZATION) || call.headers.contains_key(AUTHORIZATION);
        !by_header && self.auth.header().is_none() && self.signing.is_none()
    }

    async fn request(
        &self,
        url: &Url,
        call: &Call,
        key: Option<Uuid>,
        bearer: Option<&str>,
    ) -> Result<reqwest::Request, Failure> {
        let mut request = reqwest::Request::new(call.method.clone(), url.clone());
        *request.headers_mut() = self.headers.clone();
        request.headers_mut().extend(call.headers.clone());
        if let Some(key) = key.and_then(|key| HeaderValue::from_str(&key.to_string()).ok()) {
            request.headers_mut().insert(IDEMPOTENCY_KEY, key);
        }
        if let Some(body) = &call.body {
            request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            *request.body_mut() = Some(body.clone().into());
        }
        let authorization = match bearer {
            Some(token) => Some(super::auth::bearer(token).map_err(Failure::of_error)?),
            None => self.auth.header(),
        };
        if let Some(value) = authorization {
            request.headers_mut().insert(AUTHORIZATION, value);
        }
        if let Some(Signing { provider, service, region }) = &self.signing {
            // Java's `RESTSigV4AuthSession`
            if let Some(value) = request.headers_mut().remove(AUTHORIZATION) {
                request.headers_mut().insert(HeaderName::from_static("original-authorization"), value);
            }
            aws::sign(&mut request, provider, service, region).await.map_err(Failure::of_error)?;
        }
        Ok(request)
    }

    /// Sends a call; its answer as JSON.
    ///
    /// # Errors
    /// As [`Client::send`]; an answer of another shape.
    pub(super) async fn ask<T: DeserializeOwned>(&self, call: &Call) -> Result<T, Failure> {
        let body = self.send(call).await?;
        self.parsed(&body)
    }

    /// An answer as JSON.
    ///
    /// # Errors
    /// One of another shape.
    pub(super) fn parsed<T: DeserializeOwned>(&self, body: &[u8]) -> Result<T, Failure> {
        // what is in the body is not shown: it may hold a credential
        serde_json::from_slice(body).map_err(|error| {
            let why = match error.classify() {
                serde_json::error::Category::Data => "it is not what the request is answered with",
                _ => "it is not JSON",
            };
            Failure::unusable(&self.address.to_string(), why)
        })
    }

    /// A text without the secrets of this client.
    pub(super) fn scrub(&self, text: &str) -> String {
        let current = self.auth.secret();
        let known = self.secrets.iter().chain(current.as_ref());
        known.fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "******"))
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("address", &self.address).finish_non_exhaustive()
    }
}

/// The secret parts of the properties of a catalog or a table.
fn secrets(properties: &BTreeMap<String, String>) -> Vec<String> {
    const PARTS: [&str; 7] = ["token", "secret", "password", "account-key", "account.key", "connection-string", "sas"];
    // shorter ones would blacken what is none
    const SHORTEST: usize = 4;
    let mut found = vec![];
    for (key, value) in properties {
        let key = key.to_ascii_lowercase();
        if key == "credential" {
            found.push(value.split_once(':').map_or(value.as_str(), |(_, secret)| secret).to_owned());
        } else if key.starts_with("header.") && !is_plain_header(&key) {
            let secret = value.split_once(' ').map_or(value.as_str(), |(_, secret)| secret);
            found.push(secret.trim().to_owned());
        } else if PARTS.iter().any(|part| key.contains(part)) && !key.ends_with("-uri") && !key.ends_with("enabled") {
            found.push(value.clone());
        }
    }
    found.retain(|secret| secret.len() >= SHORTEST);
    // a secret may be part of another one
    found.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    found
}

/// Headers whose values are words that messages need.
fn is_plain_header(key: &str) -> bool {
    key == "header.x-iceberg-access-delegation" || key == "header.accept" || key == "header.user-agent"
}

/// A duration of ISO 8601 in weeks, days, hours, minutes and seconds, such as `PT30M`.
fn duration(text: &str) -> Option<Duration> {
    let (mut seconds, mut number, mut in_time) = (0_u64, String::new(), false);
    for c in text.trim().strip_prefix('P')?.chars() {
        let unit: u64 = match (c, in_time) {
            ('T', false) if number.is_empty() => {
                in_time = true;
                continue;
            }
            ('W', false) => 604_800,
            ('D', false) => 86_400,
            ('H', true) => 3600,
            ('M', true) => 60,
            ('S', true) => 1,
            _ => {
                number.push(c);
                continue;
            }
        };
        seconds = seconds.checked_add(number.parse::<u64>().ok()?.checked_mul(unit)?)?;
        number.clear();
    }
    (number.is_empty() && seconds > 0).then(|| Duration::from_secs(seconds))
}

/// Whether an answer has this status.
pub(super) fn has_status(failure: &Failure, statuses: &[u16]) -> bool {
    failure.status.is_some_and(|status: StatusCode| statuses.contains(&status.as_u16()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    fn client(properties: &[(&str, &str)]) -> Result<Client> {
        let properties = properties.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        Client::new(Address::parse("http://localhost:1", "c").unwrap(), &properties)
    }

    #[test]
    fn secrets_are_taken_out_and_are_not_in_debug() {
        let client = client(&[
            ("credential", "id:opensesame"),
            ("header.Authorization", "Basic c2VzYW1l"),
            ("header.x-api-key", "k3y-of-mine"),
            ("s3.secret-access-key", "wJalr"),
            ("header.X-Iceberg-Access-Delegation", "vended-credentials"),
        ])
        .unwrap();
        let said = "id opensesame, c2VzYW1l, k3y-of-mine, wJalr, vended-credentials";
        assert_eq!(client.scrub(said), "id ******, ******, ******, ******, vended-credentials");
        assert!(!format!("{client:?}").contains("sesame"));
    }

    #[test]
    fn wrong_options_are_refused() {
        for (key, value) in [
            ("header.bad name", "x"),
            ("header.x", "a\nb"),
            ("rest.client.max-retries", "many"),
            ("rest.client.socket-timeout-ms", "-1"),
            ("oauth2-server-uri", "http://u:p@h/"),
            ("token-expires-in-ms", "soon"),
            ("rest.auth.type", "basic"),
        ] {
            let error = client(&[(key, value), ("credential", "a:b")]).unwrap_err();
            assert!(matches!(error.code, "invalid-option" | "missing-option"), "{key}: {error:?}");
        }
        assert_eq!(client(&[("rest.auth.type", "google")]).unwrap_err().code, "not-supported");
        assert_eq!(client(&[("rest.auth.type", "kerberos")]).unwrap_err().code, "invalid-option");
    }

    #[test]
    fn durations() {
        for (text, seconds) in [("PT30M", 1800), ("PT24H", 86_400), ("P1DT1H1M1S", 90_061), ("P2W", 1_209_600)] {
            assert_eq!(duration(text), Some(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "P", "PT", "30M", "PT30", "PTxM", "PT-1M", "PT0S", "P1Y", "P99999999999999999999D"] {
            assert_eq!(duration(text), None, "{text}");
        }
        let keys = |lifetime| client(&[]).unwrap().with_keys(lifetime).keys;
        assert!(keys(Some("PT30M")) && !keys(Some("PT1M")) && !keys(Some("soon")) && !keys(None));
    }
}

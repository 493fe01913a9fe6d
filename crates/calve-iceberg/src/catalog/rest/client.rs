//! Requests to a REST catalog: what goes into each of them, how long an answer may take, and which are sent again.

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

use super::address::Address;
use super::auth::Auth;
use super::failure::{Failure, Kind};
use crate::io::{aws, http};

/// What is asked of the server.
pub(super) struct Call {
    pub(super) method: Method,
    /// Below the catalog's address, its parts encoded.
    pub(super) path: String,
    pub(super) query: Vec<(&'static str, String)>,
    body: Option<Bytes>,
    /// Whether it does the same when it is done twice.
    idempotent: bool,
    /// The token of one table.
    token: Option<String>,
    /// Headers of this call alone.
    headers: HeaderMap,
}

impl Call {
    pub(super) fn of(method: Method, path: impl Into<String>) -> Self {
        let idempotent = matches!(method, Method::GET | Method::HEAD);
        let (query, headers) = (Vec::new(), HeaderMap::new());
        Self { method, path: path.into(), query, body: None, idempotent, token: None, headers }
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

/// How long is waited, and how often something is sent again.
#[derive(Clone, Copy, Debug)]
struct Patience {
    /// For an answer to begin, and to go on.
    silence: Duration,
    /// For all of an answer.
    whole: Duration,
    /// `rest.client.max-retries`.
    retries: u32,
}

/// A whole answer takes no longer than this, unless `rest.client.socket-timeout-ms` is more.
const WHOLE: Duration = Duration::from_secs(300);
/// A server that asks for a longer pause than this gets none: the statement fails and says so.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// The pauses before all retries of one call together.
const ALL_PAUSES: Duration = Duration::from_secs(60);
/// The metadata of a table with a hundred thousand snapshots is a tenth of this.
const LARGEST_ANSWER: usize = 1 << 30;
/// Nobody reads a longer error.
const LARGEST_ERROR: usize = 1 << 16;

/// Takes secrets out of a text.
pub(super) type Scrub<'a> = &'a (dyn Fn(&str) -> String + Send + Sync);

/// The connection to a server, without who we are: what can be lost is told from what is answered.
pub(super) struct Transport {
    http: reqwest::Client,
    patience: Patience,
}

impl Transport {
    /// # Errors
    /// `invalid-option` for times and numbers that are none, and for a file of certificates that cannot be used.
    pub(super) fn new(properties: &BTreeMap<String, String>) -> Result<Self> {
        let number = |key: &str, default: u64| match properties.get(key).map(|value| value.trim()) {
            None | Some("") => Ok(default),
            Some(value) => value.parse::<u64>().map_err(|_| {
                Error::new("invalid-option", format!("invalid value '{value}' of option '{key}'"))
                    .with_hint("use a number that is not negative")
            }),
        };
        let silence = Duration::from_millis(number("rest.client.socket-timeout-ms", 60_000)?.max(1));
        let retries = u32::try_from(number("rest.client.max-retries", 5)?).unwrap_or(u32::MAX);
        let patience = Patience { silence, whole: WHOLE.max(silence), retries };
        Ok(Self { http: http::client(properties)?, patience })
    }

    /// Sends a request once and reads its answer; `scrub` takes secrets out of what the server says.
    ///
    /// # Errors
    /// Everything but an answer of success that came whole.
    pub(super) async fn send(&self, mut request: reqwest::Request, scrub: Scrub<'_>) -> Result<Bytes, Failure> {
        let Patience { silence, whole, .. } = self.patience;
        *request.timeout_mut() = Some(whole);
        let server = request.url().origin().ascii_serialization();
        let is_head = request.method() == Method::HEAD;
        let sent = tokio::time::timeout(silence, self.http.execute(request)).await;
        let mut response = match sent {
            Err(_) => return Err(Failure::silence(&server, silence)),
            Ok(Err(error)) => return Err(Failure::of_transport(&error, &server)),
            Ok(Ok(response)) => response,
        };
        let status = response.status();
        if !status.is_success() {
            let headers = response.headers().clone();
            // a body that does not come says nothing either
            let body = self.body(&mut response, &server, LARGEST_ERROR, true).await.unwrap_or_default();
            return Err(Failure::of_answer(status, &headers, &body, is_head, &server, scrub));
        }
        self.body(&mut response, &server, LARGEST_ANSWER, false).await
    }

    /// The body of an answer: all of it, or its first part where `cut`.
    async fn body(
        &self,
        response: &mut reqwest::Response,
        server: &str,
        limit: usize,
        cut: bool,
    ) -> Result<Bytes, Failure> {
        let silence = self.patience.silence;
        let too_large = || Failure::unusable(server, format!("it is larger than {} MiB", limit >> 20));
        if !cut && response.content_length().is_some_and(|length| length > limit as u64) {
            return Err(too_large());
        }
        let mut body = Vec::new();
        loop {
            let chunk = match tokio::time::timeout(silence, response.chunk()).await {
                Err(_) => return Err(Failure::silence(server, silence)),
                Ok(Err(error)) => return Err(Failure::of_transport(&error, server)),
                Ok(Ok(None)) => return Ok(body.into()),
                Ok(Ok(Some(chunk))) => chunk,
            };
            body.extend_from_slice(&chunk);
            match (body.len() > limit, cut) {
                (true, true) => return Ok(body.into()),
                (true, false) => return Err(too_large()),
                (false, _) => {}
            }
        }
    }

    /// The pause before try number `tries` + 1 of a call; `None` if there is none to be.
    fn pause(&self, failure: &Failure, idempotent: bool, tries: u32, paused: Duration) -> Option<Duration> {
        let may_again = match failure.kind {
            Kind::Unavailable => true,
            // once more: the connection may have been dead for long
            Kind::Unsure => idempotent && !failure.lasting && (!failure.timeout || tries == 1),
            _ => false,
        };
        if !may_again || tries > self.patience.retries {
            return None;
        }
        let doubled = Duration::from_millis(100).saturating_mul(1_u32.checked_shl(tries - 1).unwrap_or(u32::MAX));
        let pause = failure.retry_after.unwrap_or_else(|| doubled.min(Duration::from_secs(5)).mul_f64(spread()));
        (pause <= LONGEST_PAUSE && paused.saturating_add(pause) <= ALL_PAUSES).then_some(pause)
    }

    /// Sends a request until there is a verdict: what is idempotent, and what certainly did nothing, again.
    ///
    /// # Errors
    /// As [`Transport::send`].
    pub(super) async fn send_again(
        &self,
        request: reqwest::Request,
        idempotent: bool,
        scrub: Scrub<'_>,
    ) -> Result<Bytes, Failure> {
        let (mut tries, mut paused) = (0, Duration::ZERO);
        loop {
            tries += 1;
            let copy = request.try_clone();
            let copy = copy.ok_or_else(|| Failure::of_error(Error::internal("a request that is a stream")))?;
            let failure = match self.send(copy, scrub).await {
                Ok(body) => return Ok(body),
                Err(failure) => failure,
            };
            let Some(pause) = self.pause(&failure, idempotent, tries, paused) else { return Err(failure) };
            tracing::debug!(?failure, ?pause, "a request is sent again");
            tokio::time::sleep(pause).await;
            paused = paused.saturating_add(pause);
        }
    }
}

/// A random factor between a half and one and a half, so that clients do not come back together.
fn spread() -> f64 {
    let random = uuid::Uuid::new_v4().as_u128() as u32;
    0.5 + f64::from(random) / f64::from(u32::MAX)
}

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
                    provider: aws::credentials(properties, &["rest", "client", "s3"])?,
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
        Ok(Self { transport, address, auth, signing, headers, secrets: secrets(properties) })
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
        loop {
            let bearer = match &token {
                Some(token) => Some(token.clone()),
                None => self.auth.token(&self.transport, &scrub).await?,
            };
            let request = self.request(&url, call, bearer.as_deref()).await?;
            let failure = match self.transport.send_again(request, call.idempotent, &scrub).await {
                Ok(body) => return Ok(body),
                Err(failure) => failure,
            };
            if failure.kind != Kind::Unauthorized || renewed {
                return Err(failure);
            }
            renewed = true;
            // a table's token may have expired while the catalog's has not
            if token.take().is_none() && !self.auth.renew(bearer.as_deref(), &self.transport, &scrub).await? {
                return Err(failure);
            }
        }
    }

    async fn request(&self, url: &Url, call: &Call, bearer: Option<&str>) -> Result<reqwest::Request, Failure> {
        let mut request = reqwest::Request::new(call.method.clone(), url.clone());
        *request.headers_mut() = self.headers.clone();
        request.headers_mut().extend(call.headers.clone());
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
    fn pauses_are_bounded() {
        let patience = Patience { silence: Duration::from_secs(1), whole: WHOLE, retries: 5 };
        let transport = Transport { http: reqwest::Client::new(), patience };
        let (unavailable, unsure) = (Failure::new(Kind::Unavailable, "x"), Failure::new(Kind::Unsure, "x"));
        for tries in 1..=5 {
            assert!(transport.pause(&unavailable, false, tries, Duration::ZERO).unwrap() < Duration::from_secs(8));
        }
        assert_eq!(transport.pause(&unavailable, true, 6, Duration::ZERO), None);
        assert_eq!(transport.pause(&unsure, false, 1, Duration::ZERO), None);
        assert!(transport.pause(&unsure, true, 1, Duration::ZERO).is_some());
        let silent = Failure::silence("s", Duration::from_secs(1));
        assert!(transport.pause(&silent, true, 1, Duration::ZERO).is_some());
        assert_eq!(transport.pause(&silent, true, 2, Duration::ZERO), None);
        let mut asked = unavailable.clone();
        asked.retry_after = Some(Duration::from_secs(7));
        assert_eq!(transport.pause(&asked, false, 1, Duration::ZERO), Some(Duration::from_secs(7)));
        assert_eq!(transport.pause(&asked, false, 1, Duration::from_secs(55)), None);
        asked.retry_after = Some(Duration::from_secs(700));
        assert_eq!(transport.pause(&asked, false, 1, Duration::ZERO), None);
        for kind in [Kind::NotFound, Kind::Conflict, Kind::Unauthorized, Kind::Refused] {
            assert_eq!(transport.pause(&Failure::new(kind, "x"), true, 1, Duration::ZERO), None);
        }
    }
}

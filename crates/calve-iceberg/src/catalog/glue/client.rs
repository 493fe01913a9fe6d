//! Requests to AWS Glue: its JSON 1.1 protocol, signed. What a failed one has done is nothing, or nobody knows.

use std::collections::BTreeMap;
use std::fmt;

use calve_types::{Error, Result};
use object_store::aws::AwsCredentialProvider;
use reqwest::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Method, StatusCode, Url};
use serde_json::Value;

use crate::catalog::pointer;
use crate::io::{aws, http};

/// What the service is called in signatures.
const SERVICE: &str = "glue";
/// The media type of the protocol.
const MEDIA_TYPE: &str = "application/x-amz-json-1.1";
/// A page of tables with thousands of columns each is a tenth of this, in bytes.
const LARGEST_ANSWER: usize = 256 << 20;
/// How much of what the service says is shown, in characters.
const SHOWN: usize = 1000;
/// How often a request is sent again that certainly did nothing, or that changes nothing.
const RETRIES: u32 = 5;

/// What a failed request has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing: what it is about is not there.
    Missing,
    /// Nothing: the name is taken.
    Taken,
    /// Nothing: something else changed it at the same time.
    Busy,
    /// Nothing: it did not get there, or is one of too many.
    Unavailable,
    /// Nothing: the service takes no such name.
    Invalid,
    /// Nothing, and it would not later.
    Refused,
    /// Nobody knows.
    Lost,
}

/// A request that did not succeed.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) kind: Kind,
    pub(super) error: Error,
}

impl From<Failure> for pointer::Failure {
    fn from(failure: Failure) -> Self {
        match failure.kind {
            Kind::Taken => Self::Taken(failure.error),
            Kind::Busy => Self::Busy(failure.error),
            Kind::Lost => Self::Lost(failure.error),
            Kind::Missing | Kind::Unavailable | Kind::Invalid | Kind::Refused => Self::Refused(failure.error),
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        failure.error
    }
}

/// The Glue Data Catalog of an account and a region.
pub(super) struct Client {
    http: reqwest::Client,
    endpoint: Url,
    provider: AwsCredentialProvider,
    region: String,
    /// `glue.id`: whose data catalog it is, if not the caller's.
    catalog_id: Option<String>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // credentials are nobody's business
        let Self { endpoint, region, catalog_id, .. } = self;
        let mut shown = f.debug_struct("Client");
        shown.field("endpoint", &endpoint.origin().ascii_serialization());
        shown.field("region", region).field("catalog_id", catalog_id).finish_non_exhaustive()
    }
}

impl Client {
    /// A client from the options of a catalog. Nothing is contacted. The region is that of `client.region` and its like, or of
    /// pyiceberg's `glue.region`; `glue.endpoint` is another address than AWS's; keys are `glue.access-key-id`,
    /// `client.access-key-id` and their siblings, or those that AWS's tools find.
    ///
    /// # Errors
    /// `invalid-option` for options that are missing or wrong.
    pub(super) fn new(catalog: &str, options: &BTreeMap<String, String>) -> Result<Self> {
        let given = |key: &str| options.get(key).map(|value| value.trim()).filter(|value| !value.is_empty());
        let region = given("glue.region").map(str::to_owned).or_else(|| aws::region(options)).ok_or_else(|| {
            Error::new("invalid-option", format!("no region of AWS is known for catalog '{catalog}'"))
                .with_hint("set 'client.region', such as 'eu-central-1', or the variable AWS_REGION")
        })?;
        aws::check_region(&region)?;
        let endpoint = match given("glue.endpoint") {
            Some(endpoint) => endpoint_of(endpoint)?,
            None => {
                let domain = if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" };
                endpoint_of(&format!("https://glue.{region}.{domain}"))?
            }
        };
        let mut times = options.clone();
        // the time limits of Iceberg's AWS clients
        for (from, to) in [
            ("http-client.apache.connection-timeout-ms", "rest.client.connection-timeout-ms"),
            ("http-client.apache.socket-timeout-ms", "rest.client.socket-timeout-ms"),
        ] {
            if let Some(value) = given(from) {
                times.insert(to.to_owned(), value.to_owned());
            }
        }
        Ok(Self {
            http: http::client(&times)?,
            endpoint,
            provider: aws::credentials(options, &["glue", "client"])?,
            region,
            catalog_id: given("glue.id").map(str::to_owned),
        })
    }

    /// The service's host, for messages.
    pub(super) fn host(&self) -> String {
        self.endpoint.origin().ascii_serialization()
    }

    /// Asks for something that changes nothing. `what` is an infinitive with its object, such as `load table 'db.t'`.
    ///
    /// # Errors
    /// Everything but an answer of success.
    pub(super) async fn ask(&self, action: &str, request: Value, what: &str) -> Result<Value, Failure> {
        self.call(action, request, what, true).await
    }

    /// Asks for a change, once unless it certainly did nothing.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub(super) async fn change(&self, action: &str, request: Value, what: &str) -> Result<Value, Failure> {
        self.call(action, request, what, false).await
    }

    async fn call(&self, action: &str, mut body: Value, what: &str, idempotent: bool) -> Result<Value, Failure> {
        if let (Some(id), Value::Object(fields)) = (&self.catalog_id, &mut body) {
            fields.insert("CatalogId".to_owned(), Value::from(id.as_str()));
        }
        let mut tries = 0;
        loop {
            let failure = match self.send(action, &body, what).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            let again = failure.kind == Kind::Unavailable || (idempotent && failure.kind == Kind::Lost && tries < 2);
            if !again || tries >= RETRIES {
                return Err(failure);
            }
            tracing::debug!(error = %failure.error, action, "a request is sent again");
            tokio::time::sleep(http::pause(tries)).await;
            tries += 1;
        }
    }

    /// Sends a request once.
    async fn send(&self, action: &str, body: &Value, what: &str) -> Result<Value, Failure> {
        let refused = |error: Error| Failure { kind: Kind::Refused, error };
        let bytes =
            serde_json::to_vec(body).map_err(|e| refused(Error::internal(format!("a request is no JSON: {e}"))))?;
        let target = HeaderValue::from_str(&format!("AWSGlue.{action}"))
            .map_err(|_| refused(Error::internal(format!("'{action}' is no action"))))?;
        let mut request = reqwest::Request::new(Method::POST, self.endpoint.clone());
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
        request.headers_mut().insert(HeaderName::from_static("x-amz-target"), target);
        *request.body_mut() = Some(bytes.into());
        let signed = aws::sign(&mut request, &self.provider, SERVICE, &self.region).await;
        signed
            .map_err(|error| refused(if error.message.contains(NOBODY) { error.with_hint(NO_KEYS) } else { error }))?;

        let host = self.host();
        let mut response = self.http.execute(request).await.map_err(|error| lost(error, &host, what))?;
        let (status, named) = (response.status(), error_type(response.headers().get("x-amzn-errortype")));
        let mut answer = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) if answer.len() + chunk.len() > LARGEST_ANSWER => {
                    let why =
                        format!("cannot {what}: the answer of '{host}' is larger than {} MiB", LARGEST_ANSWER >> 20);
                    return Err(Failure { kind: Kind::Lost, error: Error::new("io", why) });
                }
                Ok(Some(chunk)) => answer.extend_from_slice(&chunk),
                Ok(None) => break,
                Err(error) => return Err(lost(error, &host, what)),
            }
        }
        let parsed: Option<Value> = serde_json::from_slice(&answer).ok();
        match parsed {
            _ if !status.is_success() => Err(refusal(status, named, parsed.as_ref(), &host, what)),
            Some(answer @ Value::Object(_)) => Ok(answer),
            _ if answer.is_empty() => Ok(Value::Object(serde_json::Map::new())),
            // what was asked for may have happened
            _ => Err(Failure {
                kind: Kind::Lost,
                error: Error::new("io", format!("cannot {what}: the answer of '{host}' is not one of AWS Glue"))
                    .with_hint(ENDPOINT),
            }),
        }
    }
}

/// What is said where AWS's tools find no credentials.
const NOBODY: &str = "no credentials of AWS were found";
const NO_KEYS: &str = "set the variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile in ~/.aws/credentials, or \
                       the options 'client.access-key-id' and 'client.secret-access-key' (those of 's3.' are for files alone)";
const ENDPOINT: &str = "is 'glue.endpoint' the address of AWS Glue, or of a service that speaks like it?";
const SILENT: &str = "'http-client.apache.socket-timeout-ms' sets how long an answer may take";
const BROKEN: &str = "look whether the network lets the connection be";
const FORBIDDEN: &str = "ask the owner of the data catalog for the permission; Lake Formation may have to grant it too";

/// The URL of an endpoint.
fn endpoint_of(endpoint: &str) -> Result<Url> {
    let wrong = |why: &str| {
        // it may hold a credential
        Error::new("invalid-option", format!("the value of option 'glue.endpoint' {why}"))
            .with_hint("use an address such as 'https://glue.eu-central-1.amazonaws.com'")
    };
    let url = Url::parse(endpoint).map_err(|_| wrong("is not a URL"))?;
    match url.scheme() {
        "http" | "https" if !url.username().is_empty() || url.password().is_some() => Err(wrong("holds a password")),
        "http" | "https" if url.query().is_some() || url.fragment().is_some() => Err(wrong("has a query")),
        "http" | "https" => Ok(url),
        _ => Err(wrong("is not one of 'http' or 'https'")),
    }
}

/// A request without an answer.
fn lost(error: reqwest::Error, host: &str, what: &str) -> Failure {
    let (connecting, timeout, unsent) = (error.is_connect(), error.is_timeout(), error.is_builder());
    let cause = http::without_url(error);
    let named = format!("'{host}'");
    let (kind, (why, hint)) = match (connecting, timeout) {
        (true, _) => match http::tls_problem(&named, &cause) {
            Some(problem) => (Kind::Refused, problem),
            None => (Kind::Unavailable, (format!("{named} cannot be reached: {cause}"), ENDPOINT)),
        },
        (false, true) => (Kind::Lost, (format!("{named} did not answer in time"), SILENT)),
        (false, false) => {
            let kind = if unsent { Kind::Refused } else { Kind::Lost };
            (kind, (format!("the connection to {named} was lost: {cause}"), BROKEN))
        }
    };
    Failure { kind, error: Error::new("io", format!("cannot {what}: {why}")).with_hint(hint) }
}

/// The exception that an answer names: `Name`, `com.amazonaws.glue#Name`, `Name:http://..`.
fn error_type(header: Option<&HeaderValue>) -> Option<String> {
    header.and_then(|value| value.to_str().ok()).map(exception)
}

fn exception(named: &str) -> String {
    let name = named.rsplit('#').next().unwrap_or(named);
    name.split(':').next().unwrap_or(name).to_owned()
}

/// An answer that is not of success. The exceptions are those of the API's reference, and those that all of AWS has.
fn refusal(status: StatusCode, named: Option<String>, body: Option<&Value>, host: &str, what: &str) -> Failure {
    let text = |key: &str| body.and_then(|body| body.get(key)).and_then(Value::as_str);
    let name = named.or_else(|| text("__type").map(exception)).unwrap_or_default();
    let (kind, code, hint) = match name.as_str() {
        "EntityNotFoundException" => (Kind::Missing, "catalog-error", None),
        "AlreadyExistsException" => (Kind::Taken, "catalog-error", None),
        "ConcurrentModificationException" => (Kind::Busy, "commit-conflict", None),
        "ResourceNotReadyException" => (Kind::Busy, "catalog-error", None),
        "ThrottlingException"
        | "Throttling"
        | "ThrottledException"
        | "RequestThrottledException"
        | "TooManyRequestsException"
        | "RequestLimitExceeded"
        | "SlowDown" => (Kind::Unavailable, "io", None),
        "InvalidInputException" | "ValidationException" => (Kind::Invalid, "catalog-error", None),
        "AccessDeniedException" => (Kind::Refused, "access-denied", Some(FORBIDDEN)),
        "UnrecognizedClientException"
        | "InvalidSignatureException"
        | "SignatureDoesNotMatch"
        | "ExpiredTokenException"
        | "ExpiredToken"
        | "InvalidClientTokenId"
        | "MissingAuthenticationTokenException"
        | "MissingAuthenticationToken"
        | "IncompleteSignatureException" => (Kind::Refused, "access-denied", Some(NO_KEYS)),
        "OperationTimeoutException" | "InternalServiceException" | "InternalFailure" => (Kind::Lost, "io", None),
        _ => match status.as_u16() {
            429 => (Kind::Unavailable, "io", None),
            401 | 403 => (Kind::Refused, "access-denied", Some(FORBIDDEN)),
            408 | 500.. => (Kind::Lost, "io", None),
            _ if name.is_empty() => (Kind::Refused, "catalog-error", Some(ENDPOINT)),
            _ => (Kind::Refused, "catalog-error", None),
        },
    };
    let reason = status.canonical_reason().map(|reason| format!(" {reason}")).unwrap_or_default();
    let mut error = Error::new(code, format!("cannot {what}: '{host}' answered {}{reason}", status.as_u16()));
    let said = text("Message").or_else(|| text("message")).map(shown).filter(|said| !said.is_empty());
    error = match (name.is_empty(), said) {
        (true, None) => error,
        (false, None) => error.with_detail(format!("AWS Glue says: {name}.")),
        (true, Some(said)) => error.with_detail(format!("AWS Glue says: {said}")),
        (false, Some(said)) => error.with_detail(format!("AWS Glue says: {name}: {said}")),
    };
    Failure { kind, error: if let Some(hint) = hint { error.with_hint(hint) } else { error } }
}

/// The first line of what is said: the others of a refused signature repeat the request, its session token too.
fn shown(said: &str) -> String {
    let mut line: String = said.lines().next().unwrap_or_default().trim().to_owned();
    line.retain(|c| !c.is_control());
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}..", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use serde_json::json;

    use super::*;

    fn client(options: &[(&str, &str)]) -> Result<Client> {
        Client::new("c", &options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect())
    }

    #[test]
    fn endpoints_and_options() {
        let keys = [("client.access-key-id", "AKID"), ("client.secret-access-key", "wJalrXUtnFEMI")];
        let with = |more: (&'static str, &'static str)| client(&[keys[0], keys[1], more]);
        let chinese = with(("client.region", "cn-north-1")).unwrap();
        assert_eq!(chinese.host(), "https://glue.cn-north-1.amazonaws.com.cn");
        assert_eq!(with(("glue.region", "eu-west-1")).unwrap().host(), "https://glue.eu-west-1.amazonaws.com");
        assert!(!format!("{chinese:?}").contains("wJalr"));
        for endpoint in ["glue", "ftp://h", "http://u:p@h", "http://h/?x=1"] {
            let wrong = client(&[keys[0], keys[1], ("client.region", "eu-west-1"), ("glue.endpoint", endpoint)]);
            assert_eq!(wrong.unwrap_err().code, "invalid-option", "{endpoint}");
        }
        assert_eq!(with(("client.region", "eu west")).unwrap_err().code, "invalid-option");
        assert_eq!(
            client(&[keys[0], ("client.region", "eu-west-1")]).unwrap_err().message,
            "option 'client.access-key-id' is set, and 'client.secret-access-key' is not"
        );
    }

    #[test]
    fn what_answers_mean() {
        let of = |status: u16, name: &str| {
            let body = json!({ "__type": name, "Message": "because\nx-amz-security-token:hush" });
            refusal(StatusCode::from_u16(status).unwrap(), None, Some(&body), "https://h", "load table 'db.t'")
        };
        for (status, name, kind, code) in [
            (400, "com.amazonaws.glue#EntityNotFoundException", Kind::Missing, "catalog-error"),
            (400, "AlreadyExistsException", Kind::Taken, "catalog-error"),
            (400, "ConcurrentModificationException:http://x", Kind::Busy, "commit-conflict"),
            (400, "ThrottlingException", Kind::Unavailable, "io"),
            (400, "InvalidInputException", Kind::Invalid, "catalog-error"),
            (400, "AccessDeniedException", Kind::Refused, "access-denied"),
            (403, "InvalidSignatureException", Kind::Refused, "access-denied"),
            (400, "OperationTimeoutException", Kind::Lost, "io"),
            (500, "InternalServiceException", Kind::Lost, "io"),
            (503, "ServiceUnavailable", Kind::Lost, "io"),
            (502, "", Kind::Lost, "io"),
            (404, "", Kind::Refused, "catalog-error"),
            (400, "GlueEncryptionException", Kind::Refused, "catalog-error"),
        ] {
            let failure = of(status, name);
            assert_eq!((failure.kind, failure.error.code), (kind, code), "{status} {name}");
            assert!(!format!("{:?}", failure.error).contains("hush"));
        }
        let error = of(400, "AccessDeniedException").error;
        assert_eq!(error.message, "cannot load table 'db.t': 'https://h' answered 400 Bad Request");
        assert_eq!(error.detail.unwrap(), "AWS Glue says: AccessDeniedException: because");
    }
}

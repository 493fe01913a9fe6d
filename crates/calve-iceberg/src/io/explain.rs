//! What object stores answer, in words a person can use, and without what must stay secret.
//!
//! A store's own text is never shown whole: addresses may hold a signature, and a rejected request may be quoted with its
//! headers. What is shown is the host, the status, and the code and the sentence of the server's answer.

use std::error::Error as StdError;

use calve_types::Error;
use object_store::client::{HttpError, HttpErrorKind};
use reqwest::StatusCode;

use super::http::tls_problem;

/// One of our errors on its way through object_store.
pub(super) fn foreign(error: Error) -> object_store::Error {
    object_store::Error::Generic { store: "storage", source: Box::new(error) }
}

/// Why a store failed.
pub(crate) struct Failure {
    /// The code of [`Error`].
    pub(crate) code: &'static str,
    /// What happened: a clause without a full stop.
    pub(crate) reason: String,
    /// The server's own sentence.
    pub(crate) detail: Option<String>,
    /// The way out.
    pub(crate) hint: Option<String>,
}

impl Failure {
    fn new(code: &'static str, reason: impl Into<String>) -> Self {
        Self { code, reason: reason.into(), detail: None, hint: None }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// `cannot <what>: <reason>`.
    pub(crate) fn error(self, what: impl std::fmt::Display) -> Error {
        let Self { code, reason, detail, hint } = self;
        Error { detail, hint, ..Error::new(code, format!("cannot {what}: {reason}")) }
    }
}

/// The error and its causes.
fn chain<'a>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    let causes: fn(&&'a (dyn StdError + 'static)) -> Option<&'a (dyn StdError + 'static)> = |error| (*error).source();
    std::iter::successors(Some(error), causes)
}

fn cause<E: StdError + 'static>(error: &object_store::Error) -> Option<&E> {
    chain(error).find_map(|cause| cause.downcast_ref::<E>())
}

/// Explains an error that a store's may have caused; `None` if none has.
pub(crate) fn explain_cause(error: &(dyn StdError + 'static)) -> Option<Failure> {
    if let Some(cause) = chain(error).find_map(|cause| cause.downcast_ref::<object_store::Error>()) {
        return Some(explain(cause));
    }
    // some libraries keep only the words
    let text = error.to_string();
    answer(&text)
        .filter(|_| text.contains(PERFORMING))
        .map(|(status, body)| explain_answer(&Asked::of(&text), status, body))
}

/// What object_store says before the method and the address of a request.
const PERFORMING: &str = "Error performing ";

/// What object_store says about an answer that only says where else to ask.
const REDIRECT: &str = "Received redirect without LOCATION";

/// Explains the error of a store.
pub(crate) fn explain(error: &object_store::Error) -> Failure {
    if let Some(ours) = cause::<Error>(error) {
        let Error { code, message, detail, hint, .. } = ours.clone();
        return Failure { code, reason: message, detail, hint };
    }
    let text = error.to_string();
    let asked = Asked::of(&text);
    if let Some((status, body)) = answer(&text) {
        return explain_answer(&asked, status, body);
    }
    let host = asked.host;
    if let Some(http) = cause::<HttpError>(error) {
        return explain_connection(&host, http);
    }
    if text.contains(REDIRECT) {
        return Failure::new("io", format!("{host} sends us elsewhere: the bucket lies in another region"))
            .hint("set 'client.region' to the region of the bucket");
    }
    match error {
        object_store::Error::NotImplemented { .. } | object_store::Error::NotSupported { .. } => {
            Failure::new("not-supported", "the store cannot do it")
                .hint("use another store, or another kind of catalog")
        }
        _ => Failure::new("io", without_addresses(&text)),
    }
}

/// Whether what failed was certainly not done, so that it may be done again or undone.
pub(super) fn is_definite(error: &object_store::Error) -> bool {
    if cause::<Error>(error).is_some() {
        return true; // stopped before anything was sent
    }
    let text = error.to_string();
    match answer(&text) {
        // 408: the server stopped waiting, and says nothing about what it had
        Some((status, _)) => (300..500).contains(&status.code) && status.code != 408 || status.code == 501,
        None if text.contains(REDIRECT) => true,
        None => match cause::<HttpError>(error) {
            Some(http) => http.kind() == HttpErrorKind::Connect && !text.contains(" retries, max_retries"),
            None => matches!(
                error,
                object_store::Error::NotImplemented { .. }
                    | object_store::Error::NotSupported { .. }
                    | object_store::Error::NotFound { .. }
                    | object_store::Error::PermissionDenied { .. }
                    | object_store::Error::InvalidPath { .. }
            ),
        },
    }
}

/// Whether the request never left: it may be sent again.
pub(super) fn is_unsent(error: &object_store::Error) -> bool {
    cause::<HttpError>(error).is_some_and(|http| http.kind() == HttpErrorKind::Connect) && is_definite(error)
}

/// Whether a request that was sent with retries, as far as need be, certainly did nothing: it was refused the first time.
pub(super) fn is_refused(error: &object_store::Error) -> bool {
    is_definite(error) && !error.to_string().contains(" retries, max_retries")
}

/// Whether the store says that it cannot do such a request at all.
pub(super) fn is_unknown_request(error: &object_store::Error) -> bool {
    matches!(error, object_store::Error::NotImplemented { .. } | object_store::Error::NotSupported { .. })
        || answer(&error.to_string()).is_some_and(|(status, _)| status.code == 501)
}

struct Status<'a> {
    code: u16,
    /// `403 Forbidden`.
    line: &'a str,
}

/// The status and the body of an answer, from the text of object_store's private `RequestError`.
fn answer(text: &str) -> Option<(Status<'_>, &str)> {
    const STATUS: &str = "non-2xx status code: ";
    if let Some(at) = text.find(STATUS) {
        let rest = text.get(at + STATUS.len()..)?;
        let (line, body) = rest.split_once(':').unwrap_or((rest, ""));
        return Some((Status { code: line.get(..3)?.parse().ok()?, line: line.trim() }, body.trim()));
    }
    let (_, body) = text.split_once("Server returned error response: ")?;
    Some((Status { code: 500, line: "200 OK, with an error in it" }, body))
}

/// What was asked of a store, as far as the text of an error tells.
struct Asked {
    /// The scheme, host and port of the address, in quotes; `the store` if it is not said.
    host: String,
    /// Whether something was to be written.
    write: bool,
    /// The ending of the path, in lower case.
    ending: String,
}

impl Asked {
    /// Something was asked of a server, which is no store of files.
    fn server(address: &str) -> Self {
        Self { host: format!("'{address}'"), write: false, ending: String::new() }
    }

    fn of(text: &str) -> Self {
        // before the words of a request may stand what it is for: "Error performing list request: "
        let performing = text.match_indices(PERFORMING);
        let mut performing = performing.filter_map(|(at, _)| text.get(at + PERFORMING.len()..)?.split_once(' '));
        let is_request = |(method, _): &(&str, &str)| method.bytes().all(|b| b.is_ascii_uppercase());
        let (method, rest) = performing.find(is_request).unwrap_or_default();
        let address = rest.split(' ').next().unwrap_or_default();
        let mut asked =
            Self { host: "the store".to_owned(), write: matches!(method, "PUT" | "POST"), ending: String::new() };
        if let Some((scheme, rest)) = address.split_once("://") {
            let rest = rest.split(['?', '#']).next().unwrap_or_default();
            let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
            asked.host = format!("'{scheme}://{authority}'");
            let name = path.rsplit('/').next().unwrap_or_default();
            asked.ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
        }
        asked
    }
}

fn explain_connection(host: &str, http: &HttpError) -> Failure {
    let root = chain(http).last().map(ToString::to_string).unwrap_or_default();
    let root = without_addresses(&root);
    match http.kind() {
        HttpErrorKind::Timeout => Failure::new("io", format!("{host} did not answer in time"))
            .hint("look whether the address is right and the server alive; 'http-client.apache.socket-timeout-ms' is the limit"),
        HttpErrorKind::Connect => match tls_problem(host, &root) {
            Some((why, hint)) => Failure::new("io", why).hint(hint),
            None => Failure::new("io", format!("no connection to {host}: {root}"))
                .hint("look whether the address is right and the server runs"),
        },
        _ => Failure::new("io", format!("the connection to {host} broke: {root}")),
    }
}

/// What the answer of a service says that is no store: an address, a status and a body.
pub(super) fn explain_reply(address: &str, status: StatusCode, body: &str) -> Failure {
    let line = status.to_string();
    explain_answer(&Asked::server(address), Status { code: status.as_u16(), line: &line }, body)
}

/// What an answer of this status says.
fn explain_answer(asked: &Asked, status: Status<'_>, body: &str) -> Failure {
    let host = &asked.host;
    let (code, sentence) = (element(body, "Code"), element(body, "Message"));
    let (code, sentence) = match code {
        Some(code) => (code, sentence),
        None => json(body),
    };
    let detail = sentence.map(|s| if s.ends_with('.') { s } else { format!("{s}.") });
    let reply = if code.is_empty() { status.line.to_owned() } else { format!("{}, {code}", status.line) };
    let keys = "look at the keys: 's3.access-key-id' and 's3.secret-access-key', the AWS_* variables, or the profile";
    let region = "set 'client.region' to the region of the bucket";
    let failure = match (status.code, code.as_str()) {
        (_, "ExpiredToken" | "ExpiredTokenException" | "RequestExpired") => {
            Failure::new("access-denied", format!("the credentials for {host} have expired ({reply})"))
                .hint("get new ones, or let the catalog vend them")
        }
        (_, "RequestTimeTooSkewed") => {
            Failure::new("io", format!("the clock of this machine and that of {host} differ ({reply})"))
                .hint("set the clock")
        }
        (_, "PermanentRedirect" | "AuthorizationHeaderMalformed" | "IllegalLocationConstraintException")
        | (301 | 307, _) => {
            Failure::new("io", format!("{host} says that the bucket lies in another region ({reply})")).hint(region)
        }
        (_, "NoSuchBucket" | "ContainerNotFound") => {
            Failure::new("io", format!("there is no such bucket at {host} ({reply})"))
                .hint("create it, or correct the location; or the endpoint is another's")
        }
        (_, "InvalidAccessKeyId" | "InvalidClientTokenId" | "SignatureDoesNotMatch" | "InvalidToken" | "AuthenticationFailed") => {
            Failure::new("access-denied", format!("{host} does not take the credentials ({reply})")).hint(keys)
        }
        (401, _) => Failure::new("access-denied", format!("{host} wants other credentials ({reply})")).hint(keys),
        (403, _) if asked.write && asked.ending == "puffin" => {
            Failure::new("access-denied", format!("{host} does not take this puffin file ({reply})")).hint(
                "format version 3 keeps deletion vectors in puffin files, and some servers refuse these: table buckets of \
                 SeaweedFS take parquet, avro and orc alone. Make the table with 'format-version' = '2', or in a catalog whose \
                 tables lie in a plain bucket. Where other files are refused too, the credentials lack the right",
            )
        }
        (403, _) => Failure::new("access-denied", format!("{host} does not allow it ({reply})"))
            .hint("the credentials lack the right, or are wrong: look at the bucket's policy and at the keys"),
        // answers to HEAD have no body that says which
        (400, "") if host.contains(".amazonaws.com") => Failure::new("io", format!("{host} answers {reply}"))
            .hint(format!("the region or the credentials may be wrong: {region}, and {keys}")),
        (404, _) => Failure::new("io", format!("{host} has no such file or bucket ({reply})")),
        (501, _) => Failure::new("not-supported", format!("{host} cannot do it ({reply})"))
            .hint("use another store, or another kind of catalog"),
        (429 | 503, _) => Failure::new("io", format!("{host} has too much to do ({reply})")).hint("try again later"),
        _ => Failure::new("io", format!("{host} answers {reply}")),
    };
    Failure { detail, ..failure }
}

/// The text of an XML element of a server's answer, its first line, bounded.
fn element(body: &str, name: &str) -> Option<String> {
    let (_, rest) = body.split_once(&format!("<{name}>"))?;
    let (text, _) = rest.split_once(&format!("</{name}>"))?;
    Some(sentence(text))
}

/// The code and the sentence of `{"error": {"code": .., "message": ..}}` and its variants.
fn json(body: &str) -> (String, Option<String>) {
    let Ok(value) = serde_json::from_str::<serde_json::Value>(body) else { return (String::new(), None) };
    let error = value.get("error").unwrap_or(&value);
    let text = |key: &str| error.get(key).and_then(|v| v.as_str()).map(sentence);
    (text("code").or_else(|| text("status")).unwrap_or_default(), text("message"))
}

fn sentence(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default().trim();
    let line = line.replace("&quot;", "\"").replace("&apos;", "'").replace("&lt;", "<").replace("&gt;", ">");
    without_addresses(&line.replace("&amp;", "&").chars().take(300).collect::<String>())
}

/// The text without the queries of addresses: they may be signatures.
fn without_addresses(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, address) = rest.split_at(at);
        let end = address.find(|c: char| c.is_whitespace() || matches!(c, '"' | ')' | ',')).unwrap_or(address.len());
        let (address, after) = address.split_at(end);
        kept.push_str(before);
        kept.push_str(address.split(['?', '#']).next().unwrap_or(address));
        rest = after;
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    fn of(text: &str) -> Failure {
        explain(&object_store::Error::Generic { store: "S3", source: text.into() })
    }

    #[test]
    fn the_servers_code_and_sentence_are_shown_and_nothing_else() {
        let text = "Error performing PUT http://127.0.0.1:9000/b/k?X-Amz-Security-Token=SECRET in 3ms - Server returned \
                    non-2xx status code: 403 Forbidden: <?xml version=\"1.0\"?><Error><Code>SignatureDoesNotMatch</Code>\
                    <Message>The request signature does not match</Message><StringToSign>SECRET</StringToSign>\
                    <CanonicalRequest>x-amz-security-token:SECRET</CanonicalRequest></Error>";
        let error = of(text).error("write the file 's3://b/k'");
        assert_eq!(error.code, "access-denied");
        assert_eq!(
            error.message,
            "cannot write the file 's3://b/k': 'http://127.0.0.1:9000' does not take the credentials \
             (403 Forbidden, SignatureDoesNotMatch)"
        );
        assert_eq!(error.detail.as_deref(), Some("The request signature does not match."));
        assert!(!format!("{error:?}").contains("SECRET"));
    }

    #[test]
    fn every_common_failure_has_its_sentence() {
        let answer = |status: &str, code: &str| {
            of(&format!(
                "Error performing GET https://h/b in 1s - Server returned non-2xx status code: {status}: <Error><Code>{code}</Code></Error>"
            ))
        };
        for (status, code, expected, words) in [
            ("400 Bad Request", "ExpiredToken", "access-denied", "have expired"),
            ("403 Forbidden", "AccessDenied", "access-denied", "does not allow it"),
            ("404 Not Found", "NoSuchBucket", "io", "no such bucket"),
            ("301 Moved Permanently", "PermanentRedirect", "io", "another region"),
            ("400 Bad Request", "AuthorizationHeaderMalformed", "io", "another region"),
            ("501 Not Implemented", "NotImplemented", "not-supported", "cannot do it"),
            ("503 Service Unavailable", "SlowDown", "io", "too much to do"),
            ("418 I'm a teapot", "Tea", "io", "answers 418 I'm a teapot, Tea"),
        ] {
            let failure = answer(status, code);
            assert_eq!(failure.code, expected, "{code}");
            assert!(failure.reason.contains(words), "{}", failure.reason);
        }
        let json = of(
            "Error performing GET https://h/b in 1s - Server returned non-2xx status code: 401 Unauthorized: \
                       {\"error\": {\"code\": 401, \"message\": \"Invalid Credentials\", \"status\": \"UNAUTHENTICATED\"}}",
        );
        assert_eq!(json.reason, "'https://h' wants other credentials (401 Unauthorized, UNAUTHENTICATED)");
        assert_eq!(json.detail.as_deref(), Some("Invalid Credentials."));
    }

    #[test]
    fn puffin_files_that_are_refused_are_told_of() {
        let refused = |method: &str, name: &str| {
            let reply = "403 Forbidden: <Error><Code>AccessDenied</Code><Message>Access Denied.</Message></Error>";
            of(&format!(
                "Error performing {method} http://h:1/b/t/data/{name} in 1s - Server returned non-2xx status code: {reply}"
            ))
            .error(format!("write the file 's3://b/t/data/{name}'"))
        };
        let error = refused("PUT", "x.puffin?uploadId=1");
        assert_eq!(error.code, "access-denied");
        assert!(
            error.message.ends_with("'http://h:1' does not take this puffin file (403 Forbidden, AccessDenied)"),
            "{error}"
        );
        let hint = error.hint.unwrap();
        assert!(hint.contains("'format-version' = '2'") && hint.contains("a plain bucket"), "{hint}");
        for (method, name) in [("GET", "x.puffin"), ("PUT", "x.parquet"), ("PUT", "puffin")] {
            assert!(refused(method, name).message.contains("does not allow it"), "{method} {name}");
        }
    }

    #[test]
    fn listings_name_the_store_too() {
        let text = "Error performing list request: Error performing GET http://127.0.0.1:1/b?list-type=2&prefix=w in 1ms - \
                    Server returned non-2xx status code: 403 Forbidden: ";
        assert_eq!(of(text).reason, "'http://127.0.0.1:1' does not allow it (403 Forbidden)");
    }

    #[test]
    fn what_was_refused_the_first_time_did_nothing() {
        let refused = |retries: &str, status: &str| {
            let text = format!(
                "Error performing PUT http://h/k in 1ms{retries} - Server returned non-2xx status code: {status}: "
            );
            is_refused(&object_store::Error::Generic { store: "S3", source: text.into() })
        };
        assert!(refused("", "403 Forbidden"));
        assert!(!refused("", "500 Internal Server Error"));
        assert!(!refused(", after 1 retries, max_retries: 6, retry_timeout: 100s ", "403 Forbidden"));
    }

    #[test]
    fn what_is_definite() {
        let definite = |text: &str| is_definite(&object_store::Error::Generic { store: "S3", source: text.into() });
        assert!(definite("x - Server returned non-2xx status code: 400 Bad Request: "));
        assert!(definite("x - Server returned non-2xx status code: 501 Not Implemented: "));
        assert!(!definite("x - Server returned non-2xx status code: 500 Internal Server Error: "));
        assert!(!definite("x - Server returned non-2xx status code: 408 Request Timeout: "));
        assert!(!definite("Server returned error response: <Error><Code>InternalError</Code></Error>"));
        assert!(!definite("anything"));
        assert!(is_definite(&foreign(Error::new("io", "x"))));
    }

    #[test]
    fn our_own_errors_pass_through() {
        let error = explain(&foreign(Error::new("access-denied", "no keys").with_hint("h"))).error("read 'x'");
        assert_eq!(
            (error.code, error.message.as_str(), error.hint.as_deref()),
            ("access-denied", "cannot read 'x': no keys", Some("h"))
        );
        assert_eq!(without_addresses("see https://h/p?sig=S, or http://x#S now"), "see https://h/p, or http://x now");
    }
}

//! Why a request to a REST catalog did not succeed, and what may have happened to what it asked for.

use std::time::Duration;

use calve_types::Error;
use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION, RETRY_AFTER};
use reqwest::{StatusCode, Url};
use serde_json::Value;

use crate::io::http::tls_problem;

/// What a failed request did on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing: it did not get there, or the server says so and that it may later.
    Unavailable,
    /// Nothing: what it is about is not there.
    NotFound,
    /// Nothing: something else is there, or came first.
    Conflict,
    /// Nothing: the server does not know who asks.
    Unauthorized,
    /// Nothing, and it would not later.
    Refused,
    /// Nobody knows. (Iceberg's REST specification: 500, 502 and 504 leave the state of a commit unknown.)
    Unsure,
}

/// A request that did not succeed.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) kind: Kind,
    /// The HTTP status, if there was an answer.
    pub(super) status: Option<StatusCode>,
    /// What happened, to be put behind `cannot <do something>: `.
    why: String,
    /// The server's own words, without secrets.
    said: Option<String>,
    /// The Java exception that the server names (`ErrorModel.type`).
    exception: String,
    hint: Option<&'static str>,
    /// What the server asks to wait.
    pub(super) retry_after: Option<Duration>,
    /// Whether the server was silent for as long as was waited.
    pub(super) timeout: bool,
    /// Whether the same answer would come again.
    pub(super) lasting: bool,
    /// An error that was made elsewhere, to be shown as it is.
    error: Option<Box<Error>>,
}

/// How much of a server's sentence is shown, in characters.
const SHOWN: usize = 1000;

impl Failure {
    /// Without an answer.
    pub(super) fn new(kind: Kind, why: impl Into<String>) -> Self {
        Self {
            kind,
            status: None,
            why: why.into(),
            said: None,
            exception: String::new(),
            hint: None,
            retry_after: None,
            timeout: false,
            lasting: false,
            error: None,
        }
    }

    /// No answer, or no end of it, in time.
    pub(super) fn silence(server: &str, waited: Duration) -> Self {
        let why = format!("'{server}' did not answer within {}", shown_time(waited));
        Self { timeout: true, hint: Some(SILENT), ..Self::new(Kind::Unsure, why) }
    }

    /// A request that could not be sent or whose answer broke off.
    pub(super) fn of_transport(error: &reqwest::Error, server: &str) -> Self {
        let cause = root_cause(error);
        if error.is_timeout() && !error.is_connect() {
            let why = format!("'{server}' did not answer in time");
            return Self { timeout: true, hint: Some(SILENT), ..Self::new(Kind::Unsure, why) };
        }
        if error.is_connect() {
            let (why, hint, lasting) = match tls_problem(&format!("'{server}'"), &cause) {
                Some((why, hint)) => (why, hint, true),
                None => (format!("'{server}' cannot be reached: {cause}"), UNREACHABLE, false),
            };
            return Self { hint: Some(hint), lasting, ..Self::new(Kind::Unavailable, why) };
        }
        let kind = if error.is_builder() { Kind::Refused } else { Kind::Unsure };
        Self::new(kind, format!("the connection to '{server}' was lost: {cause}"))
    }

    /// An answer that is not about success. `is_head` requests have no body; `scrub` takes secrets out of a text.
    pub(super) fn of_answer(
        status: StatusCode,
        headers: &HeaderMap,
        body: &[u8],
        is_head: bool,
        server: &str,
        scrub: impl Fn(&str) -> String,
    ) -> Self {
        let model = ErrorModel::parse(body);
        let retry_after = headers.get(RETRY_AFTER).and_then(|value| wait_of(value.to_str().ok()?));
        let of_a_catalog = model.is_some();
        let kind = match status.as_u16() {
            // a redirected commit would have to be sent again, to whom nobody said credentials are for
            300..=399 => Kind::Refused,
            401 | 419 => Kind::Unauthorized,
            // a page of another server says nothing about tables
            404 if of_a_catalog || is_head || body.is_empty() => Kind::NotFound,
            409 => Kind::Conflict,
            429 => Kind::Unavailable,
            // proxies answer so too when they lost a server that was at work
            503 if of_a_catalog || retry_after.is_some() => Kind::Unavailable,
            501 | 505 => Kind::Refused,
            408 | 500.. => Kind::Unsure,
            _ => Kind::Refused,
        };
        let reason = status.canonical_reason().map(|reason| format!(" {reason}")).unwrap_or_default();
        let mut failure = Self::new(kind, format!("'{server}' answered {}{reason}", status.as_u16()));
        failure.status = Some(status);
        failure.retry_after = retry_after;
        failure.hint = match status.as_u16() {
            300..=399 => Some(REDIRECTED),
            401 | 419 => Some(NOT_KNOWN),
            403 => Some(FORBIDDEN),
            404 if kind == Kind::Refused => Some(NO_CATALOG),
            _ => None,
        };
        match model {
            Some(model) => {
                failure.exception = model.exception;
                failure.said = Some(one_line(&scrub(&model.message))).filter(|said| !said.is_empty());
            }
            None if status.is_redirection() => {
                let target = headers.get(LOCATION).and_then(|to| Url::parse(to.to_str().ok()?).ok());
                if let Some(host) = target.as_ref().and_then(Url::host_str) {
                    failure.why = format!("{}, a redirection to host '{host}'", failure.why);
                }
            }
            None => failure.said = said_otherwise(headers, body).map(|said| one_line(&scrub(&said))),
        }
        failure
    }

    /// An answer that says success and cannot be used: what was asked for may have happened.
    pub(super) fn unusable(server: &str, why: impl std::fmt::Display) -> Self {
        let why = format!("the answer of '{server}' cannot be used: {why}");
        Self { hint: Some(NO_CATALOG), lasting: true, ..Self::new(Kind::Unsure, why) }
    }

    /// An error from elsewhere, of a request that was not sent.
    pub(super) fn of_error(error: Error) -> Self {
        Self { error: Some(Box::new(error.clone())), ..Self::new(Kind::Refused, error.message) }
    }

    /// Nobody knows what became of an earlier try, whatever the last one met.
    pub(super) fn in_doubt(self) -> Self {
        Self { kind: Kind::Unsure, ..self }
    }

    /// It happened while a token was asked for: what the token is for was not sent.
    pub(super) fn of_token(self) -> Self {
        let status = self.status.map(|status| status.as_u16());
        let (kind, hint) = match (self.kind, status) {
            (Kind::Unavailable | Kind::Unsure, _) => (Kind::Unavailable, self.hint),
            // nobody gives tokens there
            (_, Some(404 | 405)) => (Kind::Refused, Some(NO_TOKENS_THERE)),
            (_, Some(400..=499)) => (Kind::Unauthorized, Some(NO_TOKEN)),
            _ => (Kind::Refused, Some(NO_TOKEN)),
        };
        // who was not reached has not refused a token
        let answered = status.is_some() || self.lasting && self.kind != Kind::Unavailable;
        let why = match answered {
            true => format!("no token was given: {}", self.why),
            false => self.why,
        };
        Self { kind, hint, why, ..self }
    }

    /// Of a request that did not say who asks: if that may be why it was refused, the hint is to say it.
    pub(super) fn of_nobody(self) -> Self {
        match self.status.map(|status| status.as_u16()) {
            Some(401 | 403) => Self { hint: Some(NOBODY), ..self },
            _ => self,
        }
    }

    /// With another hint where the server cannot be reached or is silent.
    pub(super) fn unless_reached(self, hint: &'static str) -> Self {
        match self.hint {
            Some(UNREACHABLE | SILENT) => Self { hint: Some(hint), ..self },
            _ => self,
        }
    }

    /// Whether the server names a Java exception with this word in its name.
    pub(super) fn is(&self, word: &str) -> bool {
        self.exception.contains(word)
    }

    /// The error for a person; `what` is an infinitive with its object, such as `load table 'db.t'`.
    pub(super) fn error(self, what: impl std::fmt::Display) -> Error {
        if let Some(error) = self.error {
            return *error;
        }
        let code = match (self.kind, self.status.map(|status| status.as_u16())) {
            (Kind::Unauthorized, _) | (_, Some(403)) => "access-denied",
            (Kind::Unavailable | Kind::Unsure, _) => "io",
            (_, Some(405 | 406 | 501)) => "not-supported",
            _ => "catalog-error",
        };
        let mut error = Error::new(code, format!("cannot {what}: {}", self.why));
        if let Some(said) = self.said {
            let exception = if self.exception.is_empty() { String::new() } else { format!("{}: ", self.exception) };
            error = error.with_detail(format!("The server says: {exception}{said}"));
        }
        match (self.hint, self.retry_after) {
            (_, Some(wait)) => {
                let hint = format!("the server asks to wait {} before the next try", shown_time(wait));
                error.with_hint(hint)
            }
            (Some(hint), None) => error.with_hint(hint),
            (None, None) => error,
        }
    }
}

const SILENT: &str = "is the server up, and is nothing between here and there that swallows packets? \
                      'rest.client.socket-timeout-ms' sets how long an answer may take";
const UNREACHABLE: &str = "is the server up, and is 'uri' right?";
const REDIRECTED: &str = "set 'uri' to the address that answers itself";
const NOT_KNOWN: &str = "set 'credential' = 'id:secret' (with 'scope' and 'oauth2-server-uri' where the server needs \
                         them) or a 'token' that has not expired";
const NO_TOKEN: &str = "check 'credential', 'scope' and 'oauth2-server-uri', the address that gives tokens";
const NO_TOKENS_THERE: &str = "set 'oauth2-server-uri' to the address that gives tokens: without it, it is 'uri' and \
                               '/v1/oauth/tokens', which this server does not have";
const NOBODY: &str = "the catalog's options do not say who asks: set 'credential' = 'id:secret' (with 'scope' and \
                      'oauth2-server-uri' where the server needs them) or 'token'";
const FORBIDDEN: &str = "ask the owner of the catalog for the privilege";
const NO_CATALOG: &str = "is this the address of an Iceberg REST catalog? 'uri' is what comes before '/v1'";

/// The specification's `ErrorModel`, or the error of an OAuth2 server.
struct ErrorModel {
    message: String,
    exception: String,
}

impl ErrorModel {
    fn parse(body: &[u8]) -> Option<Self> {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        let json: Value = serde_json::from_slice(body).ok()?;
        let message = match json.get("error")? {
            Value::Object(model) => {
                return Some(Self { message: text(model.get("message")), exception: text(model.get("type")) });
            }
            Value::String(error) => error.clone(),
            _ => return None,
        };
        match json.get("error_description").and_then(Value::as_str) {
            Some(description) => Some(Self { message: format!("{message}: {description}"), exception: String::new() }),
            None => Some(Self { message, exception: String::new() }),
        }
    }
}

/// What somebody says who is no catalog.
fn said_otherwise(headers: &HeaderMap, body: &[u8]) -> Option<String> {
    if body.is_empty() {
        return None;
    }
    let media = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let text = String::from_utf8_lossy(body);
    if media.contains("html") || text.trim_start().starts_with('<') {
        // stores of files answer in XML
        let sentence = text.split_once("<Message>").and_then(|(_, rest)| rest.split_once("</Message>"));
        return Some(sentence.map_or("a page for browsers", |(sentence, _)| sentence).to_owned());
    }
    Some(text.into_owned())
}

/// A text without line breaks and control characters, cut where it gets long.
fn one_line(text: &str) -> String {
    let mut line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.retain(|c| !c.is_control());
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}..", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

/// `Retry-After`: seconds, or a date.
fn wait_of(value: &str) -> Option<Duration> {
    if let Ok(seconds) = value.trim().parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let until = chrono::DateTime::parse_from_rfc2822(value.trim()).ok()?;
    (until.to_utc() - chrono::Utc::now()).to_std().ok()
}

/// A span of time in seconds, or in milliseconds below one.
fn shown_time(time: Duration) -> String {
    if time < Duration::from_secs(1) { format!("{} ms", time.as_millis()) } else { format!("{} s", time.as_secs()) }
}

/// The innermost reason of an error; those around it repeat the URL.
fn root_cause(error: &reqwest::Error) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    one_line(&inner.to_string())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    fn failure(status: u16, headers: &[(&str, &str)], body: &str) -> Failure {
        let mut map = HeaderMap::new();
        for (key, value) in headers {
            map.insert(reqwest::header::HeaderName::from_bytes(key.as_bytes()).unwrap(), value.parse().unwrap());
        }
        let scrub = |text: &str| text.replace("hush", "******");
        Failure::of_answer(StatusCode::from_u16(status).unwrap(), &map, body.as_bytes(), false, "http://h", scrub)
    }

    #[test]
    fn kinds() {
        let model = r#"{"error":{"message":"no","type":"SomeException","code":1}}"#;
        for (status, body, kind) in [
            (302, "", Kind::Refused),
            (400, model, Kind::Refused),
            (401, "", Kind::Unauthorized),
            (403, model, Kind::Refused),
            (404, model, Kind::NotFound),
            (404, "", Kind::NotFound),
            (404, "<html>x</html>", Kind::Refused),
            (408, "", Kind::Unsure),
            (409, "", Kind::Conflict),
            (419, "", Kind::Unauthorized),
            (422, model, Kind::Refused),
            (429, "", Kind::Unavailable),
            (500, model, Kind::Unsure),
            (501, model, Kind::Refused),
            (502, "", Kind::Unsure),
            (503, model, Kind::Unavailable),
            (503, "upstream connect error or disconnect/reset before headers", Kind::Unsure),
            (504, "", Kind::Unsure),
            (507, model, Kind::Unsure),
        ] {
            assert_eq!(failure(status, &[], body).kind, kind, "{status}");
        }
        assert_eq!(failure(503, &[("retry-after", "7")], "").kind, Kind::Unavailable);
    }

    #[test]
    fn what_the_server_says_is_shown_without_secrets_and_in_one_line() {
        let said =
            failure(400, &[], "{\"error\":{\"message\":\"bad\\nhush\\u0007\",\"type\":\"BadRequestException\"}}");
        let error = said.error("load table 'db.t'");
        assert_eq!(error.message, "cannot load table 'db.t': 'http://h' answered 400 Bad Request");
        assert_eq!(error.detail.unwrap(), "The server says: BadRequestException: bad ******");
        let oauth = failure(401, &[], r#"{"error":"invalid_client","error_description":"who?"}"#).error("x");
        assert_eq!(
            (oauth.code, oauth.detail.as_deref()),
            ("access-denied", Some("The server says: invalid_client: who?"))
        );
        let page = failure(200, &[("content-type", "text/html")], "<p>secret page</p>").error("x");
        assert_eq!(page.detail.unwrap(), "The server says: a page for browsers");
        let store =
            failure(403, &[], "<?xml version=\"1.0\"?><Error><Code>x</Code><Message>Access Denied.</Message></Error>");
        assert_eq!(store.error("x").detail.unwrap(), "The server says: Access Denied.");
        let long = failure(500, &[], &format!("{{\"error\":{{\"message\":\"{}\"}}}}", "ä".repeat(5000))).error("x");
        assert!(long.detail.unwrap().chars().count() < 1100);
        let moved = failure(301, &[("location", "https://other/x?token=1")], "").error("x");
        assert!(moved.message.ends_with("a redirection to host 'other'"), "{moved}");
        let later = failure(429, &[("retry-after", "90")], "").error("x");
        assert_eq!(later.hint.unwrap(), "the server asks to wait 90 s before the next try");
    }

    #[test]
    fn tokens_that_were_not_given() {
        let of = |status, body| failure(status, &[], body).of_token().error("x");
        let refused = of(401, r#"{"error":"invalid_client"}"#);
        assert_eq!(
            (refused.code, refused.message.as_str()),
            ("access-denied", "cannot x: no token was given: 'http://h' answered 401 Unauthorized")
        );
        let nowhere = of(404, "");
        assert_eq!(nowhere.code, "catalog-error");
        assert!(nowhere.hint.unwrap().starts_with("set 'oauth2-server-uri'"));
        let silent = Failure::silence("http://h", Duration::from_secs(2)).of_token().error("x");
        assert_eq!((silent.code, silent.message.as_str()), ("io", "cannot x: 'http://h' did not answer within 2 s"));
    }

    #[test]
    fn who_said_nothing_of_himself_is_told_how() {
        for (status, told) in [(401, true), (403, true), (404, false), (500, false)] {
            let hint = failure(status, &[], "").of_nobody().error("x").hint.unwrap_or_default();
            assert_eq!(hint.contains("'credential' = 'id:secret'") && hint.contains("or 'token'"), told, "{status}");
        }
        let there = failure(404, &[], "<p>").unless_reached("look").error("x").hint.unwrap();
        assert!(there.contains("'uri'"), "{there}");
        let silent = Failure::silence("http://h", Duration::from_secs(2)).unless_reached("look");
        assert_eq!(silent.error("x").hint.unwrap(), "look");
    }

    #[test]
    fn waits() {
        assert_eq!(wait_of(" 12 "), Some(Duration::from_secs(12)));
        let later = (chrono::Utc::now() + chrono::TimeDelta::seconds(100)).to_rfc2822();
        assert!(wait_of(&later).unwrap() > Duration::from_secs(90));
        assert_eq!(wait_of("Wed, 21 Oct 2015 07:28:00 GMT"), None);
        assert_eq!(wait_of("soon"), None);
    }
}

//! HTTP clients: time limits on every step, TLS with the system's certificates and those of an own file, the proxy of the
//! environment.
//!
//! A server that accepts a connection and says nothing (half-open) costs at most the request's time limit.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use calve_types::{Error, Result};
use object_store::{Certificate, ClientOptions, HeaderValue};
use uuid::Uuid;

use super::properties::{given, number};

/// The option that names a file of PEM certificates to trust besides the system's (which are those of `SSL_CERT_FILE` and
/// `SSL_CERT_DIR` where these are set).
pub(crate) const CA_FILE: &str = "calve.tls.ca-file";

/// What servers see of us.
const USER_AGENT: &str = concat!("calve/", env!("CARGO_PKG_VERSION"));

/// A connection that is not made by then is not made at all.
const CONNECT: Duration = Duration::from_secs(10);
/// A whole request, its answer read.
const REQUEST: Duration = Duration::from_secs(60);

/// A client for a catalog's services: `calve.tls.ca-file`, and Iceberg's `rest.client.connection-timeout-ms` and
/// `rest.client.socket-timeout-ms` (`HTTPClient`). Redirects are not followed: a POST would become a GET on its way, whose
/// success says nothing, and credentials and signatures are for one address.
///
/// # Errors
/// `invalid-option` for a file that cannot be read or holds no certificate, and for times that are no numbers.
pub(crate) fn client(properties: &BTreeMap<String, String>) -> Result<reqwest::Client> {
    let connect = millis(properties, &["rest.client.connection-timeout-ms"])?.unwrap_or(CONNECT);
    let request = millis(properties, &["rest.client.socket-timeout-ms"])?.unwrap_or(REQUEST);
    let mut builder = reqwest::Client::builder()
        .user_agent(USER_AGENT)
        .connect_timeout(connect)
        .timeout(request)
        .redirect(reqwest::redirect::Policy::none());
    if let Some((file, pem)) = certificates(properties)? {
        let found = reqwest::Certificate::from_pem_bundle(&pem).map_err(|_| not_certificates(&file))?;
        if found.is_empty() {
            return Err(not_certificates(&file));
        }
        builder = found.into_iter().fold(builder, reqwest::ClientBuilder::add_root_certificate);
    }
    builder.build().map_err(|e| Error::new("io", format!("cannot make an HTTP client: {}", without_url(e))))
}

/// The same for object stores: `calve.tls.ca-file`, and the time limits of Iceberg's AWS clients,
/// `http-client.apache.connection-timeout-ms` and `.socket-timeout-ms` (or `http-client.urlconnection.*`, or pyiceberg's
/// `s3.connect-timeout` and `s3.request-timeout`, in seconds).
///
/// # Errors
/// As [`client`].
pub(super) fn store_options(properties: &BTreeMap<String, String>) -> Result<ClientOptions> {
    let [connect, request] = ["connection-timeout-ms", "socket-timeout-ms"]
        .map(|name| [format!("http-client.apache.{name}"), format!("http-client.urlconnection.{name}")]);
    let connect = millis(properties, &connect.each_ref().map(String::as_str))?;
    let connect = connect.or(seconds(properties, "s3.connect-timeout")?).unwrap_or(CONNECT);
    let request = millis(properties, &request.each_ref().map(String::as_str))?;
    let request = request.or(seconds(properties, "s3.request-timeout")?).unwrap_or(REQUEST);
    let mut options = ClientOptions::new()
        .with_user_agent(HeaderValue::from_static(USER_AGENT))
        .with_connect_timeout(connect)
        .with_timeout(request);
    if let Some((file, pem)) = certificates(properties)? {
        let found = Certificate::from_pem_bundle(&pem).map_err(|_| not_certificates(&file))?;
        if found.is_empty() {
            return Err(not_certificates(&file));
        }
        options = found.into_iter().fold(options, ClientOptions::with_root_certificate);
    }
    Ok(options)
}

/// The pause before try number `tries` + 2 of a request: doubled each time, and spread between a half and one and a
/// half, so that clients do not come back together.
pub(crate) fn pause(tries: u32) -> Duration {
    let doubled = Duration::from_millis(100).saturating_mul(1_u32.checked_shl(tries).unwrap_or(u32::MAX));
    let random = Uuid::new_v4().as_u128() as u32;
    doubled.min(Duration::from_secs(5)).mul_f64(0.5 + f64::from(random) / f64::from(u32::MAX))
}

/// A text as one part of a path, or as a value of a query or a form: all but letters, digits and `-._~` as `%XX`. A `+` would
/// be a blank to servers in Java.
pub(crate) fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// Why there is no connection where TLS is the reason, and the way out, from the words of the innermost cause (those of
/// rustls); `server` is what to call the server.
pub(crate) fn tls_problem(server: &str, cause: &str) -> Option<(String, &'static str)> {
    let says = |words: &str| cause.contains(words);
    if says("InvalidContentType") {
        let hint = "begin its address with 'http://', or use its port for TLS";
        return Some((format!("{server} does not speak TLS: {cause}"), hint));
    }
    if !says("certificate") {
        return None;
    }
    let (why, hint) = if says("not valid for name") || says("NotValidForName") {
        ("is for another name", "use the name that it was made for, or give the server one for this name")
    } else if says("expired") || says("Expired") {
        ("has expired", "renew it; or the clock of this machine is wrong")
    } else if says("CaUsedAsEndEntity") {
        ("is an authority's own", "give the server one of its own, without CA:TRUE, that the authority signs")
    } else {
        (
            "is not trusted",
            "name a file with the certificate of its authority in 'calve.tls.ca-file', or in SSL_CERT_FILE",
        )
    };
    Some((format!("the certificate of {server} {why}: {cause}"), hint))
}

/// What an HTTP client says went wrong, down to the cause, without the URL, which may hold a credential.
pub(crate) fn without_url(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

/// The certificates of `calve.tls.ca-file`, with the file's name.
fn certificates(properties: &BTreeMap<String, String>) -> Result<Option<(String, Vec<u8>)>> {
    let Some(file) = given(properties, CA_FILE) else { return Ok(None) };
    match std::fs::read(file) {
        Ok(pem) => Ok(Some((file.to_owned(), pem))),
        Err(e) => {
            Err(Error::new("invalid-option", format!("cannot read the file '{file}' of option '{CA_FILE}': {e}")))
        }
    }
}

fn not_certificates(file: &str) -> Error {
    Error::new("invalid-option", format!("the file '{file}' of option '{CA_FILE}' holds no certificates"))
        .with_hint("it must be in PEM format: '-----BEGIN CERTIFICATE-----' and so on")
}

fn millis(properties: &BTreeMap<String, String>, keys: &[&str]) -> Result<Option<Duration>> {
    for key in keys {
        if let Some(millis) = number(properties, key)? {
            return Ok(Some(Duration::from_millis(millis.max(1))));
        }
    }
    Ok(None)
}

fn seconds(properties: &BTreeMap<String, String>, key: &str) -> Result<Option<Duration>> {
    let Some(text) = given(properties, key) else { return Ok(None) };
    let seconds = text.parse::<f64>().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
    match seconds.filter(|s| !s.is_zero()) {
        Some(seconds) => Ok(Some(seconds)),
        None => Err(Error::new("invalid-option", format!("invalid value '{text}' of option '{key}'"))
            .with_hint("use a number of seconds")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn pauses_are_bounded() {
        for tries in [0, 1, 5, 40] {
            assert!(pause(tries) < Duration::from_secs(8));
        }
    }

    #[test]
    fn problems_of_tls() {
        for (cause, why, way) in [
            ("invalid peer certificate: UnknownIssuer", "is not trusted", CA_FILE),
            ("invalid peer certificate: certificate not valid for name \"a\"; ..", "is for another name", "the name"),
            ("invalid peer certificate: certificate expired: ..", "has expired", "renew"),
            ("invalid peer certificate: CaUsedAsEndEntity", "is an authority's own", "CA:TRUE"),
            ("received corrupt message of type InvalidContentType", "does not speak TLS", "'http://'"),
        ] {
            let (reason, hint) = tls_problem("'https://h'", cause).unwrap();
            assert!(reason.contains(why) && reason.contains("'https://h'") && hint.contains(way), "{reason} {hint}");
        }
        assert_eq!(tls_problem("'https://h'", "Connection refused (os error 111)"), None);
    }
}

//! Who we are to a REST catalog: nobody, a user with a password, or the owner of an OAuth2 token.
//!
//! Tokens come from the options or from the client credentials flow, and are renewed before they expire and when the
//! server does not take one any more (Java's `OAuth2Manager`).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use calve_types::{Error, Result};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Method, Url};
use serde::Deserialize;

use super::address::{Address, encoded};
use super::failure::{Failure, Kind};
use super::transport::{Again, Scrub, Transport};

/// How requests say who sends them.
pub(super) enum Auth {
    /// They do not, or by `header.*` or a signature.
    None,
    /// `rest.auth.type` = `basic`.
    Basic(HeaderValue),
    /// OAuth2.
    OAuth2(Box<OAuth2>),
}

/// The tokens of the owner of a credential.
pub(super) struct OAuth2 {
    /// Where tokens come from.
    endpoint: Url,
    /// Client id, if any, and secret.
    credential: Option<(Option<String>, String)>,
    /// `scope`, `audience`, `resource`, in this order.
    extras: Vec<(&'static str, String)>,
    /// Whether a token without a credential is exchanged before it expires.
    exchange: bool,
    token: Mutex<Option<Token>>,
    /// Held while a token is asked for: the others wait for that one.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Clone)]
struct Token {
    value: String,
    life: Option<Life>,
}

/// The time that a token is good for.
#[derive(Clone, Copy)]
struct Life {
    renew: Instant,
    end: Instant,
}

impl Life {
    /// From now on; a tenth of it, at most five minutes, is for renewal.
    fn of(time: Duration) -> Option<Self> {
        let (now, margin) = (Instant::now(), (time / 10).min(Duration::from_secs(300)));
        Some(Self { renew: now.checked_add(time - margin)?, end: now.checked_add(time)? })
    }
}

/// The answer of a token endpoint.
#[derive(Deserialize)]
struct Granted {
    access_token: String,
    #[serde(default)]
    token_type: Option<String>,
    #[serde(default)]
    expires_in: Option<u64>,
}

const TOKEN_TYPE: &str = "urn:ietf:params:oauth:token-type:access_token";

impl Auth {
    /// From the properties of a catalog: `rest.auth.type` and those of the type. Without the type it is OAuth2 if there is
    /// a `credential` or a `token`.
    ///
    /// # Errors
    /// `invalid-option`, `missing-option`; `not-supported` for a type of somebody's own.
    pub(super) fn new(address: &Address, properties: &BTreeMap<String, String>) -> Result<Self> {
        let given = |key: &str| properties.get(key).map(|value| value.trim()).filter(|value| !value.is_empty());
        match given("rest.auth.type").map(str::to_ascii_lowercase).as_deref() {
            None | Some("oauth2" | "sigv4") => {}
            Some("none") => return Ok(Self::None),
            Some("basic") => {
                let part = |key: &str| {
                    given(key).ok_or_else(|| {
                        Error::new("missing-option", format!("'rest.auth.type' = 'basic' needs the option '{key}'"))
                    })
                };
                return basic(part("rest.auth.basic.username")?, part("rest.auth.basic.password")?).map(Self::Basic);
            }
            Some("google") => {
                return Err(Error::unsupported("'rest.auth.type' = 'google'")
                    .with_hint("set 'token' to what 'gcloud auth print-access-token' prints"));
            }
            Some(other) => {
                return Err(Error::new("invalid-option", format!("unknown 'rest.auth.type' '{other}'"))
                    .did_you_mean(other, ["none", "basic", "oauth2", "sigv4"]));
            }
        }
        OAuth2::from_properties(address, properties)
    }

    /// The header that never changes.
    pub(super) fn header(&self) -> Option<HeaderValue> {
        match self {
            Self::Basic(value) => Some(value.clone()),
            Self::None | Self::OAuth2(_) => None,
        }
    }

    /// The token to send now, fetched or renewed if it has to be.
    ///
    /// # Errors
    /// What the token's server answers.
    pub(super) async fn token(&self, transport: &Transport, scrub: Scrub<'_>) -> Result<Option<String>, Failure> {
        let Self::OAuth2(oauth) = self else { return Ok(None) };
        oauth.token(transport, scrub).await.map(Some)
    }

    /// Gets another token than `refused`, which the server does not take any more; false if there is no way to.
    ///
    /// # Errors
    /// What the token's server answers.
    pub(super) async fn renew(
        &self,
        refused: Option<&str>,
        transport: &Transport,
        scrub: Scrub<'_>,
    ) -> Result<bool, Failure> {
        match self {
            Self::OAuth2(oauth) if oauth.credential.is_some() => oauth.replace(refused, transport, scrub).await,
            _ => Ok(false),
        }
    }

    /// The current token, for no eyes.
    pub(super) fn secret(&self) -> Option<String> {
        match self {
            Self::OAuth2(oauth) => oauth.current().map(|token| token.value),
            Self::None | Self::Basic(_) => None,
        }
    }
}

impl fmt::Debug for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Basic(_) => "Basic",
            Self::OAuth2(_) => "OAuth2",
        })
    }
}

impl OAuth2 {
    /// From the properties of a catalog: nobody where there is neither a `credential` nor a `token`.
    fn from_properties(address: &Address, properties: &BTreeMap<String, String>) -> Result<Auth> {
        let given = |key: &str| properties.get(key).map(|value| value.trim()).filter(|value| !value.is_empty());
        let is_off = |key: &str| given(key).is_some_and(|value| value.eq_ignore_ascii_case("false"));
        let life = match given("token-expires-in-ms") {
            None => None,
            Some(value) => Some(value.parse().map(Duration::from_millis).map_err(|_| {
                Error::new("invalid-option", format!("invalid value '{value}' of option 'token-expires-in-ms'"))
                    .with_hint("use a number of milliseconds")
            })?),
        };
        let endpoint = match given("oauth2-server-uri") {
            Some(uri) => address.resolve(uri, "oauth2-server-uri")?,
            None => address.url("v1/oauth/tokens", &[])?,
        };
        let credential = given("credential").map(|credential| match credential.split_once(':') {
            Some((id, secret)) => (Some(id.to_owned()).filter(|id| !id.is_empty()), secret.to_owned()),
            None => (None, credential.to_owned()),
        });
        let token = match given("token") {
            None => None,
            Some(token) => {
                bearer(token)?;
                let life = life.or_else(|| life_of_jwt(token)).and_then(Life::of);
                Some(Token { value: token.to_owned(), life })
            }
        };
        if credential.is_none() && token.is_none() {
            return Ok(Auth::None);
        }
        // Java's `OAuth2Properties.CATALOG_SCOPE`
        let mut extras = vec![("scope", given("scope").unwrap_or("catalog").to_owned())];
        extras.extend(["audience", "resource"].into_iter().filter_map(|key| Some((key, given(key)?.to_owned()))));
        Ok(Auth::OAuth2(Box::new(Self {
            endpoint,
            credential,
            extras,
            exchange: !is_off("token-refresh-enabled") && !is_off("token-exchange-enabled"),
            token: Mutex::new(token),
            asking: tokio::sync::Mutex::new(()),
        })))
    }

    fn current(&self) -> Option<Token> {
        self.token.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keep(&self, token: Token) {
        *self.token.lock().unwrap_or_else(PoisonError::into_inner) = Some(token);
    }

    /// A token that need not be renewed yet.
    fn fresh(&self) -> Option<String> {
        let token = self.current()?;
        token.life.is_none_or(|life| Instant::now() < life.renew).then_some(token.value)
    }

    async fn token(&self, transport: &Transport, scrub: Scrub<'_>) -> Result<String, Failure> {
        if let Some(token) = self.fresh() {
            return Ok(token);
        }
        let _asking = self.asking.lock().await;
        if let Some(token) = self.fresh() {
            return Ok(token);
        }
        let old = self.current();
        if self.credential.is_none() && !self.exchange {
            // the server may still take it
            return old.map(|token| token.value).ok_or_else(|| Failure::new(Kind::Refused, "there is no token"));
        }
        let failure = match self.ask(old.as_ref(), transport, scrub).await {
            Ok(token) => {
                let value = token.value.clone();
                self.keep(token);
                return Ok(value);
            }
            Err(failure) => failure,
        };
        // the old one is good for a while, or for the server to say that it is not
        match old {
            Some(Token { value, life: Some(life) }) if self.credential.is_none() || Instant::now() < life.end => {
                tracing::debug!(?failure, "a token cannot be renewed");
                let later = Instant::now() + Duration::from_secs(10);
                let life = Life { renew: later, end: life.end };
                self.keep(Token { value: value.clone(), life: Some(life) });
                Ok(value)
            }
            _ => Err(failure),
        }
    }

    /// Gets another token than `refused`, unless somebody did already.
    async fn replace(&self, refused: Option<&str>, transport: &Transport, scrub: Scrub<'_>) -> Result<bool, Failure> {
        let _asking = self.asking.lock().await;
        if self.current().is_some_and(|token| Some(token.value.as_str()) != refused) {
            return Ok(true);
        }
        let token = self.ask(None, transport, scrub).await?;
        self.keep(token);
        Ok(true)
    }

    /// Asks for a token: by the credential if there is one, else in exchange for the old one.
    async fn ask(&self, old: Option<&Token>, transport: &Transport, scrub: Scrub<'_>) -> Result<Token, Failure> {
        let mut form: Vec<(&str, &str)> = vec![];
        let mut request = reqwest::Request::new(Method::POST, self.endpoint.clone());
        match (&self.credential, old) {
            (Some((id, secret)), _) => {
                form.push(("grant_type", "client_credentials"));
                form.extend(id.as_deref().map(|id| ("client_id", id)));
                form.push(("client_secret", secret.as_str()));
            }
            (None, Some(old)) => {
                form.push(("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"));
                form.push(("subject_token", old.value.as_str()));
                form.push(("subject_token_type", TOKEN_TYPE));
                let header = bearer(&old.value).map_err(Failure::of_error)?;
                request.headers_mut().insert(AUTHORIZATION, header);
            }
            (None, None) => return Err(Failure::new(Kind::Refused, "there is no credential")),
        }
        form.extend(self.extras.iter().map(|(key, value)| (*key, value.as_str())));
        let pairs: Vec<String> = form.iter().map(|(key, value)| format!("{key}={}", encoded(value))).collect();
        let media = HeaderValue::from_static("application/x-www-form-urlencoded");
        request.headers_mut().insert(CONTENT_TYPE, media);
        *request.body_mut() = Some(pairs.join("&").into());
        let server = self.endpoint.origin().ascii_serialization();
        // asking twice gives two tokens, and nothing else
        let body = transport.send_again(request, Again::Harmless, scrub).await.map_err(|failure| failure.of_token())?;
        let granted: Granted = serde_json::from_slice(&body)
            .map_err(|_| Failure::unusable(&server, "it is no OAuth2 token").of_token())?;
        let wrong = |why: &str| Failure::unusable(&server, why).of_token();
        if granted.token_type.is_some_and(|kind| !kind.eq_ignore_ascii_case("bearer") && kind != "N_A") {
            return Err(wrong("its token is no bearer token"));
        }
        bearer(&granted.access_token).map_err(|_| wrong("its token cannot be sent in a header"))?;
        let life = granted.expires_in.map(Duration::from_secs).or_else(|| life_of_jwt(&granted.access_token));
        Ok(Token { value: granted.access_token, life: life.and_then(Life::of) })
    }
}

/// The header of a token.
///
/// # Errors
/// `invalid-option` for a text that cannot be in a header.
pub(super) fn bearer(token: &str) -> Result<HeaderValue> {
    sensitive(&format!("Bearer {token}"))
        .ok_or_else(|| Error::new("invalid-option", "the token of the catalog cannot be sent in a header of HTTP"))
}

fn basic(user: &str, password: &str) -> Result<HeaderValue> {
    if user.contains(':') {
        return Err(Error::new("invalid-option", "a user of HTTP's basic authentication has no ':' in its name"));
    }
    let value = format!("Basic {}", base64(format!("{user}:{password}").as_bytes()));
    sensitive(&value).ok_or_else(|| Error::internal("base64 that is no header"))
}

fn sensitive(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Base64 with padding (RFC 4648).
fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = (0..3).fold(0_u32, |group, n| group << 8 | u32::from(chunk.get(n).copied().unwrap_or(0)));
        for n in 0..4 {
            let digit = ALPHABET.get((group >> (18 - 6 * n) & 63) as usize).copied().unwrap_or(b'=');
            text.push(if n <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

/// The bytes of a base64 text in the alphabet of URLs, without padding.
fn of_base64url(text: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut group, mut bits) = (vec![], 0_u32, 0);
    for c in text.trim_end_matches('=').bytes() {
        let digit = match c {
            b'-' => 62,
            b'_' => 63,
            c => u32::try_from(ALPHABET.iter().position(|a| *a == c)?).ok()?,
        };
        group = group << 6 | digit;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((group >> bits & 255) as u8);
        }
    }
    Some(bytes)
}

/// What is left of the life of a token that is a JWT (its claim `exp`).
fn life_of_jwt(token: &str) -> Option<Duration> {
    #[derive(Deserialize)]
    struct Claims {
        exp: f64,
    }
    let claims: Claims = serde_json::from_slice(&of_base64url(token.split('.').nth(1)?)?).ok()?;
    let end = SystemTime::UNIX_EPOCH.checked_add(Duration::try_from_secs_f64(claims.exp).ok()?)?;
    Some(end.duration_since(SystemTime::now()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn base64_of_rfc_4648() {
        for (text, coded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE=")]
        {
            assert_eq!(base64(text.as_bytes()), coded);
            assert_eq!(of_base64url(coded).unwrap(), text.as_bytes());
        }
        assert_eq!(of_base64url("-_8").unwrap(), [0xfb, 0xff]);
        assert_eq!(of_base64url("a b"), None);
        assert_eq!(basic("Aladdin", "open sesame").unwrap().to_str().unwrap(), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        assert!(basic("a:b", "c").is_err());
    }

    #[test]
    fn the_end_of_a_token() {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
        let jwt = |claims: String| format!("e30.{}.x", base64(claims.as_bytes()).trim_end_matches('='));
        let left = life_of_jwt(&jwt(format!("{{\"exp\":{}}}", now + 100))).unwrap();
        assert!((90..=100).contains(&left.as_secs()), "{left:?}");
        assert_eq!(life_of_jwt(&jwt("{\"exp\":1}".to_owned())), Some(Duration::ZERO));
        for other in ["", "abc", "a.b.c", "a.e30.c"] {
            assert_eq!(life_of_jwt(other), None, "{other}");
        }
    }
}

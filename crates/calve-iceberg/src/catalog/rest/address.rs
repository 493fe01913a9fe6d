//! Addresses of a REST catalog: its `uri`, and paths below it.

use std::fmt::Write as _;

use calve_types::{Error, Result};
use reqwest::Url;

pub(super) use crate::io::http::encoded;

/// Where a REST catalog is: what comes before `/v1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// Without a slash at the end; it holds no user and no password.
    base: String,
}

impl Address {
    /// The address in the option `uri` of a catalog.
    ///
    /// # Errors
    /// `invalid-option` if it is no `http` or `https` URL, or holds more than a host, a port and a path.
    pub(super) fn parse(uri: &str, catalog: &str) -> Result<Self> {
        // the address itself is not shown: it may hold a password
        let invalid = |why: &str| {
            Error::new("invalid-option", format!("the 'uri' of catalog '{catalog}' {why}"))
                .with_hint("it is the address of the REST catalog before '/v1', such as 'http://localhost:8181'")
        };
        let url = Url::parse(uri.trim()).map_err(|_| invalid("is not a URL"))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
            return Err(invalid("is not an 'http' or 'https' URL"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(invalid("holds a user or a password")
                .with_hint("use 'credential', 'token', or 'rest.auth.type' = 'basic' with its user and password"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(invalid("has a '?' or a '#'"));
        }
        Ok(Self { base: url.as_str().trim_end_matches('/').to_owned() })
    }

    /// The URL of a path below the address (`v1/config`), with a query.
    ///
    /// # Errors
    /// `invalid-option` if the path cannot be part of a URL.
    pub(super) fn url(&self, path: &str, query: &[(&str, String)]) -> Result<Url> {
        let mut text = format!("{}/{}", self.base, path.trim_start_matches('/'));
        for (n, (key, value)) in query.iter().enumerate() {
            let before = if n == 0 { '?' } else { '&' };
            let _ = write!(text, "{before}{key}={}", encoded(value));
        }
        Url::parse(&text).map_err(|_| Error::new("invalid-option", format!("'{text}' is not a URL")))
    }

    /// The URL that an option names: absolute, or a path below the address (`oauth2-server-uri`, endpoints of
    /// credentials).
    ///
    /// # Errors
    /// `invalid-option` if it is neither.
    pub(super) fn resolve(&self, given: &str, option: &str) -> Result<Url> {
        let absolute = given.starts_with("http://") || given.starts_with("https://");
        let parsed = if absolute { Url::parse(given).ok() } else { self.url(given, &[]).ok() };
        let holds_secret = |url: &Url| !url.username().is_empty() || url.password().is_some();
        parsed.filter(|url| !holds_secret(url)).ok_or_else(|| {
            Error::new("invalid-option", format!("the option '{option}' is not a URL without user and password"))
        })
    }

    /// Whether a URL is of the same server.
    pub(super) fn is_of(&self, url: &Url) -> bool {
        Url::parse(&self.base).is_ok_and(|base| base.origin() == url.origin())
    }

    /// Whether the address ends with `/v1`, which belongs to the paths.
    pub(super) fn ends_with_version(&self) -> bool {
        self.base.ends_with("/v1")
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.base)
    }
}

/// The text of what [`encoded`] made, or of the separator that a server names; what is no `%XX` stays.
pub(super) fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|d| std::str::from_utf8(d).ok());
        let byte = digits.filter(|_| first == b'%').and_then(|d| u8::from_str_radix(d, 16).ok());
        bytes.push(byte.unwrap_or(first));
        rest = if byte.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn addresses() {
        let address = Address::parse("http://localhost:8181/api/catalog/", "c").unwrap();
        assert_eq!(address.to_string(), "http://localhost:8181/api/catalog");
        let url = address.url("v1/p/namespaces/a%1Fb", &[("parent", "a\u{1f}b c".to_owned()), ("t", String::new())]);
        assert_eq!(
            url.unwrap().as_str(),
            "http://localhost:8181/api/catalog/v1/p/namespaces/a%1Fb?parent=a%1Fb%20c&t="
        );
        assert_eq!(
            address.resolve("v1/oauth/tokens", "o").unwrap().as_str(),
            "http://localhost:8181/api/catalog/v1/oauth/tokens"
        );
        let other = address.resolve("https://idp/token", "o").unwrap();
        assert!(!address.is_of(&other));
        assert!(address.is_of(&address.resolve("/x", "o").unwrap()));
        for wrong in ["", "localhost:8181", "ftp://x", "s3://b/x", "http://", "http://h/?a=b", "/path"] {
            assert_eq!(Address::parse(wrong, "c").unwrap_err().code, "invalid-option", "{wrong}");
        }
        let secret = Address::parse("http://ann:pass@host/", "c").unwrap_err();
        assert!(!format!("{secret:?}").contains("pass@"), "{secret:?}");
        assert!(Address::parse("http://h/v1/", "c").unwrap().ends_with_version());
    }

    #[test]
    fn names_survive_a_path() {
        for name in ["plain", "a b+c", "ü%20", "a/b?c#d", "日本", "x\u{1f}y", "100%", "%zz%"] {
            let shown = encoded(name);
            assert!(shown.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~%".contains(&b)), "{shown}");
            assert_eq!(decoded(&shown), name);
            let url = Url::parse(&format!("http://h/{shown}")).unwrap();
            assert_eq!(url.path(), format!("/{shown}"));
        }
        assert_eq!(decoded("%1F"), "\u{1f}");
        assert_eq!(decoded("%2"), "%2");
        assert_eq!(decoded("."), ".");
    }
}

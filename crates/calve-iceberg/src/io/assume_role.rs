//! Taking a role of AWS: credentials for a while, from its Security Token Service (STS), as the Java library's
//! `AssumeRoleAwsClientFactory` does it. Who asks for them is who the options or the environment say.

use std::collections::BTreeMap;
use std::env;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use calve_types::{Error, Result};
use chrono::{DateTime, TimeDelta, Utc};
use object_store::CredentialProvider;
use object_store::aws::{AwsCredential, AwsCredentialProvider};
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::{Method, StatusCode, Url};
use tokio::sync::Mutex;
use uuid::Uuid;

use super::aws::{check, check_region, sign};
use super::explain::{explain_reply, foreign};
use super::http::{client, encoded, tls_problem, without_url};
use super::properties::{given, number};

/// The Java class in `client.factory` that takes a role.
const FACTORY: &str = "org.apache.iceberg.aws.AssumeRoleAwsClientFactory";

const ARN: &str = "client.assume-role.arn";
const REGION: &str = "client.assume-role.region";
const TAGS: &str = "client.assume-role.tags.";

/// Credentials are fetched again that long before they expire, or at half of their life if that is later.
const EARLY: TimeDelta = TimeDelta::minutes(5);

/// After an attempt, none is made for that long while those at hand are good.
const PAUSE: TimeDelta = TimeDelta::seconds(10);

/// How often STS is asked where it does not answer.
const TRIES: u32 = 3;

/// An answer of STS is some kilobytes.
const LARGEST_ANSWER: usize = 1 << 20;

/// Whether a role is to be taken: `client.factory`, by its whole name or without its package.
pub(super) fn is_asked(properties: &BTreeMap<String, String>) -> bool {
    let short = FACTORY.rsplit('.').next();
    given(properties, "client.factory").is_some_and(|class| class == FACTORY || Some(class) == short)
}

/// The region of the role's services (`client.assume-role.region`), if a role is to be taken.
pub(super) fn region(properties: &BTreeMap<String, String>) -> Option<&str> {
    given(properties, REGION).filter(|_| is_asked(properties))
}

/// Checks the options of a role.
///
/// # Errors
/// `missing-option`, with the Java library's words; `invalid-option` for wrong values; `not-supported` for a role without the
/// factory that takes it, which Java would leave out.
pub(super) fn check_options(properties: &BTreeMap<String, String>) -> Result<()> {
    if !is_asked(properties) {
        let role =
            properties.keys().find(|key| key.starts_with("client.assume-role.") && given(properties, key).is_some());
        return match role {
            Some(key) => Err(Error::unsupported(format!("option '{key}' without its 'client.factory'"))
                .with_hint(format!("set 'client.factory' = '{FACTORY}', or leave the role out"))),
            None => Ok(()),
        };
    }
    Request::of(properties).map(|_| ())
}

/// What is asked of STS.
struct Request {
    arn: String,
    region: String,
    session: String,
    external_id: Option<String>,
    seconds: u64,
    tags: Vec<(String, String)>,
}

impl Request {
    /// `client.assume-role.*`.
    fn of(properties: &BTreeMap<String, String>) -> Result<Self> {
        let needed = |key: &str, what: &str| {
            given(properties, key).map(str::to_owned).ok_or_else(|| {
                Error::new("missing-option", format!("to take a role of AWS, the option '{key}' is needed"))
                    .with_detail(format!("Cannot initialize AssumeRoleClientConfigFactory with null {what}"))
            })
        };
        let arn = needed(ARN, "role ARN")?;
        if !arn.starts_with("arn:") {
            return Err(Error::new("invalid-option", format!("'{arn}' of option '{ARN}' is not the ARN of a role"))
                .with_hint("it looks like 'arn:aws:iam::123456789012:role/name'"));
        }
        let region = needed(REGION, "region")?;
        check_region(&region)?;
        let tag = |(key, value): (&String, &String)| Some((key.strip_prefix(TAGS)?.to_owned(), value.clone()));
        Ok(Self {
            arn,
            region,
            session: match given(properties, "client.assume-role.session-name") {
                Some(name) => name.to_owned(),
                None => format!("calve-{}", Uuid::new_v4()),
            },
            external_id: given(properties, "client.assume-role.external-id").map(str::to_owned),
            // Java's `CLIENT_ASSUME_ROLE_TIMEOUT_SEC_DEFAULT`
            seconds: number(properties, "client.assume-role.timeout-sec")?.unwrap_or(3600),
            tags: properties.iter().filter_map(tag).collect(),
        })
    }

    /// The form of AWS's query protocol.
    fn form(&self) -> String {
        let seconds = self.seconds.to_string();
        let mut pairs = vec![
            ("Action".to_owned(), "AssumeRole"),
            ("Version".to_owned(), "2011-06-15"),
            ("RoleArn".to_owned(), self.arn.as_str()),
            ("RoleSessionName".to_owned(), self.session.as_str()),
            ("DurationSeconds".to_owned(), seconds.as_str()),
        ];
        pairs.extend(self.external_id.as_deref().map(|id| ("ExternalId".to_owned(), id)));
        for (n, (key, value)) in (1..).zip(&self.tags) {
            pairs.push((format!("Tags.member.{n}.Key"), key));
            pairs.push((format!("Tags.member.{n}.Value"), value));
        }
        let pairs: Vec<String> = pairs.iter().map(|(key, value)| format!("{key}={}", encoded(value))).collect();
        pairs.join("&")
    }
}

/// A role, and the credentials that it has now.
pub(super) struct Role {
    endpoint: Url,
    request: Request,
    /// Who asks.
    own: AwsCredentialProvider,
    http: reqwest::Client,
    /// Held while STS is asked: the others wait for that answer.
    now: Mutex<Option<Current>>,
}

/// Credentials and their times.
struct Current {
    credential: Arc<AwsCredential>,
    refresh: DateTime<Utc>,
    expires: DateTime<Utc>,
}

impl fmt::Debug for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Role").field("arn", &self.request.arn).finish_non_exhaustive()
    }
}

impl Role {
    /// The role that the options name, for who has the credentials `own`. STS is at `AWS_ENDPOINT_URL_STS`,
    /// `AWS_ENDPOINT_URL`, or where the region has it. Nothing is contacted.
    ///
    /// # Errors
    /// As [`check_options`]; `invalid-option` for an address that is none.
    pub(super) fn new(properties: &BTreeMap<String, String>, own: AwsCredentialProvider) -> Result<Self> {
        let region = given(properties, REGION).unwrap_or_default();
        let variable = |key: &str| env::var(key).ok().filter(|value| !value.trim().is_empty());
        let endpoint = variable("AWS_ENDPOINT_URL_STS").or_else(|| variable("AWS_ENDPOINT_URL")).unwrap_or_else(|| {
            let domain = if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" };
            format!("https://sts.{region}.{domain}")
        });
        Self::at(&endpoint, properties, own)
    }

    fn at(endpoint: &str, properties: &BTreeMap<String, String>, own: AwsCredentialProvider) -> Result<Self> {
        let request = Request::of(properties)?;
        let parsed = Url::parse(endpoint.trim()).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let parsed = parsed.filter(|url| url.has_host() && url.username().is_empty() && url.password().is_none());
        let endpoint = parsed.ok_or_else(|| Error::new("invalid-option", "the address of AWS's STS is not a URL"))?;
        Ok(Self { endpoint, request, own, http: client(properties)?, now: Mutex::new(None) })
    }

    /// The credentials as they are now, fetched again if they are about to expire.
    async fn current(&self) -> Result<Arc<AwsCredential>> {
        let mut now = self.now.lock().await;
        let time = Utc::now();
        if let Some(current) = now.as_ref().filter(|current| time < current.refresh) {
            return Ok(current.credential.clone());
        }
        let error = match self.ask().await {
            Ok(fresh) => return Ok(now.insert(fresh).credential.clone()),
            Err(error) => error,
        };
        match now.as_mut() {
            // those at hand are good for a while
            Some(current) if time < current.expires => {
                tracing::warn!(%error, "a role of AWS cannot be taken again yet");
                current.refresh = time + PAUSE;
                Ok(current.credential.clone())
            }
            _ => Err(error),
        }
    }

    async fn ask(&self) -> Result<Current> {
        let mut tries = 1;
        loop {
            match self.ask_once().await {
                Ok(current) => return Ok(current),
                Err((error, true)) if tries < TRIES => tracing::debug!(%error, "STS is asked again"),
                Err((error, _)) => return Err(error),
            }
            tokio::time::sleep(Duration::from_millis(100) * tries).await;
            tries += 1;
        }
    }

    /// # Errors
    /// What went wrong, and whether another try may help.
    async fn ask_once(&self) -> Result<Current, (Error, bool)> {
        let server = self.endpoint.origin().ascii_serialization();
        let what = format!("take the role '{}'", self.request.arn);
        let mut request = reqwest::Request::new(Method::POST, self.endpoint.clone());
        let media = HeaderValue::from_static("application/x-www-form-urlencoded");
        request.headers_mut().insert(CONTENT_TYPE, media);
        *request.body_mut() = Some(self.request.form().into());
        sign(&mut request, &self.own, "sts", &self.request.region).await.map_err(|error| (error, false))?;
        let answer = async {
            let mut response = self.http.execute(request).await?;
            let (status, mut body) = (response.status(), Vec::new());
            while let Some(chunk) = response.chunk().await? {
                body.extend_from_slice(&chunk);
                if body.len() > LARGEST_ANSWER {
                    break;
                }
            }
            Ok::<_, reqwest::Error>((status, String::from_utf8_lossy(&body).into_owned()))
        };
        let (status, body) = answer.await.map_err(|error| unreached(&what, &server, error))?;
        if !status.is_success() {
            let failure = explain_reply(&server, status, &body);
            let denied = status == StatusCode::FORBIDDEN && element(&body, "Code") == Some("AccessDenied");
            let error = failure.error(&what);
            let error = match denied {
                true => error.with_hint(
                    "the role must let whoever asks take it ('sts:AssumeRole'), with the \
                     'client.assume-role.external-id' that it wants",
                ),
                false => error,
            };
            return Err((error, status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS));
        }
        granted(&body)
            .map_err(|why| (Error::new("io", format!("cannot {what}: the answer of '{server}' {why}")), false))
    }
}

const UNREACHED: &str = "that is the Security Token Service of AWS, which gives the role: is 'client.assume-role.region' right, and \
                         can this machine reach it, maybe by a proxy (HTTPS_PROXY)? AWS_ENDPOINT_URL_STS names another address";

/// An error of a request that was not answered.
fn unreached(what: &str, server: &str, error: reqwest::Error) -> (Error, bool) {
    let timeout = error.is_timeout() && !error.is_connect();
    let cause = without_url(error);
    let named = format!("'{server}'");
    let (why, hint) = match tls_problem(&named, &cause) {
        Some(problem) => problem,
        None if timeout => (format!("{named} did not answer in time"), UNREACHED),
        None => (format!("{named} cannot be reached: {cause}"), UNREACHED),
    };
    // a silent server is not waited for again
    (Error::new("io", format!("cannot {what}: {why}")).with_hint(hint), !timeout)
}

/// The credentials of an answer.
fn granted(body: &str) -> Result<Current, String> {
    let part = |name: &str| element(body, name).map(str::to_owned).ok_or_else(|| format!("has no {name}"));
    let credential = AwsCredential {
        key_id: part("AccessKeyId")?,
        secret_key: part("SecretAccessKey")?,
        token: Some(part("SessionToken")?),
    };
    check(&credential).map_err(|_| "has keys that cannot be sent in a header".to_owned())?;
    let expires =
        DateTime::parse_from_rfc3339(&part("Expiration")?).map_err(|_| "has an Expiration that is no time")?;
    let (now, expires) = (Utc::now(), expires.to_utc());
    let life = (expires - now).max(TimeDelta::zero());
    // if they come expired, clocks differ: they may be good all the same
    let pause = if life.is_zero() { PAUSE } else { PAUSE.min(life / 2) };
    let refresh = (expires - EARLY.min(life / 2)).max(now + pause);
    Ok(Current { credential: Arc::new(credential), refresh, expires })
}

/// The text of an XML element.
fn element<'a>(body: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = body.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(text, _)| text.trim())
}

#[async_trait]
impl CredentialProvider for Role {
    type Credential = AwsCredential;

    async fn get_credential(&self) -> object_store::Result<Arc<AwsCredential>> {
        self.current().await.map_err(foreign)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use std::sync::Mutex as Shared;

    use object_store::StaticCredentialProvider;
    use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
    use tokio::net::TcpListener;

    use super::*;

    fn properties(more: &[(&str, &str)]) -> BTreeMap<String, String> {
        let all = [("client.factory", FACTORY), (ARN, "arn:aws:iam::1:role/r"), (REGION, "eu-west-1")];
        all.iter().chain(more).map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    fn own() -> AwsCredentialProvider {
        let (key_id, secret_key) = ("AKID".to_owned(), "hush-hush".to_owned());
        Arc::new(StaticCredentialProvider::new(AwsCredential { key_id, secret_key, token: None }))
    }

    fn answer(n: usize, seconds: i64) -> String {
        let expires = (Utc::now() + TimeDelta::seconds(seconds)).to_rfc3339();
        format!(
            "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ROLE{n}</AccessKeyId><SecretAccessKey>s+/{n}\
             </SecretAccessKey><SessionToken>t{n}</SessionToken><Expiration>{expires}</Expiration></Credentials>\
             </AssumeRoleResult></AssumeRoleResponse>"
        )
    }

    /// Answers one request after the other with a status and a body; gives the heads and bodies of the requests.
    async fn sts(answers: Vec<(u16, String)>) -> (String, Arc<Shared<Vec<(String, String)>>>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Shared::new(vec![]));
        let log = asked.clone();
        tokio::spawn(async move {
            for (status, body) in answers {
                let (mut socket, _) = listener.accept().await.unwrap();
                let (reader, mut writer) = socket.split();
                let (mut reader, mut head) = (BufReader::new(reader), String::new());
                while !head.ends_with("\r\n\r\n") {
                    reader.read_line(&mut head).await.unwrap();
                }
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
                let mut form = vec![0; length.parse().unwrap()];
                reader.read_exact(&mut form).await.unwrap();
                log.lock().unwrap().push((head, String::from_utf8(form).unwrap()));
                let length = body.len();
                let text =
                    format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
                writer.write_all(text.as_bytes()).await.unwrap();
            }
        });
        (address, asked)
    }

    #[tokio::test]
    async fn a_role_is_taken_and_taken_again_before_it_ends() {
        let (address, asked) = sts(vec![(200, answer(1, 3600)), (200, answer(2, 2)), (200, answer(3, 3600))]).await;
        let options = [
            ("client.assume-role.external-id", "x y&z"),
            ("client.assume-role.session-name", "me"),
            ("client.assume-role.timeout-sec", "900"),
            ("client.assume-role.tags.team", "lake"),
        ];
        let role = Role::at(&address, &properties(&options), own()).unwrap();
        for _ in 0..5 {
            let found = role.get_credential().await.unwrap();
            assert_eq!(
                (found.key_id.as_str(), found.secret_key.as_str(), found.token.as_deref()),
                ("ROLE1", "s+/1", Some("t1"))
            );
        }
        let (head, form) = asked.lock().unwrap().pop().unwrap();
        assert_eq!(
            form,
            "Action=AssumeRole&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr&RoleSessionName=me\
             &DurationSeconds=900&ExternalId=x%20y%26z&Tags.member.1.Key=team&Tags.member.1.Value=lake"
        );
        assert!(head.contains("Credential=AKID/") && head.contains("/eu-west-1/sts/aws4_request"), "{head}");
        assert!(asked.lock().unwrap().is_empty(), "asked once");
        let shown = format!("{role:?}");
        assert!(!shown.contains("hush") && !shown.contains("ROLE1"), "{shown}");
        // one of two seconds is taken again after one, once for all who wait
        let role = Role::at(&address, &properties(&[]), own()).unwrap();
        assert_eq!(role.get_credential().await.unwrap().key_id, "ROLE2");
        tokio::time::sleep(Duration::from_millis(1100)).await;
        let all = futures::future::join_all((0..8).map(|_| role.get_credential())).await;
        assert!(all.into_iter().all(|found| found.unwrap().key_id == "ROLE3"));
        assert_eq!(asked.lock().unwrap().len(), 2);
    }

    #[tokio::test]
    async fn what_sts_refuses_is_told() {
        let denied = "<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code>\
                      <Message>User: u is not authorized</Message></Error></ErrorResponse>";
        let (address, _) = sts(vec![(503, String::new()), (403, denied.to_owned()), (200, "<x/>".to_owned())]).await;
        let role = Role::at(&address, &properties(&[]), own()).unwrap();
        let error = role.current().await.unwrap_err();
        assert_eq!(error.code, "access-denied");
        assert!(error.message.starts_with("cannot take the role 'arn:aws:iam::1:role/r': "), "{error}");
        assert_eq!(error.detail.as_deref(), Some("User: u is not authorized."));
        assert!(error.hint.unwrap().contains("sts:AssumeRole"));
        let error = role.current().await.unwrap_err();
        assert!(error.message.ends_with("has no AccessKeyId"), "{error}");
        assert!(!format!("{error:?}").contains("hush"));
        // nobody listens any more
        let error = role.current().await.unwrap_err();
        let hint = error.hint.unwrap();
        assert!(
            error.code == "io" && hint.contains("AWS_ENDPOINT_URL_STS") && hint.contains("assume-role.region"),
            "{hint}"
        );
    }

    #[tokio::test]
    async fn a_role_that_cannot_be_taken_again_is_used_to_its_end() {
        let (address, _) = sts(vec![(200, answer(1, 4))]).await;
        let role = Role::at(&address, &properties(&[]), own()).unwrap();
        role.current().await.unwrap();
        tokio::time::sleep(Duration::from_millis(2100)).await;
        assert_eq!(role.current().await.unwrap().key_id, "ROLE1");
    }

    #[test]
    fn options() {
        let code = |properties: &BTreeMap<String, String>| check_options(properties).map_err(|error| error.code);
        assert_eq!(code(&properties(&[])), Ok(()));
        assert_eq!(region(&properties(&[])), Some("eu-west-1"));
        let short = properties(&[("client.factory", "AssumeRoleAwsClientFactory")]);
        assert!(is_asked(&short) && code(&short) == Ok(()));
        for (key, value, expected) in [
            (ARN, "", "missing-option"),
            (REGION, "", "missing-option"),
            (ARN, "role", "invalid-option"),
            (REGION, "no/region", "invalid-option"),
            ("client.assume-role.timeout-sec", "long", "invalid-option"),
            ("client.factory", "", "not-supported"),
        ] {
            assert_eq!(code(&properties(&[(key, value)])), Err(expected), "{key}");
        }
        assert_eq!(code(&BTreeMap::new()), Ok(()));
    }
}

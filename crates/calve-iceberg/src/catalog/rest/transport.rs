//! The way of requests to a REST catalog: how long an answer may take, and which are sent again.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use calve_types::{Error, Result};
use reqwest::Method;

use super::failure::{Failure, Kind};
use crate::io::http;

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

/// Whether a call may be sent again though nobody knows whether it was carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    /// It does the same when it is done twice.
    Harmless,
    /// The server knows a repetition by its key, and answers as it did. Where it has answered that it failed (5xx) it has
    /// kept nothing.
    ByKey,
    /// It may not.
    No,
}

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
    fn pause(&self, failure: &Failure, again: Again, tries: u32, paused: Duration) -> Option<Duration> {
        let may_again = match failure.kind {
            Kind::Unavailable => !failure.lasting,
            // once more: the connection may have been dead for long
            Kind::Unsure => {
                let allowed = again == Again::Harmless || (again == Again::ByKey && failure.status.is_none());
                allowed && !failure.lasting && (!failure.timeout || tries == 1)
            }
            _ => false,
        };
        if !may_again || tries > self.patience.retries {
            return None;
        }
        let pause = failure.retry_after.unwrap_or_else(|| http::pause(tries.saturating_sub(1)));
        (pause <= LONGEST_PAUSE && paused.saturating_add(pause) <= ALL_PAUSES).then_some(pause)
    }

    /// Sends a request until there is a verdict: what may be repeated, and what certainly did nothing, again.
    ///
    /// # Errors
    /// As [`Transport::send`].
    pub(super) async fn send_again(
        &self,
        request: reqwest::Request,
        again: Again,
        scrub: Scrub<'_>,
    ) -> Result<Bytes, Failure> {
        let (mut tries, mut paused, mut lost) = (0, Duration::ZERO, false);
        loop {
            tries += 1;
            let copy = request.try_clone();
            let copy = copy.ok_or_else(|| Failure::of_error(Error::internal("a request that is a stream")))?;
            let failure = match self.send(copy, scrub).await {
                Ok(body) => return Ok(body),
                Err(failure) => failure,
            };
            lost |= failure.kind == Kind::Unsure;
            let Some(pause) = self.pause(&failure, again, tries, paused) else {
                // what the last try met may be the doing of one before, if the server has forgotten the key
                return Err(if lost && again == Again::ByKey { failure.in_doubt() } else { failure });
            };
            tracing::debug!(?failure, ?pause, "a request is sent again");
            tokio::time::sleep(pause).await;
            paused = paused.saturating_add(pause);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use reqwest::StatusCode;

    use super::*;

    #[test]
    fn pauses_are_bounded() {
        let patience = Patience { silence: Duration::from_secs(1), whole: WHOLE, retries: 5 };
        let transport = Transport { http: reqwest::Client::new(), patience };
        let (unavailable, unsure) = (Failure::new(Kind::Unavailable, "x"), Failure::new(Kind::Unsure, "x"));
        for tries in 1..=5 {
            assert!(transport.pause(&unavailable, Again::No, tries, Duration::ZERO).unwrap() < Duration::from_secs(8));
        }
        assert_eq!(transport.pause(&unavailable, Again::Harmless, 6, Duration::ZERO), None);
        assert_eq!(transport.pause(&unsure, Again::No, 1, Duration::ZERO), None);
        assert!(transport.pause(&unsure, Again::ByKey, 1, Duration::ZERO).is_some());
        let mut failed = unsure.clone();
        failed.status = Some(StatusCode::BAD_GATEWAY);
        assert_eq!(transport.pause(&failed, Again::ByKey, 1, Duration::ZERO), None);
        let mut lasting = unavailable.clone();
        lasting.lasting = true;
        assert_eq!(transport.pause(&lasting, Again::Harmless, 1, Duration::ZERO), None);
        assert!(transport.pause(&unsure, Again::Harmless, 1, Duration::ZERO).is_some());
        let silent = Failure::silence("s", Duration::from_secs(1));
        assert!(transport.pause(&silent, Again::Harmless, 1, Duration::ZERO).is_some());
        assert_eq!(transport.pause(&silent, Again::Harmless, 2, Duration::ZERO), None);
        let mut asked = unavailable.clone();
        asked.retry_after = Some(Duration::from_secs(7));
        assert_eq!(transport.pause(&asked, Again::No, 1, Duration::ZERO), Some(Duration::from_secs(7)));
        assert_eq!(transport.pause(&asked, Again::No, 1, Duration::from_secs(55)), None);
        asked.retry_after = Some(Duration::from_secs(700));
        assert_eq!(transport.pause(&asked, Again::No, 1, Duration::ZERO), None);
        for kind in [Kind::NotFound, Kind::Conflict, Kind::Unauthorized, Kind::Refused] {
            assert_eq!(transport.pause(&Failure::new(kind, "x"), Again::Harmless, 1, Duration::ZERO), None);
        }
    }
}

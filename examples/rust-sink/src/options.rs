//! How a sink is made.

use std::env;
use std::sync::Arc;
use std::time::Duration;

use reqwest::{Client, Url, redirect};

use crate::post::{Poster, default_headers};
use crate::queue::{Queue, QueueLimits};
use crate::report::{Report, Trouble, TroubleHook};
use crate::sink::HttpSink;
use crate::worker::Worker;

/// The address of `entelix-otel serve`, for [`HttpSink::from_env`].
pub const URL_VARIABLE: &str = "ENTELIX_OTEL_URL";
/// Its token, for [`HttpSink::from_env`].
pub const TOKEN_VARIABLE: &str = "ENTELIX_OTEL_TOKEN";
/// Where `entelix-otel serve` listens when it is told nothing.
pub const DEFAULT_URL: &str = "http://127.0.0.1:4321";

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Why there is no sink.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// Not an `http` or `https` address.
    Url(String),
    /// The token can't stand in a header.
    Token,
    /// `build` was called outside a tokio runtime, where no worker can run.
    NoRuntime,
    /// The HTTP client can't be made.
    Client(String),
}

impl std::fmt::Display for BuildError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Url(url) => write!(f, "url: expected http://… or https://…, got {url:?}"),
            Self::Token => f.write_str("token: expected visible ASCII characters"),
            Self::NoRuntime => f.write_str("a sink has to be built inside a tokio runtime"),
            Self::Client(reason) => write!(f, "no HTTP client: {reason}"),
        }
    }
}

impl std::error::Error for BuildError {}

/// Where a [`Poster`] posts.
pub struct Target {
    pub url: Url,
    pub gzip: bool,
}

/// Options of an [`HttpSink`].
#[derive(Clone)]
#[must_use = "it does nothing without `build`"]
pub struct HttpSinkBuilder {
    url: String,
    token: Option<String>,
    gzip: bool,
    request_timeout: Duration,
    limits: QueueLimits,
    hook: Option<TroubleHook>,
}

impl HttpSinkBuilder {
    pub(crate) fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            token: None,
            gzip: true,
            request_timeout: Duration::from_secs(30),
            limits: QueueLimits {
                lines: 10_000,
                bytes: 64 * 1024 * 1024,
                batch_lines: 500,
                batch_bytes: 1024 * 1024,
                linger: Duration::from_millis(200),
            },
            hook: None,
        }
    }

    pub(crate) fn from_env() -> Self {
        let variable = |name| env::var(name).ok().filter(|value| !value.is_empty());
        let url = variable(URL_VARIABLE).unwrap_or_else(|| DEFAULT_URL.to_owned());
        Self {
            token: variable(TOKEN_VARIABLE),
            ..Self::new(url)
        }
    }

    /// The token, which says whose events these are. Default: none, which a server takes on loopback.
    pub fn with_token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Whether bodies of 1 KiB and more are compressed. Default: yes.
    pub const fn with_gzip(mut self, gzip: bool) -> Self {
        self.gzip = gzip;
        self
    }

    /// How many lines, and bytes of them, may wait for the server or be on their way. Default: 10,000
    /// lines, 64 MiB. What comes beyond that is dropped and counted.
    pub const fn with_capacity(mut self, lines: usize, bytes: usize) -> Self {
        self.limits.lines = lines;
        self.limits.bytes = bytes;
        self
    }

    /// A batch goes with so many lines, or so long after its first. Default: 500 lines, 200 ms.
    pub const fn with_batch(mut self, lines: usize, linger: Duration) -> Self {
        self.limits.batch_lines = lines;
        self.limits.linger = linger;
        self
    }

    /// After which an answer is waited for no more, and the batch sent again. Default: 30 s.
    pub const fn with_request_timeout(mut self, timeout: Duration) -> Self {
        self.request_timeout = timeout;
        self
    }

    /// Is told of each [`Trouble`], in place of the log. It is called in the middle of the agent's
    /// work, so it has to be quick.
    pub fn on_trouble(mut self, hook: impl Fn(&Trouble) + Send + Sync + 'static) -> Self {
        self.hook = Some(Arc::new(hook));
        self
    }

    /// Starts the worker.
    ///
    /// # Errors
    /// When address or token are unfit, or there is no tokio runtime.
    pub fn build(self) -> Result<HttpSink, BuildError> {
        let runtime = tokio::runtime::Handle::try_current().map_err(|_| BuildError::NoRuntime)?;
        let url = events_url(&self.url).ok_or_else(|| BuildError::Url(self.url.clone()))?;
        let headers = default_headers(self.token.as_deref()).ok_or(BuildError::Token)?;
        let client = Client::builder()
            .default_headers(headers)
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(self.request_timeout)
            // A redirected POST would become a GET.
            .redirect(redirect::Policy::none())
            .build()
            .map_err(|error| BuildError::Client(error.to_string()))?;
        let target = Target {
            url,
            gzip: self.gzip,
        };
        let queue = Arc::new(Queue::new(self.limits));
        let report = Arc::new(Report::new(self.hook));
        let worker = Worker {
            queue: Arc::clone(&queue),
            report: Arc::clone(&report),
            poster: Poster::new(client, &target),
        };
        let task = runtime.spawn(worker.run());
        Ok(HttpSink::new(queue, report, task))
    }
}

/// `POST /v1/events` below the address that was given.
fn events_url(base: &str) -> Option<Url> {
    let mut url = Url::parse(base).ok()?;
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    url.path_segments_mut()
        .ok()?
        .pop_if_empty()
        .extend(["v1", "events"]);
    url.set_query(Some("dialect=entelix"));
    Some(url)
}

#[cfg(test)]
mod tests {
    use super::{BuildError, HttpSinkBuilder, events_url};

    #[test]
    fn adds_the_path() {
        let url = |base| events_url(base).map(String::from);
        let at_root = "http://127.0.0.1:4321/v1/events?dialect=entelix";
        assert_eq!(url("http://127.0.0.1:4321").as_deref(), Some(at_root));
        assert_eq!(url("http://127.0.0.1:4321/").as_deref(), Some(at_root));
        assert_eq!(
            url("https://host/below/").as_deref(),
            Some("https://host/below/v1/events?dialect=entelix")
        );
        assert_eq!(url("127.0.0.1:4321"), None);
        assert_eq!(url("ftp://host"), None);
    }

    #[test]
    fn wants_a_runtime() {
        let built = HttpSinkBuilder::new("http://127.0.0.1:4321").build();
        assert_eq!(built.err(), Some(BuildError::NoRuntime));
    }

    #[tokio::test]
    async fn says_what_is_wrong() {
        let built = HttpSinkBuilder::new("localhost:4321").build();
        assert_eq!(built.err(), Some(BuildError::Url("localhost:4321".into())));
        let built = HttpSinkBuilder::new("http://127.0.0.1:4321").with_token("a\nb");
        assert_eq!(built.build().err(), Some(BuildError::Token));
    }
}

//! One request with its answer.

use std::io::Write;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use reqwest::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::{Client, Response, Url};

use crate::answer::{Answer, Rest};
use crate::options::Target;

/// Below it, gzip costs more than it saves.
const GZIP_FROM: usize = 1024;
/// An answer has some hundred bytes a line; more than this comes from something else.
const LONGEST_ANSWER: usize = 16 * 1024 * 1024;

pub struct Reply {
    pub answer: Answer,
    pub rest: Rest,
    /// What the server asked for.
    pub retry_after: Option<Duration>,
    /// For people: why the lines without a result have none.
    pub reason: String,
}

pub struct Poster {
    client: Client,
    url: Url,
    gzip: bool,
}

impl Poster {
    pub fn new(client: Client, target: &Target) -> Self {
        Self {
            client,
            url: target.url.clone(),
            gzip: target.gzip,
        }
    }

    pub async fn post(&self, lines: &[String]) -> Reply {
        match self.try_post(lines).await {
            Ok(reply) => reply,
            Err(error) => Reply {
                answer: Answer::default(),
                rest: Rest::Later,
                retry_after: None,
                reason: chain(&error),
            },
        }
    }

    async fn try_post(&self, lines: &[String]) -> reqwest::Result<Reply> {
        let mut request = self
            .client
            .post(self.url.clone())
            .header(CONTENT_TYPE, "application/x-ndjson");
        let plain = joined(lines);
        let is_worth_it = self.gzip && plain.len() >= GZIP_FROM;
        let body = match is_worth_it.then(|| gzipped(&plain)).flatten() {
            Some(gzipped) => {
                request = request.header(CONTENT_ENCODING, "gzip");
                gzipped
            }
            None => plain,
        };
        let response = request.body(body).send().await?;
        let status = response.status();
        let retry_after = retry_after(response.headers());
        let body = read(response).await?;
        let answer: Option<Answer> = serde_json::from_slice(&body).ok();
        let error = answer.as_ref().and_then(|answer| answer.error.as_ref());
        let rest = Rest::after(status.as_u16(), error.map(|error| error.code.as_str()));
        let reason = match &answer {
            Some(Answer {
                error: Some(error), ..
            }) => format!("{status}: {} ({})", error.message, error.code),
            Some(_) => format!("{status}, without results for all lines"),
            None => format!("{status}, with an answer that is not of `entelix-otel serve`"),
        };
        Ok(Reply {
            rest,
            answer: answer.unwrap_or_default(),
            retry_after,
            reason,
        })
    }
}

/// The headers of every request. `None` when the token is not fit for one.
pub fn default_headers(token: Option<&str>) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    if let Some(token) = token {
        let mut value = reqwest::header::HeaderValue::from_str(&format!("Bearer {token}")).ok()?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    Some(headers)
}

fn joined(lines: &[String]) -> Vec<u8> {
    let mut body = Vec::with_capacity(lines.iter().map(|line| line.len() + 1).sum());
    for line in lines {
        body.extend_from_slice(line.as_bytes());
        body.push(b'\n');
    }
    body
}

fn gzipped(plain: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(plain).ok()?;
    encoder.finish().ok()
}

/// The whole seconds of `Retry-After`; its other form, a date, is not one that this server uses.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse();
    seconds.ok().map(Duration::from_secs)
}

async fn read(mut response: Response) -> reqwest::Result<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > LONGEST_ANSWER {
            break;
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The error with its causes, since reqwest's own text says only that it could not send.
fn chain(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

//! A server that answers as `entelix-otel serve` does, and badly where a test wants it.

use std::collections::{HashSet, VecDeque};
use std::io::Read;
use std::sync::Arc;

use flate2::read::GzDecoder;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What the server does with a request.
#[derive(Clone, Debug)]
pub enum Then {
    /// Stores all lines and says so.
    Take,
    /// Stores so many lines, and answers with this status for the rest.
    TakeOnly(usize, u16),
    /// Stores nothing; the number is `Retry-After`, in seconds.
    Say(u16, Option<u64>),
    /// Stores all lines, and closes the connection without an answer.
    TakeAndHangUp,
    /// Closes the connection without reading further.
    HangUp,
    /// Rejects the lines of this run and stores the others.
    Reject(&'static str),
    /// Stores nothing of a body with more lines than that.
    AtMost(usize),
    /// Never answers.
    Stall,
    /// An answer of something else, as a proxy might give it.
    Page,
}

enum Answer {
    /// Status, further headers and body.
    Said(u16, String, String),
    HangUp,
    Never,
}

#[derive(Default)]
pub struct Seen {
    /// Stored lines, without those that came again.
    pub lines: Vec<Value>,
    /// The headers of each request, in lower case.
    pub heads: Vec<String>,
    /// How many lines each request had.
    pub batches: Vec<usize>,
    script: VecDeque<Then>,
    ids: HashSet<String>,
}

pub struct FakeServer {
    pub url: String,
    pub seen: Arc<Mutex<Seen>>,
}

impl FakeServer {
    /// Does what the script says, a step a request, and after its end takes all.
    pub async fn start(script: impl IntoIterator<Item = Then>) -> Self {
        Self::start_at("127.0.0.1:0", script).await
    }

    pub async fn start_at(address: &str, script: impl IntoIterator<Item = Then>) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Seen {
            script: script.into_iter().collect(),
            ..Seen::default()
        }));
        let shared = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        Self { url, seen }
    }

    pub fn lines(&self) -> Vec<Value> {
        self.seen.lock().lines.clone()
    }
}

/// One request: the connection is closed after the answer.
async fn serve(mut stream: TcpStream, seen: Arc<Mutex<Seen>>) {
    let Some((head, body)) = read_request(&mut stream).await else {
        return;
    };
    let body = if head.contains("content-encoding: gzip") {
        let mut plain = Vec::new();
        GzDecoder::new(&body[..]).read_to_end(&mut plain).unwrap();
        plain
    } else {
        body
    };
    let lines: Vec<Value> = String::from_utf8(body)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let answer = {
        let mut seen = seen.lock();
        seen.heads.push(head);
        seen.batches.push(lines.len());
        let then = seen.script.pop_front().unwrap_or(Then::Take);
        seen.answer(&then, lines)
    };
    match answer {
        Answer::Said(status, headers, body) => {
            let text = format!(
                "HTTP/1.1 {status} Said\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n{body}",
                body.len()
            );
            let _ = stream.write_all(text.as_bytes()).await;
        }
        Answer::HangUp => {}
        Answer::Never => std::future::pending().await,
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
    let length: usize = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))?
        .parse()
        .ok()?;
    while bytes.len() < end + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    Some((head, bytes.split_off(end)))
}

impl Seen {
    fn answer(&mut self, then: &Then, lines: Vec<Value>) -> Answer {
        let error = json!({"code": "some_code", "message": "some message"});
        let (status, results, error) = match then {
            Then::Take => (200, self.store(lines, |_| true), None),
            Then::TakeOnly(count, status) => {
                let taken = lines.into_iter().take(*count).collect();
                (*status, self.store(taken, |_| true), Some(error))
            }
            Then::Say(status, _) => (*status, Vec::new(), Some(error)),
            Then::Reject(run) => (200, self.store(lines, |line| line["run_id"] != *run), None),
            Then::AtMost(count) if lines.len() > *count => (413, Vec::new(), Some(error)),
            Then::AtMost(_) => (200, self.store(lines, |_| true), None),
            Then::Page => {
                return Answer::Said(200, String::new(), "<html>welcome</html>".to_owned());
            }
            Then::TakeAndHangUp => {
                self.store(lines, |_| true);
                return Answer::HangUp;
            }
            Then::HangUp => return Answer::HangUp,
            Then::Stall => return Answer::Never,
        };
        let mut body = json!({"lines": results.len(), "results": results});
        if let Some(error) = error {
            body["error"] = error;
        }
        let headers = match then {
            Then::Say(_, Some(seconds)) => format!("retry-after: {seconds}\r\n"),
            _ => String::new(),
        };
        Answer::Said(status, headers, body.to_string())
    }

    fn store(&mut self, lines: Vec<Value>, takes: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut results = Vec::new();
        for (index, line) in lines.into_iter().enumerate() {
            let number = index + 1;
            results.push(if !takes(&line) {
                json!({"line": number, "status": "rejected", "field": "run_id", "expected": "another"})
            } else if self.ids.insert(line["event_id"].to_string()) {
                self.lines.push(line);
                json!({"line": number, "status": "accepted"})
            } else {
                json!({"line": number, "status": "duplicate"})
            });
        }
        results
    }
}

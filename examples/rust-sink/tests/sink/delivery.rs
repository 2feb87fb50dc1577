//! What becomes of events when the server is slow, away or picky.

use std::sync::Arc;
use std::time::Duration;

use entelix_agents::{AgentEvent, AgentEventSink};
use entelix_core::TenantId;
use entelix_otel_sink::{Counts, DropReason, HttpSink, HttpSinkBuilder, RunContext, Trouble};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::fake_server::{FakeServer, Then};

const SOON: Duration = Duration::from_secs(20);

fn approved(run: &str, tool_use_id: impl Into<String>) -> AgentEvent<()> {
    AgentEvent::ToolCallApproved {
        run_id: run.to_owned(),
        tenant_id: TenantId::new("acme"),
        tool_use_id: tool_use_id.into(),
        tool: "refund".to_owned(),
    }
}

fn started(run: &str, parent: Option<&str>) -> AgentEvent<()> {
    AgentEvent::Started {
        run_id: run.to_owned(),
        tenant_id: TenantId::new("acme"),
        parent_run_id: parent.map(str::to_owned),
        agent: "support".to_owned(),
    }
}

/// Sends so many events of one run.
async fn send(sink: &HttpSink, count: usize) {
    for number in 0..count {
        sink.send(approved("r1", number.to_string())).await.unwrap();
    }
}

/// The numbers that [`send`] gave, in the order in which the server stored them.
fn stored(server: &FakeServer) -> Vec<usize> {
    let number = |line: Value| line["tool_use_id"].as_str().unwrap().parse().unwrap();
    server.lines().into_iter().map(number).collect()
}

type Troubles = Arc<Mutex<Vec<Trouble>>>;

fn told(builder: HttpSinkBuilder) -> (HttpSinkBuilder, Troubles) {
    let troubles = Troubles::default();
    let told = Arc::clone(&troubles);
    let builder = builder.on_trouble(move |trouble| told.lock().push(trouble.clone()));
    (builder, troubles)
}

/// Sends ten events to a server with this script; all of them have to be there once, in their order.
async fn arrives_after(script: impl IntoIterator<Item = Then>) -> (Counts, Vec<Trouble>) {
    let server = FakeServer::start(script).await;
    let (builder, troubles) = told(HttpSink::builder(&server.url));
    let sink = builder
        .with_request_timeout(Duration::from_millis(500))
        .build()
        .unwrap();
    send(&sink, 10).await;
    let counts = sink.close(SOON).await;
    assert_eq!(stored(&server), (0..10).collect::<Vec<_>>());
    assert_eq!((counts.dropped, counts.rejected, counts.waiting), (0, 0, 0));
    assert_eq!(counts.accepted + counts.duplicate, 10);
    let troubles = troubles.lock().clone();
    (counts, troubles)
}

#[tokio::test]
async fn sends_a_batch_with_token_and_dialect() {
    let server = FakeServer::start([]).await;
    let sink = HttpSink::builder(&server.url)
        .with_token("secret")
        .build()
        .unwrap();
    send(&sink, 100).await;
    sink.flush().await;
    assert_eq!(stored(&server), (0..100).collect::<Vec<_>>());
    let seen = server.seen.lock();
    assert_eq!(seen.batches, [100]);
    let head = &seen.heads[0];
    assert!(head.starts_with("post /v1/events?dialect=entelix http/1.1\r\n"));
    assert!(head.contains("\r\nauthorization: bearer secret\r\n"));
    assert!(head.contains("\r\ncontent-type: application/x-ndjson\r\n"));
    assert!(head.contains("\r\ncontent-encoding: gzip\r\n"));
}

#[tokio::test]
async fn sends_plain_text_where_that_is_asked_for() {
    let server = FakeServer::start([]).await;
    let sink = HttpSink::builder(&server.url)
        .with_gzip(false)
        .build()
        .unwrap();
    send(&sink, 100).await;
    sink.flush().await;
    assert_eq!(stored(&server).len(), 100);
    assert!(!server.seen.lock().heads[0].contains("content-encoding"));
}

#[tokio::test]
async fn fills_batches() {
    let server = FakeServer::start([]).await;
    let sink = HttpSink::builder(&server.url)
        .with_batch(40, Duration::from_hours(1))
        .build()
        .unwrap();
    send(&sink, 100).await;
    sink.flush().await;
    assert_eq!(server.seen.lock().batches, [40, 40, 20]);
}

#[tokio::test]
async fn sends_without_a_flush() {
    let server = FakeServer::start([]).await;
    let sink = HttpSink::builder(&server.url).build().unwrap();
    send(&sink, 1).await;
    while server.lines().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(stored(&server), [0]);
}

#[tokio::test]
async fn numbers_and_dates_each_event_of_a_run() {
    let server = FakeServer::start([]).await;
    let sink = HttpSink::builder(&server.url).build().unwrap();
    for run in ["a", "b", "a", "a", "b"] {
        sink.send(approved(run, "")).await.unwrap();
    }
    sink.flush().await;
    let lines = server.lines();
    let sequences: Vec<_> = lines.iter().map(|line| line["sequence"].clone()).collect();
    assert_eq!(sequences, [0, 0, 1, 2, 1]);
    let text = |line: &Value, field: &str| line[field].as_str().unwrap().to_owned();
    let ids: Vec<_> = lines.iter().map(|line| text(line, "event_id")).collect();
    assert!(
        ids.iter()
            .all(|id| id.len() == 36 && id.as_bytes()[14] == b'7'),
        "{ids:?}"
    );
    let times: Vec<_> = lines.iter().map(|line| text(line, "timestamp")).collect();
    assert!(times.is_sorted());
    // Nanoseconds and Z: 2026-04-29T12:00:00.123456789Z.
    assert!(
        times
            .iter()
            .all(|time| time.len() == 30 && time.ends_with('Z')),
        "{times:?}"
    );
}

#[tokio::test]
async fn adds_what_the_caller_knows_of_the_run() {
    let server = FakeServer::start([]).await;
    let sink = HttpSink::builder(&server.url).build().unwrap();
    let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    RunContext::of_thread("t-7")
        .resuming("r0")
        .with_traceparent(traceparent)
        .scope(async {
            sink.send(started("r1", None)).await.unwrap();
            sink.send(started("r2", Some("r1"))).await.unwrap();
        })
        .await;
    sink.send(started("r3", None)).await.unwrap();
    sink.flush().await;
    let context: Vec<_> = server
        .lines()
        .into_iter()
        .map(|line| {
            json!([
                line["thread_id"],
                line["resumed_from_run_id"],
                line["traceparent"]
            ])
        })
        .collect();
    assert_eq!(
        context,
        [
            json!(["t-7", "r0", traceparent]),
            json!(["t-7", null, null]),
            json!([null, null, null])
        ]
    );
}

#[tokio::test]
async fn sends_again_what_had_no_answer() {
    for lost in [Then::HangUp, Then::TakeAndHangUp, Then::Stall, Then::Page] {
        let again = matches!(lost, Then::TakeAndHangUp);
        let (counts, troubles) = arrives_after([lost.clone(), lost]).await;
        assert_eq!(counts.duplicate, if again { 10 } else { 0 });
        assert_eq!(counts.delays, 2);
        assert!(
            matches!(troubles[1], Trouble::Delayed { attempt: 2, .. }),
            "{troubles:?}"
        );
    }
}

#[tokio::test]
async fn waits_out_what_passes() {
    for status in [401, 404, 408, 429, 500, 502, 503] {
        let (_, troubles) = arrives_after([Then::Say(status, None)]).await;
        let [Trouble::Delayed { reason, .. }] = &troubles[..] else {
            panic!("{status}: {troubles:?}");
        };
        assert!(reason.starts_with(&status.to_string()), "{reason}");
        assert!(reason.ends_with("some message (some_code)"), "{reason}");
    }
}

#[tokio::test]
async fn waits_as_long_as_the_server_asks() {
    let (_, troubles) = arrives_after([Then::Say(503, Some(1))]).await;
    let [Trouble::Delayed { wait, .. }] = troubles[..] else {
        panic!("{troubles:?}");
    };
    assert_eq!(wait, Duration::from_secs(1));
}

#[tokio::test]
async fn sends_again_only_what_was_not_taken() {
    let server = FakeServer::start([Then::TakeOnly(3, 429), Then::TakeOnly(2, 503)]).await;
    let sink = HttpSink::builder(&server.url).build().unwrap();
    send(&sink, 10).await;
    let counts = sink.close(SOON).await;
    assert_eq!(stored(&server), (0..10).collect::<Vec<_>>());
    assert_eq!(server.seen.lock().batches, [10, 7, 5]);
    assert_eq!((counts.accepted, counts.duplicate), (10, 0));
}

#[tokio::test]
async fn makes_smaller_batches_of_one_that_is_too_large() {
    let server = FakeServer::start([3, 3, 3, 3, 3].map(Then::AtMost)).await;
    let sink = HttpSink::builder(&server.url).build().unwrap();
    send(&sink, 10).await;
    let counts = sink.close(SOON).await;
    assert_eq!(stored(&server), (0..10).collect::<Vec<_>>());
    assert_eq!(server.seen.lock().batches, [10, 5, 2, 2, 2, 2, 2]);
    assert_eq!((counts.accepted, counts.dropped), (10, 0));
}

#[tokio::test]
async fn gives_up_a_single_line_that_is_too_large() {
    let server = FakeServer::start([Then::AtMost(0)]).await;
    let (builder, troubles) = told(HttpSink::builder(&server.url));
    let sink = builder.build().unwrap();
    send(&sink, 1).await;
    sink.flush().await;
    let reason = "413 Payload Too Large: some message (some_code)".to_owned();
    assert_eq!(
        *troubles.lock(),
        [Trouble::Dropped {
            lines: 1,
            reason: DropReason::Refused(reason)
        }]
    );
    assert_eq!(sink.dropped(), 1);
}

#[tokio::test]
async fn gives_up_what_the_server_will_never_take() {
    let server = FakeServer::start([Then::Say(400, None)]).await;
    let sink = HttpSink::builder(&server.url).build().unwrap();
    send(&sink, 4).await;
    sink.flush().await;
    assert_eq!(sink.dropped(), 4);
    send(&sink, 2).await;
    let counts = sink.close(SOON).await;
    assert_eq!((counts.dropped, counts.accepted), (4, 2));
}

#[tokio::test]
async fn tells_of_rejected_lines_and_sends_the_others() {
    let server = FakeServer::start([Then::Reject("other")]).await;
    let (builder, troubles) = told(HttpSink::builder(&server.url));
    let sink = builder.build().unwrap();
    send(&sink, 2).await;
    sink.send(approved("other", "x")).await.unwrap();
    sink.flush().await;
    assert_eq!(stored(&server), [0, 1]);
    let troubles = troubles.lock();
    let [
        Trouble::Rejected {
            line,
            field,
            expected,
        },
    ] = &troubles[..]
    else {
        panic!("{troubles:?}");
    };
    assert!(line.contains(r#""run_id":"other""#));
    assert_eq!((field.as_str(), expected.as_str()), ("run_id", "another"));
    assert_eq!((sink.counts().rejected, sink.counts().accepted), (1, 2));
}

/// An address where nobody listens.
async fn nobody() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

#[tokio::test]
async fn drops_what_has_no_room_and_never_fails_the_agent() {
    let (builder, troubles) = told(HttpSink::builder(nobody().await).with_capacity(3, 1 << 20));
    let sink = builder.build().unwrap();
    send(&sink, 5).await;
    let full = Trouble::Dropped {
        lines: 1,
        reason: DropReason::QueueFull,
    };
    assert_eq!(*troubles.lock(), [full.clone(), full]);
    assert_eq!((sink.dropped(), sink.counts().waiting), (2, 3));
}

#[tokio::test]
async fn counts_what_is_left_when_its_time_to_close_is_over() {
    let sink = HttpSink::builder(nobody().await).build().unwrap();
    send(&sink, 5).await;
    let counts = sink.close(Duration::from_millis(300)).await;
    assert_eq!((counts.dropped, counts.waiting), (5, 0));
    assert!(counts.delays > 0);
    send(&sink, 1).await;
    assert_eq!(sink.dropped(), 6);
    // A second one has nothing to do, and nothing to wait for.
    assert_eq!(sink.close(SOON).await.dropped, 6);
    sink.flush().await;
}

#[tokio::test]
async fn arrives_when_the_server_comes_back() {
    let url = nobody().await;
    let address = url.trim_start_matches("http://").to_owned();
    let sink = HttpSink::builder(url).build().unwrap();
    send(&sink, 10).await;
    while sink.counts().delays < 2 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let server = FakeServer::start_at(&address, []).await;
    let counts = sink.close(SOON).await;
    assert_eq!(stored(&server), (0..10).collect::<Vec<_>>());
    assert_eq!((counts.accepted, counts.dropped), (10, 0));
}

#[tokio::test]
async fn sends_the_rest_when_nobody_has_it_any_more() {
    let server = FakeServer::start([]).await;
    let sink = HttpSink::builder(&server.url)
        .with_batch(1000, Duration::from_hours(1))
        .build()
        .unwrap();
    send(&sink, 10).await;
    drop(sink);
    while server.lines().len() < 10 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

//! The lines on the wire against events that were recorded from real agents and written by hand: the
//! golden vectors of the bridge, which it decodes in its own tests.

use std::path::Path;
use std::time::Duration;

use entelix_agents::{AgentEvent, AgentEventSink, FailureKind};
use entelix_core::{Error, ErrorEnvelope, TenantId};
use entelix_otel_sink::HttpSink;
use serde_json::Value;

use crate::fake_server::FakeServer;

/// Each line of a golden file.
fn golden(name: &str) -> Vec<Value> {
    // Asked when the test runs: a cached program may have been compiled in another clone.
    let package = std::env::var("CARGO_MANIFEST_DIR").expect("cargo runs this test");
    let folder = Path::new(&package).join("../../test/golden");
    std::fs::read_to_string(folder.join(name))
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The upstream value that a golden event was written from.
fn event_of(json: &Value) -> AgentEvent<Value> {
    let text = |field: &str| json[field].as_str().unwrap().to_owned();
    let optional = |field: &str| json[field].as_str().map(str::to_owned);
    let run_id = text("run_id");
    let tenant_id = TenantId::new(text("tenant_id"));
    let tool_use_id = || text("tool_use_id");
    let tool = || text("tool");
    match json["type"].as_str().unwrap() {
        "started" => AgentEvent::Started {
            run_id,
            tenant_id,
            parent_run_id: optional("parent_run_id"),
            agent: text("agent"),
        },
        "tool_start" => AgentEvent::ToolStart {
            run_id,
            tenant_id,
            tool_use_id: tool_use_id(),
            tool: tool(),
            tool_version: optional("tool_version"),
            input: json["input"].clone(),
        },
        "tool_complete" => AgentEvent::ToolComplete {
            run_id,
            tenant_id,
            tool_use_id: tool_use_id(),
            tool: tool(),
            tool_version: optional("tool_version"),
            duration_ms: json["duration_ms"].as_u64().unwrap(),
            output: json["output"].clone(),
        },
        "tool_error" => AgentEvent::ToolError {
            run_id,
            tenant_id,
            tool_use_id: tool_use_id(),
            tool: tool(),
            tool_version: optional("tool_version"),
            error: text("error"),
            error_for_llm: serde_json::from_value(json["error_for_llm"].clone()).unwrap(),
            envelope: envelope_of(&json["envelope"]),
            kind: serde_json::from_value(json["kind"].clone()).unwrap(),
            duration_ms: json["duration_ms"].as_u64().unwrap(),
        },
        "failed" => AgentEvent::Failed {
            run_id,
            tenant_id,
            error: text("error"),
            envelope: envelope_of(&json["envelope"]),
            kind: failure_of(&json["kind"]),
        },
        "interrupted" => AgentEvent::Interrupted {
            run_id,
            tenant_id,
            kind: serde_json::from_value(json["kind"].clone()).unwrap(),
            payload: json["payload"].clone(),
        },
        "complete" => AgentEvent::Complete {
            run_id,
            tenant_id,
            state: json["state"].clone(),
            usage: serde_json::from_value(json["usage"].clone()).unwrap(),
        },
        "tool_call_approved" => AgentEvent::ToolCallApproved {
            run_id,
            tenant_id,
            tool_use_id: tool_use_id(),
            tool: tool(),
        },
        "tool_call_denied" => AgentEvent::ToolCallDenied {
            run_id,
            tenant_id,
            tool_use_id: tool_use_id(),
            tool: tool(),
            reason: text("reason"),
        },
        other => panic!("unknown type {other}"),
    }
}

/// Only upstream can make an envelope, so it comes from an error that has it.
fn envelope_of(json: &Value) -> ErrorEnvelope {
    let status = json["provider_status"].as_u64();
    let error = match json["wire_code"].as_str().unwrap() {
        "invalid_request" => Error::invalid_request(""),
        "config_error" => Error::config(""),
        "transport_failure" => Error::provider_network(""),
        "tls_failure" => Error::provider_tls(""),
        "dns_failure" => Error::provider_dns(""),
        "cancelled" => Error::Cancelled,
        "deadline_exceeded" => Error::DeadlineExceeded,
        "interrupted" => entelix_core::interrupt::<()>(Value::Null).unwrap_err(),
        "model_retry_exhausted" => {
            Error::model_retry(entelix_core::LlmRenderable::for_llm(&Error::Cancelled), 1)
        }
        "serde" => serde_json::from_str::<Value>("").unwrap_err().into(),
        "auth_failed" => entelix_core::auth::AuthError::missing().into(),
        "quota_exceeded" => {
            let budget = entelix_core::RunBudget::unlimited().with_request_limit(0);
            budget.check_pre_request().unwrap_err()
        }
        _ => Error::provider_http(u16::try_from(status.unwrap()).unwrap(), ""),
    };
    let envelope = match json["retry_after_secs"].as_u64() {
        Some(seconds) => error.with_retry_after(Duration::from_secs(seconds)),
        None => error,
    }
    .envelope();
    assert_eq!(&serde_json::to_value(envelope).unwrap(), json);
    envelope
}

fn failure_of(json: &Value) -> FailureKind {
    match json["type"].as_str().unwrap() {
        "tool_error_terminal" => FailureKind::ToolErrorTerminal {
            kind: serde_json::from_value(json["kind"].clone()).unwrap(),
            tool_name: json["tool_name"].as_str().unwrap().to_owned(),
        },
        "usage_limit_exceeded" => FailureKind::UsageLimitExceeded,
        "cancelled" => FailureKind::Cancelled,
        "deadline_exceeded" => FailureKind::DeadlineExceeded,
        "model_dispatch" => FailureKind::ModelDispatch,
        "internal" => FailureKind::Internal,
        "unclassified" => FailureKind::Unclassified,
        other => panic!("unknown kind {other}"),
    }
}

/// What the server gets for these events, without their envelopes.
async fn sent(events: &[&Value]) -> Vec<Value> {
    let server = FakeServer::start([]).await;
    let sink = HttpSink::builder(&server.url).build().unwrap();
    let stateful = sink.with_state(Value::clone);
    for event in events {
        stateful.send(event_of(event)).await.unwrap();
    }
    sink.flush().await;
    let mut lines = server.lines();
    assert_eq!(lines.len(), events.len());
    for line in &mut lines {
        let line = line.as_object_mut().unwrap();
        for field in ["event_id", "sequence", "timestamp"] {
            assert!(line.remove(field).is_some());
        }
    }
    lines
}

#[tokio::test]
async fn writes_every_golden_event() {
    let vectors = golden("entelix_events.jsonl");
    let events: Vec<_> = vectors.iter().map(|vector| &vector["event"]).collect();
    assert!(events.len() > 80);
    for (line, event) in sent(&events).await.iter().zip(&events) {
        assert_eq!(line, *event);
    }
}

#[tokio::test]
async fn writes_what_real_agents_emitted() {
    let runs = golden("entelix_lifecycles.jsonl");
    let events: Vec<_> = runs
        .iter()
        .flat_map(|run| run["events"].as_array().unwrap())
        .map(|seen| &seen["event"])
        .collect();
    assert!(events.len() > 50);
    for (line, event) in sent(&events).await.iter().zip(&events) {
        assert_eq!(line, *event);
    }
}

#[tokio::test]
async fn leaves_the_state_out_unless_it_is_asked_for() {
    let server = FakeServer::start([]).await;
    let sink = HttpSink::builder(&server.url).build().unwrap();
    let complete: AgentEvent<String> = AgentEvent::Complete {
        run_id: "r1".to_owned(),
        tenant_id: TenantId::new("acme"),
        state: "all that was said".to_owned(),
        usage: None,
    };
    sink.send(complete.clone()).await.unwrap();
    let lengths = sink.with_state(|state: &String| state.len().into());
    lengths.send(complete).await.unwrap();
    sink.flush().await;
    let states: Vec<_> = server
        .lines()
        .iter()
        .map(|line| line["state"].clone())
        .collect();
    assert_eq!(states, [Value::Null, 17.into()]);
}

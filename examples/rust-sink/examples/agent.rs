//! Real agents of entelix, with a scripted model, whose events go to `entelix-otel serve`:
//!
//! ```sh
//! ENTELIX_OTEL_URL=http://127.0.0.1:4321 cargo run --example agent -- [rounds] [pause in ms]
//! ```
//!
//! Prints a line of JSON for each run as it ends, and at the end what became of the events.

use std::env;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use entelix_agents::{
    AgentEvent, AgentEventSink, CaptureSink, FanOutSink, ReActAgentBuilder, ReActState, Subagent,
    ToolEventLayer,
};
use entelix_core::ir::{ContentPart, Message, Role};
use entelix_core::tools::{Tool, ToolErrorPolicy, ToolErrorPolicyLayer, ToolMetadata};
use entelix_core::{
    AgentContext, Error, ExecutionContext, Result, RunBudget, TenantId, ToolRegistry,
};
use entelix_otel_sink::{HttpSink, RunContext};
use entelix_runnable::Runnable;
use parking_lot::Mutex;
use serde_json::{Value, json};

type Sink = Arc<dyn AgentEventSink<ReActState>>;

/// How long what waits may take at the end.
const CLOSE: Duration = Duration::from_mins(1);

/// What the model says, turn by turn.
struct Script(Mutex<std::vec::IntoIter<Message>>);

impl Script {
    fn new(turns: Vec<Message>) -> Self {
        Self(Mutex::new(turns.into_iter()))
    }
}

#[async_trait]
impl Runnable<Vec<Message>, Message> for Script {
    async fn invoke(&self, _: Vec<Message>, _: &ExecutionContext) -> Result<Message> {
        let turn = self.0.lock().next();
        turn.ok_or_else(|| Error::invalid_request("the script is over"))
    }
}

fn call(id: &str, tool: &str, input: Value) -> Message {
    let part = ContentPart::ToolUse {
        id: id.to_owned(),
        name: tool.to_owned(),
        input,
        provider_echoes: Vec::new(),
    };
    Message::new(Role::Assistant, vec![part])
}

struct LookupOrder(ToolMetadata);

#[async_trait]
impl Tool for LookupOrder {
    fn metadata(&self) -> &ToolMetadata {
        &self.0
    }

    async fn execute(&self, input: Value, _: &AgentContext<()>) -> Result<Value> {
        Ok(json!({"order": input["order"], "total": "19.90"}))
    }
}

/// Fails as its input says, so that the script decides.
struct Refund(ToolMetadata);

#[async_trait]
impl Tool for Refund {
    fn metadata(&self) -> &ToolMetadata {
        &self.0
    }

    async fn execute(&self, input: Value, _: &AgentContext<()>) -> Result<Value> {
        match input["gateway"].as_str() {
            Some("busy") => Err(Error::provider_http(503, "payment gateway: busy")),
            Some("locked") => Err(Error::provider_http(401, "payment gateway: key expired")),
            _ => Ok(json!({"refunded": true})),
        }
    }
}

fn tools(sink: &Sink) -> Result<ToolRegistry> {
    let lookup = ToolMetadata::function("lookup_order", "Finds an order.", json!({}));
    let refund = ToolMetadata::function("refund", "Pays an order back.", json!({}));
    Ok(ToolRegistry::new()
        .register(Arc::new(LookupOrder(lookup.with_version("1.2.0"))))?
        .register(Arc::new(Refund(refund)))?
        // Inside the events' layer, so that those see what the policy made of an error.
        .layer(ToolErrorPolicyLayer::new(ToolErrorPolicy::operator_safe()))
        .layer(ToolEventLayer::new(Arc::clone(sink))))
}

/// What one of the agents is asked, and what its model says.
struct Scenario {
    name: &'static str,
    turns: Vec<Message>,
    /// Of a sub-agent `researcher`, if the agent has one.
    researcher: Option<Vec<Message>>,
}

fn scenarios() -> Vec<Scenario> {
    let order = json!({"order": 7});
    let busy = json!({"order": 7, "gateway": "busy"});
    let locked = json!({"order": 7, "gateway": "locked"});
    let lookup = || call("call_1", "lookup_order", order.clone());
    let refund = |input: &Value| call("call_2", "refund", input.clone());
    let task = json!({"task": "find order 7"});
    vec![
        Scenario {
            name: "completes",
            turns: vec![lookup(), refund(&order), Message::assistant("Refunded.")],
            researcher: None,
        },
        Scenario {
            name: "recovers",
            turns: vec![lookup(), refund(&busy), Message::assistant("Tomorrow.")],
            researcher: None,
        },
        Scenario {
            name: "fails",
            turns: vec![lookup(), refund(&locked)],
            researcher: None,
        },
        Scenario {
            name: "delegates",
            turns: vec![
                call("call_1", "researcher", task),
                Message::assistant("Found."),
            ],
            researcher: Some(vec![lookup(), Message::assistant("Order 7: 19.90.")]),
        },
    ]
}

/// Runs one agent, and says what it was and how many events it had.
async fn play(scenario: Scenario, http: &HttpSink, tenant: &TenantId) -> Result<Value> {
    let seen = CaptureSink::<ReActState>::new();
    let sink: Sink = Arc::new(
        FanOutSink::new()
            .push(Arc::new(http.clone()))
            .push(Arc::new(seen.clone())),
    );
    let mut tools = tools(&sink)?;
    if let Some(turns) = scenario.researcher {
        let model = Script::new(turns);
        let researcher = Subagent::builder(model, &tools, "researcher", "Finds things out.")
            .restrict_to(&["lookup_order"])
            .add_sink(Arc::clone(&sink))
            .build()?;
        tools = tools.register(Arc::new(researcher.into_tool()?))?;
    }
    let agent = ReActAgentBuilder::new(Script::new(scenario.turns), tools)
        .with_name("support")
        .add_sink(sink)
        .build()?;
    let thread = format!("ticket-{}", scenario.name);
    let context = ExecutionContext::new()
        .with_tenant_id(tenant.clone())
        .with_thread_id(&thread)
        .with_run_budget(RunBudget::unlimited().with_tool_calls_limit(8));
    let run = agent.execute(ReActState::from_user("refund order 7"), &context);
    let outcome = RunContext::of_thread(&thread).scope(run).await;
    let events = seen.events();
    let run_ids: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            AgentEvent::Started { run_id, .. } => Some(run_id),
            _ => None,
        })
        .collect();
    Ok(json!({
        "scenario": scenario.name,
        "run_ids": run_ids,
        "events": events.len(),
        "error": outcome.err().map(|error| error.to_string()),
    }))
}

#[tokio::main]
async fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let mut numbers = env::args().skip(1).map(|argument| argument.parse::<u32>());
    let rounds = numbers.next().transpose()?.unwrap_or(1);
    let pause = Duration::from_millis(numbers.next().transpose()?.unwrap_or(0).into());
    let tenant = TenantId::new(env::var("TENANT").unwrap_or_else(|_| "acme".to_owned()));
    let sink = HttpSink::from_env()?;
    for _ in 0..rounds {
        for scenario in scenarios() {
            println!("{}", play(scenario, &sink, &tenant).await?);
        }
        tokio::time::sleep(pause).await;
    }
    let counts = sink.close(CLOSE).await;
    println!(
        "{}",
        json!({
            "accepted": counts.accepted,
            "duplicate": counts.duplicate,
            "rejected": counts.rejected,
            "dropped": counts.dropped,
            "delays": counts.delays,
        })
    );
    Ok(())
}

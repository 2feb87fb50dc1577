//! The sink that agents are given.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use entelix_agents::{AgentEvent, AgentEventSink};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::line::LineWriter;
use crate::options::{BuildError, HttpSinkBuilder};
use crate::queue::Queue;
use crate::report::{Counts, DropReason, Report, Trouble};
use crate::wire_event::WireEvent;

/// Sends events to `entelix-otel serve`, without ever blocking or failing the agent.
///
/// One sink serves all agents of a process, whatever their state, and every clone is the same sink.
/// Give the same one to the agent and to the layers that emit tool events:
///
/// ```no_run
/// # use std::{sync::Arc, time::Duration};
/// # use entelix_agents::{ReActState, ToolEventLayer};
/// # use entelix_core::ToolRegistry;
/// use entelix_otel_sink::HttpSink;
///
/// # async fn example(tools: ToolRegistry) -> Result<(), Box<dyn std::error::Error>> {
/// let sink = HttpSink::builder("https://telemetry.example:4321")
///     .with_token(std::env::var("TOKEN")?)
///     .on_trouble(|trouble| eprintln!("{trouble:?}"))
///     .build()?;
/// let tools = tools.layer(ToolEventLayer::<ReActState>::new(Arc::new(sink.clone())));
/// // … `.add_sink(Arc::new(sink.clone()))` on the agent, and before the process ends:
/// let counts = sink.close(Duration::from_secs(5)).await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct HttpSink {
    shared: Arc<Shared>,
}

struct Shared {
    queue: Arc<Queue>,
    report: Arc<Report>,
    lines: LineWriter,
    /// Gone once the sink was closed.
    worker: Mutex<Option<JoinHandle<()>>>,
}

/// Without a `close`, the worker sends what waits and ends.
impl Drop for Shared {
    fn drop(&mut self) {
        self.queue.close();
    }
}

impl HttpSink {
    /// Options for a server at this address, such as `https://telemetry.example:4321`.
    pub fn builder(url: impl Into<String>) -> HttpSinkBuilder {
        HttpSinkBuilder::new(url)
    }

    /// A sink as `ENTELIX_OTEL_URL` (default `http://127.0.0.1:4321`) and `ENTELIX_OTEL_TOKEN` say.
    ///
    /// # Errors
    /// As [`HttpSinkBuilder::build`].
    pub fn from_env() -> Result<Self, BuildError> {
        HttpSinkBuilder::from_env().build()
    }

    pub(crate) fn new(queue: Arc<Queue>, report: Arc<Report>, worker: JoinHandle<()>) -> Self {
        Self {
            shared: Arc::new(Shared {
                queue,
                report,
                lines: LineWriter::default(),
                worker: Mutex::new(Some(worker)),
            }),
        }
    }

    /// How many lines had which fate so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.shared.report.counts(self.shared.queue.held())
    }

    /// Lines that were given up so far; anything but 0 is a gap in the traces.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.counts().dropped
    }

    /// Resolves when the fate of everything sent so far is known; while the server is away, it waits.
    pub async fn flush(&self) {
        self.shared.queue.flushed().await;
    }

    /// Takes no more events, and sends what waits. What the server has not answered for within this
    /// time is counted as dropped, though it may have arrived. To be called before the process ends.
    pub async fn close(&self, within: Duration) -> Counts {
        let Shared { queue, report, .. } = &*self.shared;
        queue.close();
        let worker = self.shared.worker.lock().take();
        if let Some(mut worker) = worker {
            if timeout(within, &mut worker).await.is_err() {
                worker.abort();
                // Until it is gone it might settle a line that is abandoned here.
                let _ = worker.await;
            }
            let lines = queue.abandon() as u64;
            if lines > 0 {
                let reason = DropReason::Closed;
                report.trouble(&Trouble::Dropped { lines, reason });
            }
        }
        self.counts()
    }

    /// A sink for agents of one state type that sends the final state too, as the closure makes it.
    /// Without it, `complete` has no state: it holds all that was said.
    pub fn with_state<S>(
        &self,
        state: impl Fn(&S) -> Value + Send + Sync + 'static,
    ) -> StatefulSink<S> {
        StatefulSink {
            sink: self.clone(),
            state: Box::new(state),
        }
    }

    fn take<S>(&self, event: &AgentEvent<S>, state: &Value) {
        let Shared {
            queue,
            report,
            lines,
            ..
        } = &*self.shared;
        let line = WireEvent::of(event, state).and_then(|event| lines.write(&event).ok());
        let dropped = match line.map(|line| queue.push(line)) {
            Some(Ok(())) => return,
            Some(Err((_, reason))) => reason,
            None => DropReason::NotJson,
        };
        report.trouble(&Trouble::Dropped {
            lines: 1,
            reason: dropped,
        });
    }
}

#[async_trait]
impl<S> AgentEventSink<S> for HttpSink
where
    S: Clone + Send + Sync + 'static,
{
    async fn send(&self, event: AgentEvent<S>) -> entelix_core::Result<()> {
        self.take(&event, &Value::Null);
        Ok(())
    }
}

/// An [`HttpSink`] that sends the final state too; see [`HttpSink::with_state`].
pub struct StatefulSink<S> {
    sink: HttpSink,
    state: Box<dyn Fn(&S) -> Value + Send + Sync>,
}

#[async_trait]
impl<S> AgentEventSink<S> for StatefulSink<S>
where
    S: Clone + Send + Sync + 'static,
{
    async fn send(&self, event: AgentEvent<S>) -> entelix_core::Result<()> {
        let state = match &event {
            AgentEvent::Complete { state, .. } => (self.state)(state),
            _ => Value::Null,
        };
        self.sink.take(&event, &state);
        Ok(())
    }
}

//! What the events of a run do not say and the caller of the agent knows.

use std::future::Future;

use serde::Serialize;

use crate::wire_event::WireEvent;

tokio::task_local! {
    static CURRENT: RunContext;
}

/// What goes along with the events of the runs inside [`RunContext::scope`]: entelix's events name
/// neither the thread nor the run that is resumed.
///
/// It follows the task, so a run that is spawned as a task of its own needs its own scope.
///
/// ```no_run
/// # async fn example(agent: entelix_agents::Agent<entelix_agents::ReActState>) {
/// # use entelix_agents::ReActState;
/// use entelix_core::ExecutionContext;
/// use entelix_otel_sink::RunContext;
///
/// let context = ExecutionContext::new().with_thread_id("ticket-4711");
/// let run = agent.execute(ReActState::from_user("refund order 7"), &context);
/// let result = RunContext::of_thread("ticket-4711").scope(run).await;
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "it does nothing without `scope`"]
pub struct RunContext {
    thread_id: Option<String>,
    resumed_from_run_id: Option<String>,
    traceparent: Option<String>,
}

impl RunContext {
    /// Runs of this thread: the conversation on spans, and the thread of the audit log.
    pub fn of_thread(thread_id: impl Into<String>) -> Self {
        Self {
            thread_id: Some(thread_id.into()),
            ..Self::default()
        }
    }

    /// The interrupted run that the next one resumes; the spans are linked.
    pub fn resuming(mut self, run_id: impl Into<String>) -> Self {
        self.resumed_from_run_id = Some(run_id.into());
        self
    }

    /// The W3C `traceparent` of who called. Followed for tokens that are marked as trusted.
    pub fn with_traceparent(mut self, traceparent: impl Into<String>) -> Self {
        self.traceparent = Some(traceparent.into());
        self
    }

    /// Runs the future with this context; events that sinks get inside it carry it.
    pub async fn scope<F: Future>(self, future: F) -> F::Output {
        CURRENT.scope(self, future).await
    }

    pub(crate) fn current() -> Self {
        CURRENT.try_with(Self::clone).unwrap_or_default()
    }

    /// The part for one event: only a start is resumed or called by somebody, and a child run is
    /// called by its parent.
    pub(crate) fn fields_for<'a>(&'a self, event: &WireEvent<'_>) -> ContextFields<'a> {
        let is_root = matches!(
            event,
            WireEvent::Started {
                parent_run_id: None,
                ..
            }
        );
        let at_root = |field: &'a Option<String>| field.as_deref().filter(|_| is_root);
        ContextFields {
            thread_id: self.thread_id.as_deref(),
            resumed_from_run_id: at_root(&self.resumed_from_run_id),
            traceparent: at_root(&self.traceparent),
        }
    }
}

#[derive(Serialize)]
pub struct ContextFields<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resumed_from_run_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    traceparent: Option<&'a str>,
}

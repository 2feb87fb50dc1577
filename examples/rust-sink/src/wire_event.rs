//! The JSON of an event. `AgentEvent` has no serde of its own, so this is where its form on the
//! wire stands: tagged by `type`, fields named and ordered as in Rust.

use entelix_agents::{AgentEvent, FailureKind};
use entelix_core::{
    ErrorEnvelope, InterruptionKind, RenderedForLlm, TenantId, ToolErrorKind, UsageSnapshot,
};
use serde::Serialize;
use serde_json::Value;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum WireEvent<'a> {
    Started {
        run_id: &'a str,
        tenant_id: &'a TenantId,
        parent_run_id: Option<&'a str>,
        agent: &'a str,
    },
    ToolStart {
        run_id: &'a str,
        tenant_id: &'a TenantId,
        tool_use_id: &'a str,
        tool: &'a str,
        tool_version: Option<&'a str>,
        input: &'a Value,
    },
    ToolComplete {
        run_id: &'a str,
        tenant_id: &'a TenantId,
        tool_use_id: &'a str,
        tool: &'a str,
        tool_version: Option<&'a str>,
        duration_ms: u64,
        output: &'a Value,
    },
    ToolError {
        run_id: &'a str,
        tenant_id: &'a TenantId,
        tool_use_id: &'a str,
        tool: &'a str,
        tool_version: Option<&'a str>,
        error: &'a str,
        error_for_llm: &'a RenderedForLlm<String>,
        envelope: ErrorEnvelope,
        kind: ToolErrorKind,
        duration_ms: u64,
    },
    Failed {
        run_id: &'a str,
        tenant_id: &'a TenantId,
        error: &'a str,
        envelope: ErrorEnvelope,
        kind: WireFailureKind<'a>,
    },
    Interrupted {
        run_id: &'a str,
        tenant_id: &'a TenantId,
        kind: &'a InterruptionKind,
        payload: &'a Value,
    },
    Complete {
        run_id: &'a str,
        tenant_id: &'a TenantId,
        state: &'a Value,
        usage: Option<&'a UsageSnapshot>,
    },
    ToolCallApproved {
        run_id: &'a str,
        tenant_id: &'a TenantId,
        tool_use_id: &'a str,
        tool: &'a str,
    },
    ToolCallDenied {
        run_id: &'a str,
        tenant_id: &'a TenantId,
        tool_use_id: &'a str,
        tool: &'a str,
        reason: &'a str,
    },
}

/// `{"type": wire_id}`, and for a terminal tool error what is known of the tool.
#[derive(Serialize)]
pub struct WireFailureKind<'a> {
    #[serde(rename = "type")]
    wire_id: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<ToolErrorKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<&'a str>,
}

impl<'a> From<&'a FailureKind> for WireFailureKind<'a> {
    fn from(failure: &'a FailureKind) -> Self {
        let (kind, tool_name) = match failure {
            FailureKind::ToolErrorTerminal { kind, tool_name } => {
                (Some(*kind), Some(tool_name.as_str()))
            }
            _ => (None, None),
        };
        Self {
            wire_id: failure.wire_id(),
            kind,
            tool_name,
        }
    }
}

impl<'a> WireEvent<'a> {
    /// The event with `state` in the place of the agent's own; `None` for a kind of event that
    /// entelix-agents 0.6.1 does not have.
    #[expect(clippy::too_many_lines, reason = "an arm for each kind of event")]
    pub fn of<S>(event: &'a AgentEvent<S>, state: &'a Value) -> Option<Self> {
        Some(match event {
            AgentEvent::Started {
                run_id,
                tenant_id,
                parent_run_id,
                agent,
            } => Self::Started {
                run_id,
                tenant_id,
                parent_run_id: parent_run_id.as_deref(),
                agent,
            },
            AgentEvent::ToolStart {
                run_id,
                tenant_id,
                tool_use_id,
                tool,
                tool_version,
                input,
            } => Self::ToolStart {
                run_id,
                tenant_id,
                tool_use_id,
                tool,
                tool_version: tool_version.as_deref(),
                input,
            },
            AgentEvent::ToolComplete {
                run_id,
                tenant_id,
                tool_use_id,
                tool,
                tool_version,
                duration_ms,
                output,
            } => Self::ToolComplete {
                run_id,
                tenant_id,
                tool_use_id,
                tool,
                tool_version: tool_version.as_deref(),
                duration_ms: *duration_ms,
                output,
            },
            AgentEvent::ToolError {
                run_id,
                tenant_id,
                tool_use_id,
                tool,
                tool_version,
                error,
                error_for_llm,
                envelope,
                kind,
                duration_ms,
            } => Self::ToolError {
                run_id,
                tenant_id,
                tool_use_id,
                tool,
                tool_version: tool_version.as_deref(),
                error,
                error_for_llm,
                envelope: *envelope,
                kind: *kind,
                duration_ms: *duration_ms,
            },
            AgentEvent::Failed {
                run_id,
                tenant_id,
                error,
                envelope,
                kind,
            } => Self::Failed {
                run_id,
                tenant_id,
                error,
                envelope: *envelope,
                kind: kind.into(),
            },
            AgentEvent::Interrupted {
                run_id,
                tenant_id,
                kind,
                payload,
            } => Self::Interrupted {
                run_id,
                tenant_id,
                kind,
                payload,
            },
            AgentEvent::Complete {
                run_id,
                tenant_id,
                usage,
                ..
            } => Self::Complete {
                run_id,
                tenant_id,
                state,
                usage: usage.as_ref(),
            },
            AgentEvent::ToolCallApproved {
                run_id,
                tenant_id,
                tool_use_id,
                tool,
            } => Self::ToolCallApproved {
                run_id,
                tenant_id,
                tool_use_id,
                tool,
            },
            AgentEvent::ToolCallDenied {
                run_id,
                tenant_id,
                tool_use_id,
                tool,
                reason,
            } => Self::ToolCallDenied {
                run_id,
                tenant_id,
                tool_use_id,
                tool,
                reason,
            },
            _ => return None,
        })
    }

    pub fn run_id(&self) -> &'a str {
        match self {
            Self::Started { run_id, .. }
            | Self::ToolStart { run_id, .. }
            | Self::ToolComplete { run_id, .. }
            | Self::ToolError { run_id, .. }
            | Self::Failed { run_id, .. }
            | Self::Interrupted { run_id, .. }
            | Self::Complete { run_id, .. }
            | Self::ToolCallApproved { run_id, .. }
            | Self::ToolCallDenied { run_id, .. } => run_id,
        }
    }
}

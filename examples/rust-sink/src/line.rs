//! A line of the wire: the event with its envelope.

use chrono::{SecondsFormat, Utc};
use parking_lot::Mutex;
use serde::Serialize;
use uuid::Uuid;

use crate::run_context::{ContextFields, RunContext};
use crate::sequences::Sequences;
use crate::wire_event::WireEvent;

/// Event and envelope side by side, as agent-sdk-foundation has them.
#[derive(Serialize)]
struct Line<'a> {
    /// By it a line that is sent again is known.
    event_id: Uuid,
    sequence: u64,
    /// RFC 3339 in UTC, with nanoseconds.
    timestamp: String,
    #[serde(flatten)]
    context: ContextFields<'a>,
    #[serde(flatten)]
    event: &'a WireEvent<'a>,
}

/// Makes the lines of one process.
#[derive(Default)]
pub struct LineWriter {
    sequences: Mutex<Sequences>,
}

impl LineWriter {
    /// The event as a line without its end, of this very moment.
    ///
    /// # Errors
    /// When a value of the event can't be JSON.
    pub fn write(&self, event: &WireEvent<'_>) -> serde_json::Result<String> {
        let context = RunContext::current();
        let (sequence, now) = {
            // Together, so that the order of times is that of the numbers.
            let mut sequences = self.sequences.lock();
            (sequences.next(event.run_id()), Utc::now())
        };
        serde_json::to_string(&Line {
            event_id: Uuid::now_v7(),
            sequence,
            timestamp: now.to_rfc3339_opts(SecondsFormat::Nanos, true),
            context: context.fields_for(event),
            event,
        })
    }
}

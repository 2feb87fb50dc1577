//! What became of the lines.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Why a line was given up.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DropReason {
    /// As much waits as may: the server is away, or slower than the agents.
    QueueFull,
    /// The sink was closed, or its time to close was over.
    Closed,
    /// An event that entelix-agents 0.6.1 does not have, or a value that can't be JSON.
    NotJson,
    /// The server will never take it as it is, with its answer.
    Refused(String),
}

/// Something that an operator should know.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trouble {
    /// These lines will not be sent, or nobody knows whether they arrived.
    Dropped {
        /// How many.
        lines: u64,
        /// Why.
        reason: DropReason,
    },
    /// The server has read the line and does not take it: another tenant's, too long, no event.
    Rejected {
        /// As it was sent.
        line: String,
        /// Which field is wrong.
        field: String,
        /// What was expected there.
        expected: String,
    },
    /// The lines stay here, and are sent again.
    Delayed {
        /// What the server answered, or why there was no answer.
        reason: String,
        /// How often in a row that was so.
        attempt: u32,
        /// Until the next attempt.
        wait: Duration,
    },
}

/// How many lines had which fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Stored by the server.
    pub accepted: u64,
    /// Known to the server already, from an attempt whose answer was lost.
    pub duplicate: u64,
    /// See [`Trouble::Rejected`].
    pub rejected: u64,
    /// See [`Trouble::Dropped`].
    pub dropped: u64,
    /// Requests that brought no answer for some of their lines, which were sent again.
    pub delays: u64,
    /// Lines that wait or are under way.
    pub waiting: u64,
}

/// What is told of [`Trouble`].
pub type TroubleHook = Arc<dyn Fn(&Trouble) + Send + Sync>;

#[derive(Default)]
pub struct Report {
    pub accepted: AtomicU64,
    pub duplicate: AtomicU64,
    rejected: AtomicU64,
    dropped: AtomicU64,
    delays: AtomicU64,
    hook: Option<TroubleHook>,
}

impl Report {
    pub fn new(hook: Option<TroubleHook>) -> Self {
        Self {
            hook,
            ..Self::default()
        }
    }

    /// Counts it, and tells the hook, or without one the log.
    pub fn trouble(&self, trouble: &Trouble) {
        let (count, by) = match trouble {
            Trouble::Dropped { lines, .. } => (&self.dropped, *lines),
            Trouble::Rejected { .. } => (&self.rejected, 1),
            Trouble::Delayed { .. } => (&self.delays, 1),
        };
        let before = count.fetch_add(by, Ordering::Relaxed);
        match &self.hook {
            // Neither the agent nor the worker pays for a hook that panics.
            Some(hook) => drop(catch_unwind(AssertUnwindSafe(|| hook(trouble)))),
            None if passes_a_power_of_two(before, before + by) => log(trouble, before + by),
            None => {}
        }
    }

    pub fn counts(&self, waiting: usize) -> Counts {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Counts {
            accepted: read(&self.accepted),
            duplicate: read(&self.duplicate),
            rejected: read(&self.rejected),
            dropped: read(&self.dropped),
            delays: read(&self.delays),
            waiting: waiting as u64,
        }
    }
}

/// So a server that is away for a day fills no log.
fn passes_a_power_of_two(before: u64, after: u64) -> bool {
    before.checked_ilog2() != after.checked_ilog2()
}

fn log(trouble: &Trouble, so_far: u64) {
    match trouble {
        Trouble::Dropped { lines, reason } => {
            tracing::warn!(lines, ?reason, so_far, "events dropped");
        }
        // Not the line: it holds what users wrote.
        Trouble::Rejected {
            field, expected, ..
        } => tracing::warn!(field, expected, so_far, "event rejected by the server"),
        Trouble::Delayed {
            reason,
            attempt,
            wait,
        } => tracing::warn!(reason, attempt, ?wait, so_far, "events wait for the server"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parking_lot::Mutex;

    use super::{DropReason, Report, Trouble, passes_a_power_of_two};

    fn dropped(lines: u64) -> Trouble {
        Trouble::Dropped {
            lines,
            reason: DropReason::QueueFull,
        }
    }

    #[test]
    fn tells_the_hook_all_and_counts() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&seen);
        let report = Report::new(Some(Arc::new(move |trouble| {
            told.lock().push(trouble.clone());
        })));
        report.trouble(&dropped(1));
        report.trouble(&dropped(2));
        assert_eq!(*seen.lock(), [dropped(1), dropped(2)]);
        assert_eq!(report.counts(5).dropped, 3);
        assert_eq!(report.counts(5).waiting, 5);
    }

    #[test]
    fn survives_a_hook_that_panics() {
        let report = Report::new(Some(Arc::new(|_| panic!("the hook's own trouble"))));
        report.trouble(&dropped(1));
        assert_eq!(report.counts(0).dropped, 1);
    }

    #[test]
    fn logs_at_powers_of_two() {
        let logged: Vec<u64> = (1..=16)
            .filter(|&after| passes_a_power_of_two(after - 1, after))
            .collect();
        assert_eq!(logged, [1, 2, 4, 8, 16]);
        assert!(passes_a_power_of_two(5, 100));
        assert!(!passes_a_power_of_two(5, 7));
    }
}

//! The bounded queue between the agent and the worker that sends.

use std::collections::VecDeque;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, timeout_at};

use crate::report::DropReason;

/// How much waits, and how much goes at once.
#[derive(Clone, Copy)]
pub struct QueueLimits {
    pub lines: usize,
    pub bytes: usize,
    pub batch_lines: usize,
    pub batch_bytes: usize,
    /// How long a line waits for others to go with it.
    pub linger: Duration,
}

struct State {
    waiting: VecDeque<String>,
    /// Of what waits, so that a batch is known to be full.
    waiting_bytes: usize,
    /// When the oldest one that waits came, or was left by the batch before.
    since: Instant,
    /// What waits and what is under way: the limits are for both.
    held_lines: usize,
    held_bytes: usize,
    /// All that were ever taken in.
    pushed: u64,
    /// All that were ever handed to the worker.
    taken: u64,
    /// Up to here somebody waits, so nothing lingers.
    hurry: u64,
    closed: bool,
}

pub struct Queue {
    limits: QueueLimits,
    state: Mutex<State>,
    /// For the one worker.
    arrived: Notify,
    /// All lines up to this number, in the order of their coming, are settled.
    settled: watch::Sender<u64>,
}

impl Queue {
    pub fn new(limits: QueueLimits) -> Self {
        Self {
            limits,
            state: Mutex::new(State {
                waiting: VecDeque::new(),
                waiting_bytes: 0,
                since: Instant::now(),
                held_lines: 0,
                held_bytes: 0,
                pushed: 0,
                taken: 0,
                hurry: 0,
                closed: false,
            }),
            arrived: Notify::new(),
            settled: watch::Sender::new(0),
        }
    }

    /// Takes the line in, or gives it back with the reason why not. Never waits.
    pub fn push(&self, line: String) -> Result<(), (String, DropReason)> {
        let mut state = self.state.lock();
        if state.closed {
            return Err((line, DropReason::Closed));
        }
        let no_room = state.held_lines >= self.limits.lines
            || state.held_bytes.saturating_add(line.len()) > self.limits.bytes;
        if no_room {
            return Err((line, DropReason::QueueFull));
        }
        state.held_lines += 1;
        state.held_bytes += line.len();
        state.waiting_bytes += line.len();
        state.pushed += 1;
        if state.waiting.is_empty() {
            state.since = Instant::now();
        }
        state.waiting.push_back(line);
        if state.waiting.len() == 1 || self.is_full_batch(&state) {
            self.arrived.notify_one();
        }
        Ok(())
    }

    /// What goes next, in the order of its coming; `None` when the queue is closed and empty.
    pub async fn next_batch(&self) -> Option<Vec<String>> {
        loop {
            let until = {
                let mut state = self.state.lock();
                if state.waiting.is_empty() {
                    if state.closed {
                        return None;
                    }
                    None
                } else {
                    let until = state.since + self.limits.linger;
                    let is_due = state.closed
                        || state.taken < state.hurry
                        || self.is_full_batch(&state)
                        || until <= Instant::now();
                    if is_due {
                        return Some(self.take(&mut state));
                    }
                    Some(until)
                }
            };
            match until {
                // Over or told: the state says which.
                Some(until) => {
                    let _ = timeout_at(until, self.arrived.notified()).await;
                }
                None => self.arrived.notified().await,
            }
        }
    }

    /// A line's fate is known, so its room is free.
    pub fn settle(&self, line: &str) {
        let mut state = self.state.lock();
        state.held_lines -= 1;
        state.held_bytes -= line.len();
    }

    /// All lines of the batch that was taken last are settled.
    pub fn batch_done(&self) {
        let taken = self.state.lock().taken;
        self.settled.send_replace(taken);
    }

    /// Resolves when all lines that were taken in so far are settled.
    pub async fn flushed(&self) {
        let target = {
            let mut state = self.state.lock();
            state.hurry = state.pushed;
            state.pushed
        };
        self.arrived.notify_one();
        let mut settled = self.settled.subscribe();
        // It fails when the sender is gone, which lives in `self`.
        let _ = settled.wait_for(|settled| *settled >= target).await;
    }

    /// Takes nothing in any more; what waits goes at once.
    pub fn close(&self) {
        self.state.lock().closed = true;
        self.arrived.notify_one();
    }

    /// Lines that wait or are under way.
    pub fn held(&self) -> usize {
        self.state.lock().held_lines
    }

    /// After the worker's end: forgets all that is held, and says how many lines that was.
    pub fn abandon(&self) -> usize {
        let mut state = self.state.lock();
        state.waiting.clear();
        state.waiting_bytes = 0;
        state.held_bytes = 0;
        self.settled.send_replace(state.pushed);
        std::mem::take(&mut state.held_lines)
    }

    fn is_full_batch(&self, state: &State) -> bool {
        state.waiting.len() >= self.limits.batch_lines
            || state.waiting_bytes >= self.limits.batch_bytes
    }

    /// At least one line, however long.
    fn take(&self, state: &mut State) -> Vec<String> {
        let mut batch = Vec::new();
        let mut bytes = 0;
        while let Some(line) = state.waiting.front() {
            let fits = batch.len() < self.limits.batch_lines
                && bytes + line.len() <= self.limits.batch_bytes;
            if !fits && !batch.is_empty() {
                break;
            }
            bytes += line.len();
            batch.extend(state.waiting.pop_front());
        }
        state.waiting_bytes -= bytes;
        state.taken += batch.len() as u64;
        state.since = Instant::now();
        batch
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Queue, QueueLimits};
    use crate::report::DropReason;

    const LIMITS: QueueLimits = QueueLimits {
        lines: 4,
        bytes: 20,
        batch_lines: 2,
        batch_bytes: 10,
        linger: Duration::from_hours(1),
    };

    fn queue_of(lines: &[&str]) -> Queue {
        let queue = Queue::new(LIMITS);
        for line in lines {
            assert!(queue.push((*line).to_owned()).is_ok());
        }
        queue
    }

    #[tokio::test]
    async fn a_full_batch_goes_at_once() {
        let queue = queue_of(&["a", "b", "c"]);
        assert_eq!(queue.next_batch().await, Some(vec!["a".into(), "b".into()]));
    }

    #[tokio::test]
    async fn a_batch_is_full_by_its_bytes() {
        let queue = queue_of(&["123456", "12345"]);
        assert_eq!(queue.next_batch().await, Some(vec!["123456".into()]));
    }

    #[tokio::test]
    async fn a_line_that_is_longer_than_a_batch_goes_alone() {
        let queue = queue_of(&["123456789012", "b"]);
        assert_eq!(queue.next_batch().await, Some(vec!["123456789012".into()]));
    }

    #[tokio::test]
    async fn a_flush_does_not_let_lines_linger() {
        let queue = queue_of(&["a"]);
        let worker = async {
            let batch = queue.next_batch().await.unwrap_or_default();
            for line in &batch {
                queue.settle(line);
            }
            queue.batch_done();
            batch
        };
        let ((), batch) = tokio::join!(queue.flushed(), worker);
        assert_eq!(batch, ["a"]);
    }

    #[tokio::test]
    async fn what_is_under_way_takes_room_until_it_is_settled() {
        let queue = queue_of(&["a", "b", "c", "d"]);
        let batch = queue.next_batch().await.unwrap_or_default();
        let full = Err(("e".to_owned(), DropReason::QueueFull));
        assert_eq!(queue.push("e".into()), full);
        queue.settle(&batch[0]);
        assert_eq!(queue.push("e".into()), Ok(()));
        assert_eq!(queue.held(), 4);
    }

    #[tokio::test]
    async fn is_full_by_its_bytes() {
        let queue = queue_of(&["1234567890"]);
        let long = "12345678901".to_owned();
        assert_eq!(queue.push(long.clone()), Err((long, DropReason::QueueFull)));
    }

    #[tokio::test]
    async fn closed_it_gives_the_rest_and_ends() {
        let queue = queue_of(&["a"]);
        queue.close();
        assert_eq!(
            queue.push("b".into()),
            Err(("b".to_owned(), DropReason::Closed))
        );
        assert_eq!(queue.next_batch().await, Some(vec!["a".into()]));
        assert_eq!(queue.next_batch().await, None);
    }

    #[tokio::test]
    async fn abandoned_it_lets_nobody_wait() {
        let queue = queue_of(&["a", "b", "c"]);
        queue.next_batch().await;
        assert_eq!(queue.abandon(), 3);
        queue.flushed().await;
        assert_eq!(queue.held(), 0);
    }
}

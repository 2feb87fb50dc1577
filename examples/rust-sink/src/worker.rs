//! Sends what waits, one batch after the other, until each line's fate is known.

use std::sync::Arc;

use crate::answer::{LineStatus, Rest};
use crate::backoff::Backoff;
use crate::post::{Poster, Reply};
use crate::queue::Queue;
use crate::report::{DropReason, Report, Trouble};

pub struct Worker {
    pub queue: Arc<Queue>,
    pub report: Arc<Report>,
    pub poster: Poster,
}

impl Worker {
    /// Ends when the queue is closed and empty.
    pub async fn run(self) {
        while let Some(batch) = self.queue.next_batch().await {
            self.deliver(batch).await;
            self.queue.batch_done();
        }
    }

    async fn deliver(&self, mut pending: Vec<String>) {
        let mut most = pending.len();
        let mut backoff = Backoff::default();
        while !pending.is_empty() {
            let sent = pending.len().min(most);
            let reply = self.poster.post(&pending[..sent]).await;
            let without_result = self.settle_results(&mut pending, sent, &reply);
            if without_result < sent {
                backoff = Backoff::default();
            }
            if without_result == 0 {
                continue;
            }
            match reply.rest {
                Rest::Smaller if sent > 1 => most = (sent / 2).max(1),
                Rest::Smaller | Rest::Refused => {
                    self.refuse(pending.drain(..without_result), &reply.reason);
                }
                Rest::Later => {
                    let wait = backoff.next(reply.retry_after);
                    self.report.trouble(&Trouble::Delayed {
                        reason: reply.reason,
                        attempt: backoff.attempt(),
                        wait,
                    });
                    tokio::time::sleep(wait).await;
                }
            }
        }
    }

    /// Takes the lines that have a result out of the first `sent` ones. Returns how many have none;
    /// they are the first ones that are left.
    fn settle_results(&self, pending: &mut Vec<String>, sent: usize, reply: &Reply) -> usize {
        let mut results: Vec<Option<&LineStatus>> = vec![None; sent];
        for result in &reply.answer.results {
            let index = result.line.checked_sub(1);
            if let Some(slot) = index.and_then(|index| results.get_mut(index)) {
                *slot = Some(&result.status);
            }
        }
        let mut results = results.into_iter();
        let before = pending.len();
        pending.retain(|line| match results.next().flatten() {
            Some(status) => {
                self.settle(line, status);
                false
            }
            None => true,
        });
        sent - (before - pending.len())
    }

    fn settle(&self, line: &str, status: &LineStatus) {
        use std::sync::atomic::Ordering::Relaxed;
        self.queue.settle(line);
        match status {
            LineStatus::Accepted => drop(self.report.accepted.fetch_add(1, Relaxed)),
            LineStatus::Duplicate => drop(self.report.duplicate.fetch_add(1, Relaxed)),
            LineStatus::Rejected { field, expected } => self.report.trouble(&Trouble::Rejected {
                line: line.to_owned(),
                field: field.clone(),
                expected: expected.clone(),
            }),
        }
    }

    fn refuse(&self, lines: impl Iterator<Item = String>, reason: &str) {
        let mut refused = 0;
        for line in lines {
            self.queue.settle(&line);
            refused += 1;
        }
        self.report.trouble(&Trouble::Dropped {
            lines: refused,
            reason: DropReason::Refused(reason.to_owned()),
        });
    }
}

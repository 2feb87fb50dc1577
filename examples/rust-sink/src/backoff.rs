//! How long to wait before the next attempt.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(10);
/// A server may ask for more than [`LONGEST`], yet not for ever.
const LONGEST_ASKED: Duration = Duration::from_mins(5);

/// 100 ms, doubling to 10 s, less up to a half by chance, so that many senders don't come at once.
#[derive(Default)]
pub struct Backoff {
    attempt: u32,
}

impl Backoff {
    /// The wait after one more failure; not shorter than what the server asked for.
    pub fn next(&mut self, asked: Option<Duration>) -> Duration {
        let doubled = FIRST.saturating_mul(1 << self.attempt.min(16)).min(LONGEST);
        self.attempt = self.attempt.saturating_add(1);
        doubled
            .mul_f64(0.5 + 0.5 * chance())
            .max(asked.unwrap_or_default().min(LONGEST_ASKED))
    }

    /// Failures in a row.
    pub const fn attempt(&self) -> u32 {
        self.attempt
    }
}

/// From 0 to 1: each `RandomState` has keys of its own.
fn chance() -> f64 {
    let random = RandomState::new().hash_one(0_u8);
    f64::from(u16::try_from(random >> 48).unwrap_or(0)) / f64::from(u16::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Backoff, LONGEST, LONGEST_ASKED};

    #[test]
    fn doubles_up_to_a_limit() {
        let mut backoff = Backoff::default();
        for full in [100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000] {
            let wait = backoff.next(None);
            let full = Duration::from_millis(full);
            assert!(full / 2 <= wait && wait <= full, "{wait:?} of {full:?}");
        }
        for _ in 0..100 {
            assert!(backoff.next(None) <= LONGEST);
        }
        assert_eq!(backoff.attempt(), 109);
    }

    #[test]
    fn waits_as_long_as_was_asked() {
        let asked = |seconds| Backoff::default().next(Some(Duration::from_secs(seconds)));
        assert_eq!(asked(7), Duration::from_secs(7));
        assert_eq!(asked(1_000_000), LONGEST_ASKED);
        assert!(asked(0) >= Duration::from_millis(50));
    }
}

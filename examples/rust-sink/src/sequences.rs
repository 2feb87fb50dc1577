//! The number of each event in its run.

use std::collections::{HashMap, VecDeque};

/// How many runs are remembered. One that is forgotten starts again at 0, which is harmless: its
/// events are ordered by time first.
const RUNS: usize = 10_000;

/// Counts from 0 in each run. An ended run is not forgotten at once: a tool may end after it.
#[derive(Default)]
pub struct Sequences {
    next: HashMap<String, u64>,
    /// The oldest first.
    runs: VecDeque<String>,
}

impl Sequences {
    pub fn next(&mut self, run_id: &str) -> u64 {
        if let Some(next) = self.next.get_mut(run_id) {
            let sequence = *next;
            *next += 1;
            return sequence;
        }
        if self.runs.len() >= RUNS
            && let Some(oldest) = self.runs.pop_front()
        {
            self.next.remove(&oldest);
        }
        self.runs.push_back(run_id.to_owned());
        self.next.insert(run_id.to_owned(), 1);
        0
    }
}

#[cfg(test)]
mod tests {
    use super::{RUNS, Sequences};

    #[test]
    fn counts_in_each_run() {
        let mut sequences = Sequences::default();
        let numbers: Vec<u64> = ["a", "a", "b", "a", "b"]
            .map(|run| sequences.next(run))
            .to_vec();
        assert_eq!(numbers, [0, 1, 0, 2, 1]);
    }

    #[test]
    fn forgets_the_oldest_run() {
        let mut sequences = Sequences::default();
        for run in 0..=RUNS {
            sequences.next(&run.to_string());
        }
        assert_eq!(sequences.next("1"), 1);
        assert_eq!(sequences.next("0"), 0);
        assert_eq!(sequences.runs.len(), RUNS);
        assert_eq!(sequences.next.len(), RUNS);
    }
}

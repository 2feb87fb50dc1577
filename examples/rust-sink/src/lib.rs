//! A sink for the agents of [entelix] that sends their events to `entelix-otel serve`, which makes
//! spans, metrics and an audit log of them.
//!
//! See [`HttpSink`], and [`RunContext`] for threads and resumed runs.
//!
//! [entelix]: https://docs.rs/entelix-agents

mod answer;
mod backoff;
mod line;
mod options;
mod post;
mod queue;
mod report;
mod run_context;
mod sequences;
mod sink;
mod wire_event;
mod worker;

pub use options::{BuildError, DEFAULT_URL, HttpSinkBuilder, TOKEN_VARIABLE, URL_VARIABLE};
pub use report::{Counts, DropReason, Trouble};
pub use run_context::RunContext;
pub use sink::{HttpSink, StatefulSink};

/// So the README's lines compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

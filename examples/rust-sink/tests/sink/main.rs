//! The sink as agents and servers see it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod delivery;
mod fake_server;
mod wire_format;

import { constants } from "node:os";

/**
 * Ends this process by a signal, as if nothing listened to it. `process.exit` would wait for threads that are
 * in a call of the system, and one that waits for a disk or a named pipe may never come back.
 */
export function endBy(signal: "SIGHUP" | "SIGINT" | "SIGTERM"): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // Still here: the first process of a container gets no signal that nothing listens to.
  process.exit(128 + constants.signals[signal]);
}

/** So long what is left open may keep the process, in ms. */
const LEFT_OPEN_MS = 2_000;

/**
 * The process ends soon, though a connection to a store or broker that does not answer is still open. What was
 * written to a pipe has got there by then.
 */
export function leaveSoon(): void {
  setTimeout(() => process.exit(), LEFT_OPEN_MS).unref();
}

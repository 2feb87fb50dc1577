import { endBy } from "./end-by.ts";

/** So long what is left open may keep the process, in ms. */
const LEFT_OPEN_MS = 2_000;

/** Calls that a thread waits for, and that may never come back: those of a disk or a named pipe. */
const OF_FILES = /^(?:FSReq|FileHandleCloseReq)/;

/**
 * The process ends soon, though a connection to a store or broker that does not answer is still open. What was
 * written to a pipe has got there by then.
 */
export function leaveSoon(): void {
  setTimeout(() => {
    if (process.getActiveResourcesInfo().some((name) => OF_FILES.test(name))) endBy("SIGTERM");
    else process.exit();
  }, LEFT_OPEN_MS).unref();
}

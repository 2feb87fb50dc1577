import type { Io } from "./command.ts";
import { safe } from "./terminal/text.ts";

/** An error that the user can fix. It is shown without stack, and the exit code is 1. */
export class CliError extends Error {
  /** What to do, shown on a separate line. */
  readonly hint: string | undefined;

  /** @param message text in which data has been escaped with `safe`. */
  constructor(message: string, hint?: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "CliError";
    this.hint = hint;
  }
}

/** The message of an error, or its name if it has none. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}

/** Whether a write failed because the reader has closed the pipe (`… | head`). */
export function isBrokenPipe(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EPIPE";
}

/** Prints an error on standard error. */
export function showError(error: unknown, io: Io): void {
  const { err } = io;
  if (error instanceof CliError) {
    err.line(`${err.style("red", "entelix-otel:")} ${error.message}`);
    if (error.hint !== undefined) err.line(error.hint);
    return;
  }
  err.line(`${err.style("red", "entelix-otel:")} ${safe(messageOf(error))}`);
  if (!io.env.ENTELIX_OTEL_DEBUG || !(error instanceof Error)) {
    err.line("Set ENTELIX_OTEL_DEBUG=1 to see the stack.");
    return;
  }
  for (const line of error.stack?.split("\n") ?? []) err.line(safe(line));
}

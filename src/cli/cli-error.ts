import type { Io } from "./command.ts";
import { safe } from "./terminal/text.ts";

/**
 * Something the user can put right: it is shown as its message alone, and the command ends with
 * exit code 1.
 */
export class CliError extends Error {
  /** What to do about it; shown on a line of its own. */
  readonly hint: string | undefined;

  /** @param message for the terminal: what came from data must have gone through `safe`. */
  constructor(message: string, hint?: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "CliError";
    this.hint = hint;
  }
}

/** What an error says, for a person: the text of the system's error without its code, say. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}

/** Whether a write failed since the reader has gone (`… | head`): there is nobody to tell. */
export function isBrokenPipe(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EPIPE";
}

/** Says on standard error why a command ends with 1. */
export function showError(error: unknown, io: Io): void {
  const { err } = io;
  if (error instanceof CliError) {
    err.line(`${err.style("red", "entelix-otel:")} ${error.message}`);
    if (error.hint !== undefined) err.line(error.hint);
    return;
  }
  err.line(`${err.style("red", "entelix-otel:")} ${safe(messageOf(error))}`);
  if (!io.env.ENTELIX_OTEL_DEBUG || !(error instanceof Error)) {
    err.line("With ENTELIX_OTEL_DEBUG=1 the stack is shown.");
    return;
  }
  for (const line of error.stack?.split("\n") ?? []) err.line(safe(line));
}

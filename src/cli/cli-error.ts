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

import { CliError, messageOf } from "./cli-error.ts";
import type { Io } from "./command.ts";
import { safe } from "./terminal/safe-text.ts";

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

import { CliError, messageOf } from "../cli-error.ts";
import { safe } from "../terminal/safe-text.ts";

/** Why a log could not be read, for the terminal. */
export function logError(error: unknown): CliError {
  return new CliError(safe(reasonOf(error)), undefined, { cause: error });
}

/** Several addresses of a host may each have refused: then Node gives one error without a message. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") {
    return error.errors.map(messageOf).join("; ");
  }
  return messageOf(error);
}

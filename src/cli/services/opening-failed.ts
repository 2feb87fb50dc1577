import { isDiskFull } from "../../events/door.ts";
import { CliError, messageOf } from "../cli-error.ts";
import { safe } from "../terminal/text.ts";

/** What kept a service from starting, with the option it is about. */
export function openingFailed(error: unknown, journal: string, address: string): CliError {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const options: ErrorOptions = { cause: error };
  switch (code) {
    case "EADDRINUSE":
      return new CliError(
        `--listen: ${safe(address)} is in use`,
        "Another service listens there.",
        options,
      );
    case "EACCES":
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      if (error instanceof Error && "syscall" in error && isOfNetwork(error.syscall)) {
        return new CliError(`--listen: ${safe(messageOf(error))}`, undefined, options);
      }
      break;
    case "ELOCKED":
      return new CliError(
        `--journal: ${safe(messageOf(error))}`,
        "One service at a time has a journal.",
        options,
      );
    case "EDAMAGED":
      return new CliError(
        `--journal: ${safe(messageOf(error))}`,
        'What to do: docs/operations.md, "It does not start".',
        options,
      );
    default:
  }
  const hint = openingHint(error, journal);
  return new CliError(`--journal ${safe(journal)}: ${safe(messageOf(error))}`, hint, options);
}

function isOfNetwork(syscall: unknown): boolean {
  return syscall === "listen" || syscall === "bind" || syscall === "getaddrinfo";
}

/** What to do where a directory can't be opened; `undefined` where the error says it. */
export function openingHint(error: unknown, directory: string): string | undefined {
  if (!isDiskFull(error)) return undefined;
  return `Free some space on the disk of ${safe(directory)}, then start again: nothing that is there is lost.`;
}

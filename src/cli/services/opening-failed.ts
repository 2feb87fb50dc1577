import { isDiskFull } from "../../events/door.ts";
import { CliError, messageOf } from "../cli-error.ts";
import { safe } from "../terminal/text.ts";

/** The error of a service that did not start, with the option that caused it. */
export function openingFailed(error: unknown, journal: string, address: string): CliError {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const options: ErrorOptions = { cause: error };
  switch (code) {
    case "EADDRINUSE":
      return new CliError(
        `--listen: ${safe(address)} is in use`,
        "Another process listens on this port.",
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
        "Only one service can use a journal.",
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

/** What to do if a directory could not be opened; `undefined` if the error says it. */
export function openingHint(error: unknown, directory: string): string | undefined {
  if (!isDiskFull(error)) return undefined;
  return `Free disk space for ${safe(directory)}, then start again. Stored data is not lost.`;
}

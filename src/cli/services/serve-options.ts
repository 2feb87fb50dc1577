import { inputText, type OnWait } from "../../audit/door.ts";
import {
  DEFAULT_INGEST_LIMITS,
  type IngestLimits,
  parseTokens,
  type TokenEntry,
} from "../../service/door.ts";
import { CliError, messageOf } from "../cli-error.ts";
import { SPAN_OPTIONS } from "../span-options.ts";
import { safe } from "../terminal/text.ts";
import {
  AUDIT_ROWS_OPTION,
  bytesOption,
  countOption,
  DEFAULT_LISTEN,
  ENDPOINT_OPTION,
  SERVICE_NAME_OPTION,
} from "./options.ts";

/** Most bytes of a line in the journal. */
const MOST_LINE = 64 * 1024 * 1024;

/** The options of `serve`. */
export const SERVE_OPTIONS = {
  journal: {
    type: "string",
    value: "DIR",
    about:
      "Directory of the journal. Events are stored there before they are acknowledged. Required.",
  },
  listen: {
    type: "string",
    value: "HOST:PORT",
    about: `Address to listen on. Default: ${DEFAULT_LISTEN}. Addresses that other machines can reach require --tokens.`,
  },
  tokens: {
    type: "string",
    value: "FILE",
    about:
      "File with the senders' tokens, each for one tenant. Reloaded at SIGHUP. See: entelix-otel token.",
  },
  endpoint: ENDPOINT_OPTION,
  audit: {
    type: "string",
    value: "DIR|URL",
    about: "Write the audit rows to a directory, or to PostgreSQL at postgres://….",
  },
  "audit-rows": AUDIT_ROWS_OPTION,
  "service-name": SERVICE_NAME_OPTION,
  tenant: {
    type: "string",
    value: "NAME",
    about: "Tenant of events without a tenant, from senders without a token. Default: default.",
  },
  rate: {
    type: "string",
    value: "LINES",
    about: "Lines per second of a tenant whose tokens set no rate. Default: no limit.",
  },
  "max-line": { type: "string", value: "BYTES", about: "Maximum length of a line. Default: 1MiB." },
  "max-body": {
    type: "string",
    value: "BYTES",
    about: "Maximum length of a body, before and after decompression. Default: 64MiB.",
  },
  "max-lines": {
    type: "string",
    value: "N",
    about: "Maximum number of lines in a body. Default: 50000.",
  },
  "max-connections": {
    type: "string",
    value: "N",
    about: "Maximum number of connections that send events. Default: 256.",
  },
  "max-backlog": {
    type: "string",
    value: "BYTES",
    about: "Answer 503 while the journal still needs this many bytes. Default: 4GiB.",
  },
  lookback: {
    type: "string",
    value: "N",
    about:
      "Number of older lines that are read again at a start to restore state. They make no spans. Default: 100000.",
  },
  "run-age": {
    type: "string",
    value: "S",
    about:
      "Time without events, in s of event time, after which a run counts as ended and its lines can be removed. Default: 86400.",
  },
  ...SPAN_OPTIONS,
  openapi: { type: "boolean", about: "Print the OpenAPI document and exit." },
} as const;

type LimitValues = Readonly<
  Partial<Record<"max-line" | "max-body" | "max-lines" | "max-connections" | "max-backlog", string>>
>;

/** @throws CliError with the option if its value is out of range. */
export function limitsOf(values: LimitValues): IngestLimits {
  const { maxLineBytes, maxBodyBytes, maxLines, maxConnections, maxBacklogBytes } =
    DEFAULT_INGEST_LIMITS;
  return {
    ...DEFAULT_INGEST_LIMITS,
    maxLineBytes: bytesOption("--max-line", values["max-line"], maxLineBytes, 1, MOST_LINE),
    maxBodyBytes: bytesOption("--max-body", values["max-body"], maxBodyBytes, 1),
    maxLines: countOption("--max-lines", values["max-lines"], maxLines, 1),
    maxConnections: countOption("--max-connections", values["max-connections"], maxConnections, 1),
    maxBacklogBytes: bytesOption("--max-backlog", values["max-backlog"], maxBacklogBytes, 1),
  };
}

/**
 * The entries of the tokens file.
 *
 * @param onWait called before waiting for a pipe.
 * @throws CliError with the file and its error.
 */
export async function tokenEntries(path: string, onWait: OnWait): Promise<readonly TokenEntry[]> {
  try {
    return parseTokens(await inputText(path, onWait));
  } catch (error) {
    throw new CliError(`--tokens: ${safe(path)}: ${safe(messageOf(error))}`, undefined, {
      cause: error,
    });
  }
}

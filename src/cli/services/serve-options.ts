import { DEFAULT_INGEST_LIMITS, type IngestLimits } from "../../service/http/ingest-limits.ts";
import type { TokenEntry } from "../../service/http/tokens/token-file.ts";
import { readTokenFile } from "../../service/http/tokens/token-file.ts";
import { CliError, messageOf } from "../cli-error.ts";
import { safe } from "../terminal/text.ts";
import {
  bytesOption,
  countOption,
  DEFAULT_LISTEN,
  ENDPOINT_OPTION,
  SERVICE_NAME_OPTION,
} from "./options.ts";

/** What the journal takes as one line, in bytes. */
const MOST_LINE = 64 * 1024 * 1024;

/** The options of `serve`. */
export const SERVE_OPTIONS = {
  journal: {
    type: "string",
    value: "DIR",
    about: "Folder of the journal, where events are safe before they are acknowledged. Required.",
  },
  listen: {
    type: "string",
    value: "HOST:PORT",
    about: `Where to listen. Default: ${DEFAULT_LISTEN}. Any address but this machine's own needs --tokens.`,
  },
  tokens: {
    type: "string",
    value: "FILE",
    about:
      "Tokens of senders, each bound to a tenant; read again at SIGHUP. Made by: entelix-otel token.",
  },
  endpoint: ENDPOINT_OPTION,
  audit: {
    type: "string",
    value: "DIR|URL",
    about: "Write the audit rows to the log in DIR, or to PostgreSQL at postgres://….",
  },
  "service-name": SERVICE_NAME_OPTION,
  tenant: {
    type: "string",
    value: "NAME",
    about: "Tenant of events that name none, from senders without a token. Default: default.",
  },
  rate: {
    type: "string",
    value: "LINES",
    about: "Lines a second of a tenant, unless its tokens say. Default: no limit.",
  },
  "max-line": { type: "string", value: "BYTES", about: "Longest line. Default: 1MiB." },
  "max-body": {
    type: "string",
    value: "BYTES",
    about: "Longest body, as it comes and after decompression. Default: 64MiB.",
  },
  "max-lines": { type: "string", value: "N", about: "Most lines of a body. Default: 50000." },
  "max-connections": {
    type: "string",
    value: "N",
    about: "Most connections that send events. Default: 256.",
  },
  "max-backlog": {
    type: "string",
    value: "BYTES",
    about: "Answer 503 while so much is accepted and still needed. Default: 4GiB.",
  },
  lookback: {
    type: "string",
    value: "N",
    about:
      "Lines before those still needed that are kept and played again at a start, without a trace. Default: 100000.",
  },
  "run-age": {
    type: "string",
    value: "S",
    about:
      "A run without any event for so long is over, and no longer holds back the journal, in s of event time. Default: 86400.",
  },
  "capture-content": {
    type: "boolean",
    about: "Put tool inputs and outputs, state and payloads onto the spans.",
  },
  openapi: { type: "boolean", about: "Print the OpenAPI document, and end." },
} as const;

type LimitValues = Readonly<
  Partial<Record<"max-line" | "max-body" | "max-lines" | "max-connections" | "max-backlog", string>>
>;

/** @throws CliError naming the option whose value is out of its range. */
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
 * @throws CliError naming the file and what is wrong with it.
 */
export async function tokenEntries(path: string): Promise<readonly TokenEntry[]> {
  try {
    return await readTokenFile(path);
  } catch (error) {
    throw new CliError(`--tokens: ${safe(path)}: ${safe(messageOf(error))}`, undefined, {
      cause: error,
    });
  }
}

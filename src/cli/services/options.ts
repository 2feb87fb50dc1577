import { AUDIT_ROWS, type AuditRows, urlScheme } from "../../audit/door.ts";
import { MOST_NAME } from "../../events/door.ts";
import { CliError } from "../cli-error.ts";
import { safe } from "../terminal/text.ts";

/**
 * Checks what an option says of a directory that is made where there is none: a slip must not become a
 * folder.
 *
 * @throws CliError when it is empty, `-`, or a URL.
 */
export function checkDirectoryOption(option: string, directory: string, urlHint?: string): void {
  // `--audit=$DIR` with nothing in DIR: it would be the folder that the command happens to run in.
  if (directory === "") throw new CliError(`${option}: expected a directory, got nothing`);
  if (directory === "-") {
    throw new CliError(
      `${option}: expected a directory, got -`,
      "A directory can't be written to stdout; one that is called so is ./-",
    );
  }
  const scheme = urlScheme(directory);
  if (scheme !== undefined) {
    // Without the rest of it: a URL may hold a password, and errors are kept in logs.
    throw new CliError(`${option}: expected a directory, got a URL (${safe(scheme)}…)`, urlHint);
  }
}

const UNITS: Readonly<Record<string, number>> = {
  "": 1,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
};

/**
 * Reads a size such as `1048576`, `64MiB` or `1GiB`.
 *
 * @returns bytes; `fallback` where the option was not given.
 * @throws CliError naming the option, when it is no such size or out of its range.
 */
export function bytesOption(
  option: string,
  text: string | undefined,
  fallback: number,
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): number {
  if (text === undefined) return fallback;
  const [, digits = "", unit = ""] = /^(\d{1,12})\s*([a-z]*)$/i.exec(text) ?? [];
  const bytes = Number(digits || Number.NaN) * (UNITS[unit.toLowerCase()] ?? Number.NaN);
  if (Number.isSafeInteger(bytes) && bytes >= least && bytes <= most) return bytes;
  const range = most === Number.MAX_SAFE_INTEGER ? `from ${least}` : `from ${least} to ${most}`;
  throw new CliError(
    `${option}: expected bytes ${range}, such as 65536, 64MiB or 1GiB; got "${safe(text)}"`,
  );
}

/** The longest time that an option in seconds may be. */
export const YEAR_S = 31_536_000;

/**
 * Reads a whole number.
 *
 * @throws CliError naming the option, when it is none in its range.
 */
export function countOption(
  option: string,
  text: string | undefined,
  fallback: number,
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): number {
  if (text === undefined) return fallback;
  const count = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (count >= least && count <= most) return count;
  const range = most === Number.MAX_SAFE_INTEGER ? `from ${least}` : `from ${least} to ${most}`;
  throw new CliError(`${option}: expected a whole number ${range}, got "${safe(text)}"`);
}

/**
 * Reads a rate, which may have a fraction.
 *
 * @throws CliError naming the option, when it is no number above 0.
 */
export function rateOption(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const rate = /^\d{1,9}(?:\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
  if (rate > 0) return rate;
  throw new CliError(`${option}: expected lines a second, above 0; got "${safe(text)}"`);
}

/** Where events are taken unless `--listen` says otherwise: beside the collector's own ports. */
export const DEFAULT_LISTEN = "127.0.0.1:4321";

export interface ListenAddress {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
}

/**
 * Reads `HOST:PORT`; an IPv6 address stands in brackets.
 *
 * @throws CliError when it is none.
 */
export function listenAddress(text: string): ListenAddress {
  const [, six, plain, digits = ""] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = six ?? plain;
  const port = digits === "" ? Number.NaN : Number(digits);
  if (host !== undefined && port <= 65_535) return { host, port };
  throw new CliError(
    `--listen: expected HOST:PORT such as ${DEFAULT_LISTEN} or [::1]:4321, got "${safe(text)}"`,
  );
}

/** The address that listens, for a person or a program to send to. */
export function urlOf(address: string, port: number): string {
  return `http://${address.includes(":") ? `[${address}]` : address}:${port}`;
}

/** Which audit rows are written: the option of every command that writes them. */
export const AUDIT_ROWS_OPTION = {
  type: "string",
  value: "WHICH",
  about: "With --audit: all rows, or only those of upstream's kinds (upstream). Default: all.",
} as const;

/**
 * Reads `--audit-rows`.
 *
 * @throws CliError when it is neither word, or there is no log to write rows to.
 */
export function auditRowsOption(
  text: string | undefined,
  audit: string | undefined,
): AuditRows | undefined {
  if (text === undefined) return undefined;
  if (audit === undefined) {
    throw new CliError("--audit-rows: expected --audit beside it: the log to write to");
  }
  const rows = AUDIT_ROWS.find((each) => each === text);
  if (rows !== undefined) return rows;
  throw new CliError(`--audit-rows: expected all or upstream, got "${safe(text)}"`);
}

/** Where a service sends spans: the option of `serve` and `consume`. */
export const ENDPOINT_OPTION = {
  type: "string",
  value: "URL",
  about: "Send the spans to this URL (OTLP/HTTP); /v1/traces is appended.",
} as const;

/** Whose spans are made: the option of every command that makes them again from lines. */
export const SERVICE_NAME_OPTION = {
  type: "string",
  value: "NAME",
  about: "Service name of the spans. Default: OTEL_SERVICE_NAME.",
} as const;

/** Whose the events are that name no tenant, unless `--tenant` says. */
const DEFAULT_TENANT = "default";

/**
 * Reads `--tenant`.
 *
 * @throws CliError when it is no name that an audit row can have: the rows would be refused for good.
 */
export function tenantOption(text: string | undefined): string {
  if (text === undefined) return DEFAULT_TENANT;
  if (text !== "" && text.length <= MOST_NAME) return text;
  throw new CliError(`--tenant: expected 1 to ${MOST_NAME} characters, got ${text.length}`);
}

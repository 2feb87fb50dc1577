import { AUDIT_ROWS, type AuditRows, urlScheme } from "../../audit/door.ts";
import { MOST_NAME } from "../../events/door.ts";
import { CliError } from "../cli-error.ts";
import { safe } from "../terminal/text.ts";

/**
 * Checks the name of a directory that will be created. A typing error must not create one.
 *
 * @throws CliError if it is empty, `-`, or a URL.
 */
export function checkDirectoryOption(option: string, directory: string, urlHint?: string): void {
  // `--audit=$DIR` with an empty variable would be the current directory.
  if (directory === "") throw new CliError(`${option}: expected a directory, got nothing`);
  if (directory === "-") {
    throw new CliError(
      `${option}: expected a directory, got -`,
      "A directory cannot be written to stdout. For a directory named -, use ./-",
    );
  }
  const scheme = urlScheme(directory);
  if (scheme !== undefined) {
    // Only the scheme: a URL may contain a password, and errors end up in log files.
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
 * @returns bytes; `fallback` without the option.
 * @throws CliError with the option if the size is invalid or out of range.
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

/** Maximum of options in seconds. */
export const YEAR_S = 31_536_000;

/**
 * Reads a whole number.
 *
 * @throws CliError with the option if the number is invalid or out of range.
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
 * Reads a rate, which may have up to 6 decimals.
 *
 * @throws CliError with the option if it is not a number above 0.
 */
export function rateOption(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const rate = /^\d{1,9}(?:\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
  if (rate > 0) return rate;
  throw new CliError(`${option}: expected lines per second above 0, got "${safe(text)}"`);
}

/** Default of `--listen`, next to the collector's ports. */
export const DEFAULT_LISTEN = "127.0.0.1:4321";

export interface ListenAddress {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

/**
 * Reads `HOST:PORT`. An IPv6 address has brackets.
 *
 * @throws CliError if it is invalid.
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

/** The URL of a listening address. */
export function urlOf(address: string, port: number): string {
  return `http://${address.includes(":") ? `[${address}]` : address}:${port}`;
}

/** The option `--audit-rows`, for every command that writes rows. */
export const AUDIT_ROWS_OPTION = {
  type: "string",
  value: "WHICH",
  about: "With --audit: all rows, or only those of entelix's kinds (upstream). Default: all.",
} as const;

/**
 * Reads `--audit-rows`.
 *
 * @throws CliError if it is neither `all` nor `upstream`, or without `--audit`.
 */
export function auditRowsOption(
  text: string | undefined,
  audit: string | undefined,
): AuditRows | undefined {
  if (text === undefined) return undefined;
  if (audit === undefined) {
    throw new CliError("--audit-rows: expected --audit with it");
  }
  const rows = AUDIT_ROWS.find((each) => each === text);
  if (rows !== undefined) return rows;
  throw new CliError(`--audit-rows: expected all or upstream, got "${safe(text)}"`);
}

/** The option `--endpoint` of `serve` and `consume`. */
export const ENDPOINT_OPTION = {
  type: "string",
  value: "URL",
  about: "Send the spans to this URL (OTLP/HTTP); /v1/traces is appended.",
} as const;

/** The option `--service-name`, for every command that makes spans from lines. */
export const SERVICE_NAME_OPTION = {
  type: "string",
  value: "NAME",
  about: "Service name of the spans. Default: OTEL_SERVICE_NAME.",
} as const;

/** Default of `--tenant`. */
const DEFAULT_TENANT = "default";

/**
 * Reads `--tenant`.
 *
 * @throws CliError if an audit row cannot have this tenant.
 */
export function tenantOption(text: string | undefined): string {
  if (text === undefined) return DEFAULT_TENANT;
  if (text !== "" && text.length <= MOST_NAME) return text;
  throw new CliError(`--tenant: expected 1 to ${MOST_NAME} characters, got ${text.length}`);
}

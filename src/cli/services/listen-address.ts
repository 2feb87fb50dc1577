import { CliError } from "../cli-error.ts";
import { safe } from "../terminal/safe-text.ts";

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

import { CliError } from "../cli-error.ts";
import { safe } from "../terminal/safe-text.ts";

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * `127.0.0.1:9464`, `[::1]:9464`.
 *
 * @throws CliError when it is something else.
 */
export function listenAddress(text: string): ListenAddress {
  const found = /^(?:\[([\da-f:]+)\]|([^\s:[\]]+)):(\d{1,5})$/i.exec(text);
  const host = found?.[1] ?? found?.[2];
  const port = Number(found?.[3]);
  if (host === undefined || port > 65_535) {
    throw new CliError(`--listen: expected HOST:PORT, got "${safe(text)}"`);
  }
  return { host, port };
}

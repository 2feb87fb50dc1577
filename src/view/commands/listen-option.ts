import { CliError, safe } from "../../cli/door.ts";
import type { ListenAddress } from "../runs/viewed-runs.ts";

/** Where exporters of OTLP over HTTP send to without a setting. */
export const DEFAULT_LISTEN = "127.0.0.1:4318";

/** `[HOST:]PORT`: a host is a name, an IPv4 address, or an IPv6 address in brackets. */
export const LISTEN = /^(?:(?<host>[\w.-]+|\[[\da-f:.]+\]):)?(?<port>\d{1,5})$/i;

/** The address of `--listen`. @throws CliError if it is not an address. */
export function listenAddress(text: string | undefined): ListenAddress | undefined {
  if (text === undefined) return undefined;
  const { host = "127.0.0.1", port } = LISTEN.exec(text)?.groups ?? {};
  if (port === undefined || Number(port) > 65_535) {
    throw new CliError(
      `--listen: expected [HOST:]PORT, such as ${DEFAULT_LISTEN}, got ${safe(text)}`,
    );
  }
  return { host: host.replace(/^\[|\]$/g, ""), port: Number(port) };
}

import type { ModelRequest } from "../writer/door.ts";

type Server = Pick<ModelRequest, "server_address" | "server_port">;

const NOWHERE: Server = {};
const MOST_PORT = 65_535;
/** A host name, or an IPv6 address in brackets, with an optional port. */
const HOST = /^(\[[0-9a-f:.]+\]|[^\s/:@?#[\]]+)(?::(\d{1,5}))?$/i;
const PORTS: ReadonlyMap<string, number> = new Map([
  ["https:", 443],
  ["http:", 80],
]);

/**
 * Host and port of `api.example.com`, `localhost:11434` or a URL. Other parts of a URL are not read, because they may
 * contain a name, a password or a key.
 *
 * @returns an empty object for any other value.
 */
export function serverOf(given: unknown): Server {
  if (typeof given !== "string" || given === "") return NOWHERE;
  if (given.includes("://")) return urls.get(given) ?? keep(given, serverOfUrl(given));
  const match = HOST.exec(given);
  const host = match?.[1];
  return host === undefined ? NOWHERE : server(host, match?.[2]);
}

/** The servers of the last URLs. Each model call reads one, and a URL takes longer to read than the call. */
const urls = new Map<string, Server>();
const MOST_URLS = 64;

function keep(url: string, found: Server): Server {
  if (urls.size >= MOST_URLS) urls.clear();
  urls.set(url, found);
  return found;
}

function serverOfUrl(text: string): Server {
  try {
    const { hostname, port, protocol } = new URL(text);
    if (hostname === "") return NOWHERE;
    return server(hostname, port === "" ? PORTS.get(protocol) : port);
  } catch {
    return NOWHERE;
  }
}

function server(host: string, given: string | number | undefined): Server {
  const address = host.replace(/^\[|\]$/g, "");
  const port = given === undefined ? undefined : Number(given);
  return port !== undefined && port > 0 && port <= MOST_PORT
    ? { server_address: address, server_port: port }
    : { server_address: address };
}

import type { Agent, request } from "node:http";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import { warnAloud } from "../setup/environment-variables.ts";
import type { TlsOptions } from "./tls-files.ts";

/** Opens the connections of one endpoint. */
export interface Connections {
  readonly agent: Agent;
  readonly request: typeof request;
  /** Further options of each request. */
  readonly options: TunnelOptions;
  /** Host and port of the proxy. Absent without one. */
  readonly proxy?: string;
}

interface TunnelOptions {
  checkServerIdentity?(host: string, certificate: PeerCertificate): Error | undefined;
}

/**
 * Connections that are kept alive, through the proxy that `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` name for the URL.
 * Modules are loaded on first use, so that an instrumentation can patch them before.
 *
 * @param ca certificate authority for an `https` proxy. Default: those of Node.
 */
export async function connectionsTo(url: string, { ca }: TlsOptions): Promise<Connections> {
  const isTls = new URL(url).protocol === "https:";
  const http: { Agent: typeof Agent; request: typeof request } = isTls
    ? await import("node:https")
    : await import("node:http");
  const { request: open } = http;
  const proxy = await proxyOf(url);
  if (proxy === undefined) {
    return { agent: new http.Agent({ keepAlive: true }), request: open, options: {} };
  }
  const options = { keepAlive: true, ...(ca === undefined ? {} : { ca }) };
  if (isTls) {
    const { HttpsProxyAgent } = await import("https-proxy-agent");
    const agent = new HttpsProxyAgent(proxy, options);
    return { agent, request: open, options: checkedAs(new URL(url).hostname), proxy: proxy.host };
  }
  const { HttpProxyAgent } = await import("http-proxy-agent");
  const agent = new HttpProxyAgent(proxy, options);
  return { agent, request: open, options: {}, proxy: proxy.host };
}

/** The agent loses the name of a receiver that has an IP address. */
function checkedAs(hostname: string): TunnelOptions {
  const host = hostname.replace(/^\[|\]$/g, "");
  return { checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate) };
}

const VARIABLES = ["http_proxy", "https_proxy", "all_proxy"];

/** Spans, metrics and new certificates each ask for the proxy. */
let hasWarned = false;

async function proxyOf(url: string): Promise<URL | undefined> {
  const isSet = VARIABLES.some((name) => process.env[name] || process.env[name.toUpperCase()]);
  if (!isSet) return undefined;
  const { getProxyForUrl } = await import("proxy-from-env");
  const proxy = getProxyForUrl(url);
  if (proxy === "") return undefined;
  const parsed = URL.canParse(proxy) ? new URL(proxy) : undefined;
  if (parsed?.protocol === "http:" || parsed?.protocol === "https:") return parsed;
  if (hasWarned) return undefined;
  hasWarned = true;
  // Without the value, which can contain a password.
  const text = "HTTP_PROXY, HTTPS_PROXY: expected an http or https URL; connecting without a proxy";
  warnAloud(new Error(text), "export");
  return undefined;
}

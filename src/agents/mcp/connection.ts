import { type McpDetails, property } from "../../events/door.ts";
import { fieldsOf, textOf } from "../core/door.ts";
import type { Request, RequestId, Response } from "./json-rpc.ts";

/** The reserved key of `_meta` with the protocol version (revision 2026-07-28). */
const VERSION_META_KEY = "io.modelcontextprotocol/protocolVersion";

/** Connection data for the attributes of calls. */
export class Connection {
  readonly #transport: object;
  readonly #endpoint: Pick<McpDetails, "transport" | "server_address" | "server_port">;
  #initialize: RequestId | undefined;
  #version: string | undefined;

  constructor(transport: object) {
    this.#transport = transport;
    this.#endpoint = endpointOf(transport);
  }

  /** Reads a request of the client. It may have the protocol version, or be `initialize`. */
  noteRequest({ id, method, params }: Request): void {
    if (method === "initialize") this.#initialize = id;
    const version = textOf(fieldsOf(params?._meta)?.[VERSION_META_KEY]);
    if (version !== undefined) this.#version = version;
  }

  /** Reads a response of the server. It may answer `initialize`. */
  noteResponse({ id, result }: Response): void {
    if (this.#initialize !== id) return;
    this.#initialize = undefined;
    this.#version = textOf(result?.protocolVersion) ?? this.#version;
  }

  details(method: string): McpDetails {
    const session_id = textOf(property(this.#transport, "sessionId"));
    return {
      method,
      ...(this.#version === undefined ? {} : { protocol_version: this.#version }),
      ...(session_id === undefined ? {} : { session_id }),
      ...this.#endpoint,
    };
  }
}

/**
 * The endpoint of a transport. Transports are recognised by their properties, because class names may be minified.
 */
function endpointOf(
  transport: object,
): Pick<McpDetails, "transport" | "server_address" | "server_port"> {
  if (PIPES.some((name) => name in transport)) return { transport: "pipe" };
  if ("handleRequest" in transport || "handlePostMessage" in transport) {
    return { transport: "tcp" };
  }
  const url: unknown = property(transport, "_url");
  if (!(url instanceof URL)) return {};
  const port = Number(url.port) || DEFAULT_PORTS.get(url.protocol);
  return {
    transport: "tcp",
    server_address: url.hostname,
    ...(port === undefined ? {} : { server_port: port }),
  };
}

/** Properties of transports over standard input and output. */
const PIPES = ["stderr", "_stdin"];

const DEFAULT_PORTS: ReadonlyMap<string, number> = new Map([
  ["http:", 80],
  ["https:", 443],
]);

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { isLocalHost, isLoopback } from "../http/local-host.ts";

export interface StatusOptions {
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  /** Why there is nothing to be expected of this worker just now; `undefined`: it is ready. */
  readonly notReady: () => string | undefined;
  readonly metrics: () => string;
}

const REQUEST_MS = 5_000;
const MOST_CONNECTIONS = 64;

/** Answers `/healthz`, `/readyz` and `/metrics`: no bodies are read, and nothing can be changed by it. */
export class StatusServer {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** @throws (rejects) when the address can't be listened on. */
  static async listen(options: StatusOptions): Promise<StatusServer> {
    const { host, port } = options;
    const server = createServer({ requestTimeout: REQUEST_MS }, (request, response) => {
      answer(request, response, options);
    });
    server.maxConnections = MOST_CONNECTIONS;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, () => resolve());
    });
    return new StatusServer(server);
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function answer(request: IncomingMessage, response: ServerResponse, options: StatusOptions): void {
  const { status, text, headers } = answerTo(request, options);
  response.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-store",
    ...headers,
  });
  response.end(request.method === "HEAD" ? undefined : text);
}

function answerTo({ method, url, headers }: IncomingMessage, options: StatusOptions): Answer {
  // A web page that calls itself this machine is none of its callers.
  if (isLoopback(options.host) && !isLocalHost(headers.host)) {
    return { status: 403, text: "host\n" };
  }
  if (method !== "GET" && method !== "HEAD") {
    return { status: 405, text: "method\n", headers: { allow: "GET, HEAD" } };
  }
  switch (url?.split("?", 1)[0]) {
    case "/healthz":
      return { status: 200, text: "ok\n" };
    case "/readyz": {
      const reason = options.notReady();
      if (reason === undefined) return { status: 200, text: "ready\n" };
      return { status: 503, text: `${reason}\n` };
    }
    case "/metrics":
      return { status: 200, text: options.metrics(), headers: PROMETHEUS };
    default:
      return { status: 404, text: "not found\n" };
  }
}

const PROMETHEUS = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };

import { createServer, type IncomingMessage } from "node:http";

/** What a request said of its place. */
export interface Seen {
  readonly url: string | undefined;
  readonly headers: IncomingMessage["headers"];
}

/** A service on this machine that a tool calls; it keeps what it is asked with. */
export class AgentServer {
  readonly seen: Seen[] = [];
  readonly url: string;
  readonly #close: () => Promise<void>;

  private constructor(port: number, close: () => Promise<void>) {
    this.url = `http://127.0.0.1:${port}`;
    this.#close = close;
  }

  static async start(): Promise<AgentServer> {
    let started: AgentServer | undefined;
    const server = createServer(({ url, headers }, response) => {
      started?.seen.push({ url, headers });
      response.end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("expected a TCP port");
    started = new AgentServer(address.port, async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    return started;
  }

  /** The one request with this path; throws when there is none, or more than one. */
  request(path: string): Seen {
    const [request, another] = this.seen.filter(({ url }) => url === path);
    if (request !== undefined && another === undefined) return request;
    throw new Error(`expected one request of ${path} among: ${this.seen.map(({ url }) => url)}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }
}

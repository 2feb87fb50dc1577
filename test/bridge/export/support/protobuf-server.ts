import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { decodeRequest } from "./decode-request.ts";

/** How a request is answered. */
export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

export interface Taken {
  readonly headers: IncomingHttpHeaders;
  /** As it was before it was compressed. */
  readonly body: Buffer;
  readonly status: number;
}

type Answering = (request: number, body: Buffer) => Reply | "hang" | Promise<Reply | "hang">;

/** A real OTLP/HTTP receiver of protobuf on this machine, which can go away and come back. */
export class ProtobufServer {
  /** Requests that were answered, in the order of the answers. */
  readonly requests: Taken[] = [];
  /** The port that each request came from. */
  readonly ports: (number | undefined)[] = [];
  /** The most that were under way at once. */
  mostAtOnce = 0;
  readonly #answer: Answering;
  #server: Server | undefined;
  #port = 0;
  #count = 0;
  #underWay = 0;

  /** @param answer default: always 200. */
  constructor(answer: Answering = () => ({ status: 200 })) {
    this.#answer = answer;
  }

  static async start(answer?: Answering): Promise<ProtobufServer> {
    const server = new ProtobufServer(answer);
    await server.open();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/v1/traces`;
  }

  /** The names of the spans that were answered with 200, in their order. */
  get names(): string[] {
    return this.requests.flatMap(({ body, status }) =>
      status === 200 ? decodeRequest(body).map(({ name }) => name) : [],
    );
  }

  /** Listens, on the port that it had before, if any. */
  async open(): Promise<void> {
    const server = createServer((request, response) => {
      const number = this.#count++;
      this.ports.push(request.socket.remotePort);
      this.mostAtOnce = Math.max(this.mostAtOnce, ++this.#underWay);
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", async () => {
        const sent = Buffer.concat(parts);
        const body = request.headers["content-encoding"] === "gzip" ? gunzipSync(sent) : sent;
        const reply = await this.#answer(number, body);
        this.#underWay--;
        if (reply === "hang") return;
        this.requests.push({ headers: request.headers, body, status: reply.status });
        response.writeHead(reply.status, { ...reply.headers }).end(reply.body);
      });
    });
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.#port, "127.0.0.1", resolve));
    this.#port = portOf(server.address());
  }

  async close(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** The port that a server listens on. */
export function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === "string") throw new Error("expected a TCP port");
  return address.port;
}

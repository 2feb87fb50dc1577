import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { type ConnectionLimits, Connections } from "./connections.ts";
import { answerSocket, Refusal, type Unreadable, unreadable } from "./refusal.ts";

interface FrontOptions {
  readonly server: ServerOptions;
  readonly connections: ConnectionLimits;
  /**
   * Answers a request. Must call `checkHead` first. Requests of one connection are served one after the other. If it
   * rejects, the connection is cut off.
   *
   * @returns whether the connection stays open.
   */
  readonly serve: (request: IncomingMessage, response: ServerResponse) => Promise<boolean>;
  /** Called with each refusal of malformed requests. */
  readonly onRefused?: (refusal: Refusal) => void;
  /** Called when a sender leaves in the middle of a request. */
  readonly onCut?: () => void;
  /** Called for each connection that is closed because there are too many. */
  readonly onDropped?: () => void;
  /** Called with errors of `serve`. */
  readonly onError: (error: unknown) => void;
}

/**
 * A server of `node:http` that gives all answers itself. Node's own answers have no body, and Node gives CONNECT none.
 */
export class HttpFront {
  readonly server: Server;
  readonly connections: Connections;
  readonly #options: FrontOptions;
  readonly #serving = new Set<Promise<void>>();

  constructor(options: FrontOptions) {
    this.#options = options;
    this.server = createServer({ ...options.server, requireHostHeader: false });
    // Node drops headers after the 2,000th, perhaps a Host or a Transfer-Encoding. The length of the head already
    // bounds their number.
    this.server.maxHeadersCount = 0;
    this.connections = new Connections(this.server, options.connections, () =>
      options.onDropped?.(),
    );
    const onRequest = (request: IncomingMessage, response: ServerResponse) => {
      this.#take(request.socket, () => options.serve(request, response));
    };
    for (const event of ["request", "checkContinue", "checkExpectation"]) {
      this.server.on(event, onRequest);
    }
    this.server.on("connect", (_request, socket) => {
      const refusal = new Refusal("not_implemented", "expected another method than CONNECT");
      this.#end(socket, { refusal, cut: false });
    });
    this.server.on("clientError", (error, socket) => {
      const reason = unreadable(error);
      if (reason === undefined) socket.destroy();
      else this.#end(socket, reason);
    });
  }

  /**
   * Listens.
   *
   * @param onError called with later errors of the server. Default: `onError` of the options.
   * @throws (rejects) an error of the system, such as EADDRINUSE.
   */
  listen(port: number, host: string, onError = this.#options.onError): Promise<AddressInfo> {
    const { server } = this;
    return new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, () => {
        server.off("error", reject);
        server.on("error", onError);
        const address = server.address();
        if (address === null || typeof address === "string") reject(new Error("expected a port"));
        else resolve(address);
      });
    });
  }

  /** 0 if it does not listen. */
  get port(): number {
    const address = this.server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  /** Closes all connections. Resolves when no request is being served. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
    await this.served();
  }

  /** Resolves when no request is being served. */
  async served(): Promise<void> {
    while (this.#serving.size > 0) await Promise.all(this.#serving);
  }

  /** If a body is being read, its reader answers. Otherwise the connection is answered here, in its turn. */
  #end(socket: Duplex, { refusal, cut }: Unreadable): void {
    if (!this.connections.breakOff(socket, refusal)) return;
    if (cut) this.#options.onCut?.();
    this.#take(socket, async () => {
      this.#options.onRefused?.(refusal);
      answerSocket(socket, refusal);
      return false;
    });
  }

  #take(socket: Duplex, serve: () => Promise<boolean>): void {
    const served = this.connections.inTurn(socket, serve);
    if (served === undefined) return;
    const turn = served
      .catch((error: unknown) => {
        this.#options.onError(error);
        socket.destroy();
      })
      .finally(() => this.#serving.delete(turn));
    this.#serving.add(turn);
  }
}

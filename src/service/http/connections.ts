import type { Server } from "node:http";
import type { Socket } from "node:net";
import { SPARE_CONNECTIONS } from "./ingest-limits.ts";

/** Requests of one connection that may wait behind one that is being served. */
const MOST_PIPELINED = 32;

interface Connection {
  /** It came when all places of senders were taken. */
  readonly spare: boolean;
  waiting: number;
  last: Promise<void>;
}

/** The connections that are open, and the requests of each: one after the other. */
export class Connections {
  readonly #most: number;
  readonly #open = new Map<Socket, Connection>();

  /** @param most connections that may send events. */
  constructor(server: Server, most: number, onDropped: () => void) {
    this.#most = most;
    server.maxConnections = most + SPARE_CONNECTIONS;
    server.on("drop", onDropped);
    server.on("connection", (socket) => {
      const spare = this.#open.size >= most;
      this.#open.set(socket, { spare, waiting: 0, last: Promise.resolve() });
      socket.once("close", () => this.#open.delete(socket));
    });
  }

  get size(): number {
    return this.#open.size;
  }

  /** Whether a connection may not send events, since there are too many that do. */
  isSpare(socket: Socket): boolean {
    return this.#open.get(socket)?.spare === true && this.#open.size > this.#most;
  }

  /**
   * Serves a request once those before it on the same connection have been answered: else the lines of
   * two of them could get into each other. A connection with too many requests at a time is cut off.
   *
   * @returns `undefined` where the request is not served.
   */
  inTurn(socket: Socket, serve: () => Promise<void>): Promise<void> | undefined {
    const connection = this.#open.get(socket);
    // A piece of 64 KiB may hold a thousand requests, which come here even when it is cut off by then.
    if (connection === undefined || socket.destroyed) return undefined;
    if (connection.waiting >= MOST_PIPELINED) {
      socket.destroy();
      return undefined;
    }
    connection.waiting += 1;
    const turn = connection.last.then(serve).finally(() => {
      connection.waiting -= 1;
    });
    connection.last = turn.catch(() => {});
    return turn;
  }
}

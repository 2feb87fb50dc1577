import type { Server } from "node:http";
import type { Duplex } from "node:stream";
import type { Refusal } from "./refusal.ts";

/** Requests of one connection that may wait behind one that is being served. */
const MOST_PIPELINED = 32;

export interface ConnectionLimits {
  /** Connections that may send events. */
  readonly most: number;
  /** Those beyond that are answered all the same. What comes beyond these is closed at once. */
  readonly spare: number;
}

interface Connection {
  /** It came when all places of senders were taken. */
  readonly spare: boolean;
  /** Aborted once nothing further can be read of it; the reason is a Refusal. */
  readonly broken: AbortController;
  waiting: number;
  last: Promise<void>;
  /** Its last answer was given: what else was read of it is not served. */
  over: boolean;
}

/** The connections that are open, and the requests of each: one after the other. */
export class Connections {
  readonly #most: number;
  readonly #open = new Map<Duplex, Connection>();

  constructor(server: Server, { most, spare }: ConnectionLimits) {
    this.#most = most;
    server.maxConnections = most + spare;
    server.on("connection", (socket) => {
      this.#open.set(socket, {
        spare: this.#open.size >= most,
        broken: new AbortController(),
        waiting: 0,
        last: Promise.resolve(),
        over: false,
      });
      socket.once("close", () => this.#open.delete(socket));
    });
  }

  get size(): number {
    return this.#open.size;
  }

  /** Whether a connection may not send events, since there are too many that do. */
  isSpare(socket: Duplex): boolean {
    return this.#open.get(socket)?.spare === true && this.#open.size > this.#most;
  }

  /** Aborted once nothing further can be read of this connection. */
  brokenSignal(socket: Duplex): AbortSignal {
    return this.#open.get(socket)?.broken.signal ?? AbortSignal.abort();
  }

  /**
   * Nothing further can be read of it: a body that has not come to its end will not.
   *
   * @returns whether that was not known before.
   */
  breakOff(socket: Duplex, reason: Refusal): boolean {
    const broken = this.#open.get(socket)?.broken;
    if (broken === undefined || broken.signal.aborted) return false;
    broken.abort(reason);
    return true;
  }

  /**
   * Serves a request once those before it on the same connection have been answered: else the lines of
   * two of them could get into each other. A connection with too many requests at a time is cut off.
   *
   * @param serve resolves with whether the connection goes on; where it does not, what was read behind this
   * request is not served: its sender would never hear of it.
   * @returns `undefined` where the request is not served.
   */
  inTurn(socket: Duplex, serve: () => Promise<boolean>): Promise<void> | undefined {
    const connection = this.#open.get(socket);
    // A piece of 64 KiB may hold a thousand requests, which come here even when it is cut off by then.
    if (connection === undefined || socket.destroyed) return undefined;
    if (connection.waiting >= MOST_PIPELINED) {
      socket.destroy();
      return undefined;
    }
    connection.waiting += 1;
    const turn = connection.last
      .then(async () => {
        if (!connection.over) connection.over = !(await serve());
      })
      .finally(() => {
        connection.waiting -= 1;
      });
    connection.last = turn.catch(() => {});
    return turn;
  }
}

import type { Server } from "node:http";
import type { Duplex } from "node:stream";
import type { Refusal } from "./refusal.ts";

/** Requests of one connection that may wait behind one that is being served. */
const MOST_PIPELINED = 32;

export interface ConnectionLimits {
  /** Connections that may be admitted at one time. */
  readonly most: number;
  /** Those beyond that are answered all the same. One beyond these takes the place of another, see {@link Connections}. */
  readonly spare: number;
}

interface Connection {
  /** See {@link Connections.admit}. */
  admitted: boolean;
  /** Aborted once nothing further can be read of it; the reason is a Refusal. */
  readonly broken: AbortController;
  waiting: number;
  last: Promise<void>;
  /** Its last answer was given: what else was read of it is not served. */
  over: boolean;
}

/**
 * The connections that are open, and the requests of each: one after the other. Where all places are taken, a new
 * connection gets that of the one that was idle longest. So connections without a request keep nobody away. One that is
 * admitted gives way last, and never while it is served.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #onDropped: () => void;
  /** In the order of their last request; before the first one, of their begin. */
  readonly #open = new Map<Duplex, Connection>();

  /** @param onDropped told of each connection that is closed because there are too many. */
  constructor(server: Server, limits: ConnectionLimits, onDropped: () => void) {
    this.#limits = limits;
    this.#onDropped = onDropped;
    server.on("connection", (socket) => this.#take(socket));
  }

  get size(): number {
    return this.#open.size;
  }

  /**
   * Says that somebody known sends on this connection.
   *
   * @returns whether there is a place for it among those that are admitted.
   */
  admit(socket: Duplex): boolean {
    const connection = this.#open.get(socket);
    if (connection === undefined) return false;
    if (connection.admitted) return true;
    const admitted = [...this.#open.values()].filter((each) => each.admitted);
    connection.admitted = admitted.length < this.#limits.most;
    return connection.admitted;
  }

  #take(socket: Duplex): void {
    const { most, spare } = this.#limits;
    if (this.#open.size >= most + spare) {
      this.#onDropped();
      const last = this.#dispensable();
      if (last === undefined) {
        socket.destroy();
        return;
      }
      this.#open.delete(last);
      last.destroy();
    }
    this.#open.set(socket, {
      admitted: false,
      broken: new AbortController(),
      waiting: 0,
      last: Promise.resolve(),
      over: false,
    });
    socket.once("close", () => this.#open.delete(socket));
  }

  /** The connection that gives way: of those that matter least the one that did nothing longest. */
  #dispensable(): Duplex | undefined {
    let found: Duplex | undefined;
    let least = SERVED_AND_ADMITTED;
    for (const [socket, connection] of this.#open) {
      const weight = weightOf(connection);
      if (weight >= least) continue;
      found = socket;
      least = weight;
    }
    return found;
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
    this.#touch(socket, connection);
    const turn = connection.last
      .then(async () => {
        if (!connection.over) connection.over = !(await serve());
      })
      .finally(() => {
        connection.waiting -= 1;
        this.#touch(socket, connection);
      });
    connection.last = turn.catch(() => {});
    return turn;
  }

  #touch(socket: Duplex, connection: Connection): void {
    // It may be gone by now.
    if (this.#open.delete(socket)) this.#open.set(socket, connection);
  }
}

const SERVED_AND_ADMITTED = 3;

function weightOf({ admitted, waiting }: Connection): number {
  if (admitted) return waiting > 0 ? SERVED_AND_ADMITTED : 2;
  // Who is answered, and does not read the answer, holds a place as well.
  return waiting > 0 ? 1 : 0;
}

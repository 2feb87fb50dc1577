import type { Server } from "node:http";
import type { Duplex } from "node:stream";
import type { Refusal } from "./refusal.ts";

/** Maximum number of requests that wait on one connection behind the current one. */
const MOST_PIPELINED = 32;

export interface ConnectionLimits {
  /** Maximum number of admitted connections. */
  readonly most: number;
  /** Further connections that are answered. One beyond these replaces another, see {@link Connections}. */
  readonly spare: number;
}

interface Connection {
  /** See {@link Connections.admit}. */
  admitted: boolean;
  /** Aborted with a Refusal when no more can be read from the connection. */
  readonly broken: AbortController;
  waiting: number;
  last: Promise<void>;
  /** Its last answer was given. Further requests on it are not served. */
  over: boolean;
}

/**
 * The open connections. Requests of one connection are served one after the other. At the limit, a new connection
 * replaces the one that was idle longest, so connections without a request keep no one out. Admitted connections are
 * replaced last, and never while they are served.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #onDropped: () => void;
  /** In the order of their last request, or of their start before the first request. */
  readonly #open = new Map<Duplex, Connection>();

  /** @param onDropped called for each connection that is closed because there are too many. */
  constructor(server: Server, limits: ConnectionLimits, onDropped: () => void) {
    this.#limits = limits;
    this.#onDropped = onDropped;
    server.on("connection", (socket) => this.#take(socket));
  }

  get size(): number {
    return this.#open.size;
  }

  /**
   * Marks the connection as that of a known sender.
   *
   * @returns whether it is admitted. `false` at the limit.
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

  /** The connection to replace: the longest idle one of the least important kind. */
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

  /** Aborted when no more can be read from this connection. */
  brokenSignal(socket: Duplex): AbortSignal {
    return this.#open.get(socket)?.broken.signal ?? AbortSignal.abort();
  }

  /**
   * Marks a connection as unreadable. An incomplete body stays incomplete.
   *
   * @returns whether this is new.
   */
  breakOff(socket: Duplex, reason: Refusal): boolean {
    const broken = this.#open.get(socket)?.broken;
    if (broken === undefined || broken.signal.aborted) return false;
    broken.abort(reason);
    return true;
  }

  /**
   * Serves a request after the earlier requests of its connection were answered. Otherwise lines of two requests could
   * mix. A connection with too many waiting requests is cut off.
   *
   * @param serve resolves with whether the connection stays open. If not, later requests on it are not served, because
   *   the sender could not get their answers.
   * @returns `undefined` if the request is not served.
   */
  inTurn(socket: Duplex, serve: () => Promise<boolean>): Promise<void> | undefined {
    const connection = this.#open.get(socket);
    // A read of 64 KiB may contain a thousand requests. They arrive here even after the connection was cut off.
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
    // The connection may be closed by now.
    if (this.#open.delete(socket)) this.#open.set(socket, connection);
  }
}

const SERVED_AND_ADMITTED = 3;

function weightOf({ admitted, waiting }: Connection): number {
  if (admitted) return waiting > 0 ? SERVED_AND_ADMITTED : 2;
  // A client that does not read its answer also takes up a connection.
  return waiting > 0 ? 1 : 0;
}

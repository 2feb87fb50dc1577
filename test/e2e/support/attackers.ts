import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";

const HEAD =
  "POST /v1/events HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-ndjson\r\n";

/** One who means no good: what it says when it is connected, and again and again after that. */
export interface Attack {
  readonly first: string | Buffer;
  /** Said again as soon as the other side has room. */
  readonly again?: Buffer;
  /** Said again after so many ms, in place of at once. */
  readonly everyMs?: number;
  /** Where the other side ends it, it comes again. */
  readonly comesAgain?: boolean;
}

function chunk(bytes: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`${bytes.length.toString(16)}\r\n`),
    bytes,
    Buffer.from("\r\n"),
  ]);
}

const CHUNKED = `${HEAD}transfer-encoding: chunked\r\n\r\n`;
const BOMB = gzipSync(Buffer.alloc(200_000_000, 0x30));

export const ATTACKS = {
  /** A line that never ends. */
  endlessLine: { first: CHUNKED, again: chunk(Buffer.alloc(65_536, 0x61)), comesAgain: true },
  /** Line after line of nonsense. */
  endlessLines: {
    first: CHUNKED,
    again: chunk(Buffer.from('{"type":"started"}\n'.repeat(3_000))),
    comesAgain: true,
  },
  /** 200 kB that would be 200 MB. */
  bomb: {
    first: Buffer.concat([
      Buffer.from(`${HEAD}content-encoding: gzip\r\ncontent-length: ${BOMB.length}\r\n\r\n`),
      BOMB,
    ]),
    comesAgain: true,
  },
  /** A head, letter by letter. */
  slowHead: { first: `${HEAD}x-slow: `, again: Buffer.from("x"), everyMs: 300 },
  /** A body, letter by letter. */
  slowBody: { first: CHUNKED, again: chunk(Buffer.from("x")), everyMs: 300 },
  /** A connection, and nothing. */
  silent: { first: "" },
  /** A body that stops. */
  stopped: { first: `${HEAD}content-length: 100000\r\n\r\n{"type":` },
  /** Requests without end, whose answers are not read. */
  deaf: {
    first: "",
    again: Buffer.from("GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(50)),
    comesAgain: true,
  },
} as const satisfies Readonly<Record<string, Attack>>;

/** Carries out an attack over one connection after the other, until it is stopped. */
export class Attacker {
  readonly #attack: Attack;
  readonly #port: number;
  #socket: Socket | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  /** How often the other side has ended the connection. */
  ended = 0;
  /** The start of what the other side said last. */
  answer = "";

  constructor(attack: Attack, port: number, listens: boolean) {
    this.#attack = attack;
    this.#port = port;
    this.#connect(listens);
  }

  stop(): void {
    this.#stopped = true;
    clearInterval(this.#timer);
    this.#socket?.destroy();
  }

  #connect(listens: boolean): void {
    const { first, again, everyMs, comesAgain } = this.#attack;
    const socket = connect(this.#port, "127.0.0.1");
    this.#socket = socket;
    socket.on("error", () => {});
    if (listens) {
      let said = "";
      socket.setEncoding("latin1").on("data", (text: string) => {
        said = (said + text).slice(0, 1_000);
        this.answer = said;
      });
    }
    socket.once("close", () => {
      clearInterval(this.#timer);
      if (this.#stopped) return;
      this.ended += 1;
      if (comesAgain === true) setTimeout(() => this.#stopped || this.#connect(listens), 100);
    });
    if (first.length > 0) socket.write(first);
    if (again === undefined) return;
    if (everyMs !== undefined) {
      this.#timer = setInterval(() => socket.write(again), everyMs);
      return;
    }
    const go = () => {
      // With room, so that this side stays small too.
      while (!socket.destroyed && socket.write(again));
    };
    socket.on("drain", go);
    socket.once("connect", go);
  }
}

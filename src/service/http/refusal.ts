import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { refusalJson } from "./answer.ts";

/** Reasons to refuse a request: status, and meaning for the sender as in docs/openapi.json. */
export const REFUSALS = {
  bad_request: { status: 400, about: "Malformed HTTP request, or one that ended early." },
  encoding: {
    status: 400,
    about:
      "`Content-Encoding` is neither gzip nor identity, or the gzip data is damaged. No line was stored.",
  },
  dialect: { status: 400, about: "`dialect` is unknown." },
  query: { status: 400, about: "A parameter of the query is unknown, or its value is invalid." },
  token: { status: 401, about: "The token is missing or unknown." },
  forbidden: { status: 403, about: "The token does not allow this." },
  not_found: { status: 404, about: "There is nothing at this path." },
  method: {
    status: 405,
    about: "The path does not support this method. `Allow` lists the supported ones.",
  },
  slow: { status: 408, about: "The body took too long, or stopped." },
  body_size: {
    status: 413,
    about: "The body is too long, as it came or after decompression. Send it in parts.",
  },
  line_count: { status: 413, about: "The body has too many lines. Send it in parts." },
  media_type: { status: 415, about: "`Content-Type` is not application/x-ndjson." },
  expectation: { status: 417, about: "`Expect` is not 100-continue." },
  host: {
    status: 421,
    about: "Without tokens, `Host` must name this machine: a page in a browser may not write here.",
  },
  rate: { status: 429, about: "The tenant sends more lines than its rate allows." },
  head_size: { status: 431, about: "The head of the request is too long." },
  internal: { status: 500, about: "An internal error of the service." },
  not_implemented: {
    status: 501,
    about: "The method is CONNECT, or `Transfer-Encoding` is not chunked.",
  },
  backlog: { status: 503, about: "Too much is accepted and not stored yet." },
  store: { status: 503, about: "The journal can't be written." },
  memory: { status: 503, about: "Too many compressed bodies wait for their last byte." },
  connections: { status: 503, about: "Too many connections send events." },
  draining: { status: 503, about: "The service is shutting down." },
} as const;

export type RefusalCode = keyof typeof REFUSALS;

/** Default wait before a retry, in s. */
const DEFAULT_RETRY_AFTER = 5;

/** A request that is not served, or not completely. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  /** Wait before a retry, in whole seconds. `undefined` if a retry does not help. */
  readonly retryAfter: number | undefined;

  /** @param message for the sender: the expected value. */
  constructor(code: RefusalCode, message: string, retryAfter?: number) {
    super(message);
    this.name = "Refusal";
    this.code = code;
    const again = this.status === 429 || this.status === 503;
    this.retryAfter = again ? Math.max(1, Math.ceil(retryAfter ?? DEFAULT_RETRY_AFTER)) : undefined;
  }

  get status(): number {
    return REFUSALS[this.code].status;
  }
}

/** The sender left before the end of its body, so there is no answer. */
export class SenderGone extends Error {
  constructor() {
    super("the sender has gone");
    this.name = "SenderGone";
  }
}

/** The sender ended its side in the middle of a request. It may read the answer. */
export class EndedEarly extends Refusal {
  constructor() {
    super("bad_request", "expected the rest of the request");
  }
}

/** How long the other side may take to close the connection, in ms. */
const LINGER_MS = 1_000;

/** Why no more requests can be read from a connection. */
export interface Unreadable {
  readonly refusal: Refusal;
  /** Whether the sender left in the middle of a request. */
  readonly cut: boolean;
}

/**
 * The refusal for an error of Node's parser.
 *
 * @returns `undefined` if the connection is closed already.
 */
export function unreadable(error: Error): Unreadable | undefined {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  switch (code) {
    case "ECONNRESET":
    case "EPIPE":
      return undefined;
    case "HPE_HEADER_OVERFLOW":
      return { refusal: new Refusal("head_size", "expected a shorter head"), cut: false };
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { refusal: new Refusal("slow", "expected the request in time"), cut: false };
    case "HPE_INVALID_EOF_STATE":
      return { refusal: new EndedEarly(), cut: true };
    default: {
      // The parser's own words. They quote nothing of the request.
      const found = "reason" in error && typeof error.reason === "string" ? error.reason : code;
      return {
        refusal: new Refusal("bad_request", `expected an HTTP/1.1 request (${found})`),
        cut: false,
      };
    }
  }
}

/** Answers a connection that has no request, and closes it. */
export function answerSocket(socket: Duplex, refusal: Refusal): void {
  // Node stops listening after CONNECT: an error would end the process.
  socket.on("error", () => {});
  if (!socket.writable) return;
  const body = `${JSON.stringify({ error: refusalJson(refusal) })}\n`;
  const head = [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ""}`,
    "content-type: application/json",
    "x-content-type-options: nosniff",
    "cache-control: no-store",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
  // Reads and drops further bytes for a while: closing at once would lose the answer for a sender that is still
  // writing.
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

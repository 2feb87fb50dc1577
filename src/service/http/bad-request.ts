import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { refusalJson } from "./answer.ts";
import { Refusal } from "./refusal.ts";

/** How long the other side may take to close the connection, in ms. */
const LINGER_MS = 1_000;

/** Why no further request can be read on a connection. */
export interface Unreadable {
  readonly refusal: Refusal;
  /** The sender ended in the middle of a request. */
  readonly cut: boolean;
}

/**
 * What an error of Node's parser means to the sender.
 *
 * @returns `undefined` where nobody is there to read an answer.
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
      return { refusal: new Refusal("bad_request", "expected the rest of the request"), cut: true };
    default: {
      // The parser's words for what it found; they quote nothing of the request.
      const found = "reason" in error && typeof error.reason === "string" ? error.reason : code;
      return {
        refusal: new Refusal("bad_request", `expected an HTTP/1.1 request (${found})`),
        cut: false,
      };
    }
  }
}

/** Answers on a connection that has no request, and closes it. */
export function answerSocket(socket: Duplex, refusal: Refusal): void {
  // Node no longer listens to a connection that asked for a tunnel: an error would end the process.
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
  // What else comes is read and dropped for a while: closed at once, the answer would be lost to a sender
  // that still writes.
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

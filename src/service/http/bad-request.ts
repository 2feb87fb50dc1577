import type { Duplex } from "node:stream";
import { Refusal, type RefusalCode } from "./refusal.ts";

/** How long the other side may take to close the connection, in ms. */
const LINGER_MS = 1_000;

/**
 * Answers what is no request that Node's parser can read, or is none in time, and closes the
 * connection.
 *
 * @returns the code of the answer; `undefined` where nobody is there to read one.
 */
export function answerBadRequest(error: Error, socket: Duplex): RefusalCode | undefined {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (!socket.writable || code === "ECONNRESET" || code === "EPIPE") {
    socket.destroy();
    return undefined;
  }
  const refusal = refusalOf(code);
  const body = `${JSON.stringify({ error: { code: refusal.code, message: refusal.message } })}\n`;
  const head = [
    `HTTP/1.1 ${refusal.status} ${REASONS[refusal.status] ?? "Bad Request"}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
  // Not at once, since the answer would be lost to one who still writes; but not never either.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
  return refusal.code;
}

const REASONS: Readonly<Record<number, string>> = {
  400: "Bad Request",
  408: "Request Timeout",
  431: "Request Header Fields Too Large",
};

function refusalOf(code: string): Refusal {
  if (code === "HPE_HEADER_OVERFLOW") return new Refusal("head_size", "expected a shorter head");
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return new Refusal("slow", "expected the head of the request in time");
  }
  return new Refusal("bad_request", "expected an HTTP/1.1 request");
}

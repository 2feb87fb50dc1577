import { once } from "node:events";
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Refusal } from "./refusal.ts";

export interface Answer {
  readonly status: number;
  readonly headers?: OutgoingHttpHeaders;
  /** The body in pieces; asked for twice, and the same each time. */
  readonly body: () => Iterable<string>;
}

/** How long a sender is listened to after an answer that came before its body's end, in ms. */
const LINGER_MS = 1_000;
/** How much of such a body is read and thrown away, in bytes. */
const LINGER_BYTES = 4 * 1024 * 1024;

export function jsonAnswer(status: number, value: object, headers?: OutgoingHttpHeaders): Answer {
  const text = `${JSON.stringify(value)}\n`;
  return { status, body: () => [text], ...(headers === undefined ? {} : { headers }) };
}

/** The error of a refusal, as it stands in answers. */
export function refusalJson({ code, message }: Refusal): {
  readonly code: string;
  readonly message: string;
} {
  return { code, message };
}

export function refusalHeaders(refusal: Refusal): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {};
  if (refusal.retryAfter !== undefined) headers["retry-after"] = String(refusal.retryAfter);
  if (refusal.code === "token") headers["www-authenticate"] = "Bearer";
  return headers;
}

/**
 * Writes an answer as fast as it is read. Where the request's body has not come to its end, the
 * connection is closed after it; but not at once, since a sender that still writes would lose the
 * answer.
 *
 * @param idleMs how long the reader may stand still.
 * @returns whether it was written. It does not reject.
 */
export async function writeAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  idleMs: number,
): Promise<boolean> {
  const { status, headers = {}, body } = answer;
  const early = !request.complete;
  if (early) response.setHeader("connection", "close");
  let bytes = 0;
  for (const piece of body()) bytes += Buffer.byteLength(piece);
  response.writeHead(status, {
    "content-type": "application/json",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    ...headers,
    "content-length": bytes,
  });
  try {
    if (request.method === "HEAD") response.flushHeaders();
    else {
      for (const piece of body()) {
        if (!response.write(piece)) await within(idleMs, request, response, "drain");
      }
    }
    if (early) await linger(request);
    if (request.socket.destroyed) return false;
    response.end();
    if (!response.writableFinished) await within(idleMs, request, response, "finish");
    return true;
  } catch {
    // Whoever does not read its answer is cut off, and gets nothing more.
    response.destroy();
    request.socket.destroy();
    return false;
  }
}

/** @throws when the event does not come in time, or the connection ends before it. */
async function within(
  ms: number,
  { socket }: IncomingMessage,
  response: ServerResponse,
  event: string,
) {
  const ended = new AbortController();
  const end = () => ended.abort();
  const timer = setTimeout(end, ms);
  // The connection, not the response: one that waits behind another hears of no end.
  socket.once("close", end);
  try {
    if (socket.destroyed) end();
    await once(response, event, { signal: ended.signal });
  } finally {
    clearTimeout(timer);
    socket.off("close", end);
  }
}

async function linger(request: IncomingMessage): Promise<void> {
  const over = new AbortController();
  const end = () => over.abort();
  let bytes = 0;
  const count = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > LINGER_BYTES) end();
  };
  request.on("data", count);
  for (const event of ["end", "close", "error"]) request.once(event, end);
  request.resume();
  if (request.readableEnded || request.destroyed) end();
  await sleep(LINGER_MS, undefined, { signal: over.signal }).catch(() => {});
  request.off("data", count);
  for (const event of ["end", "close", "error"]) request.off(event, end);
  request.pause();
  // What comes after this is the sender's own trouble.
  request.on("error", () => {});
}

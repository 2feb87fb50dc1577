import { once } from "node:events";
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Refusal } from "./refusal.ts";

export interface Answer {
  readonly status: number;
  readonly headers?: OutgoingHttpHeaders;
  /** The body in pieces; asked for twice, and the same each time, unless it is streamed. */
  readonly body: () => Iterable<string>;
  /** Asked for once and sent as it comes, without its length: it is long, or may change meanwhile. */
  readonly streamed?: true;
}

/** How long a sender is listened to after an answer that came before its body's end, in ms. */
const LINGER_MS = 1_000;
/** How much of such a body is read and thrown away, in bytes. */
const LINGER_BYTES = 4 * 1024 * 1024;

export function jsonAnswer(status: number, value: object, headers?: OutgoingHttpHeaders): Answer {
  const text = `${JSON.stringify(value)}\n`;
  return { status, body: () => [text], ...(headers === undefined ? {} : { headers }) };
}

export function textAnswer(status: number, text: string, type = "text/plain"): Answer {
  return { status, body: () => [text], headers: { "content-type": `${type}; charset=utf-8` } };
}

/** Metrics in the form that Prometheus reads. */
export function metricsAnswer(text: string): Answer {
  return textAnswer(200, text, "text/plain; version=0.0.4");
}

export function refusedAnswer(refusal: Refusal, headers: OutgoingHttpHeaders = {}): Answer {
  const error = refusalJson(refusal);
  return jsonAnswer(refusal.status, { error }, { ...refusalHeaders(refusal), ...headers });
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
  // Where a request ends is not sure then: what comes behind it might be part of it.
  if (refusal.code === "bad_request" || refusal.code === "not_implemented") {
    headers.connection = "close";
  }
  return headers;
}

/**
 * Writes an answer as fast as it is read. Where the request's body has not come to its end, the request
 * asks for it, or the answer says `connection: close`, the connection is closed after it; but not at once,
 * since a sender that still writes would lose the answer.
 *
 * @param idleMs how long the reader may stand still.
 * @returns whether the connection goes on. It does not reject.
 */
export async function writeAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  idleMs: number,
): Promise<boolean> {
  const { status, headers = {}, body, streamed = false } = answer;
  const early = !request.complete;
  const last = early || headers.connection === "close" || !response.shouldKeepAlive;
  response.writeHead(status, {
    "content-type": "application/json",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    ...headers,
    ...(last ? { connection: "close" } : {}),
    ...(streamed ? {} : { "content-length": bytesOf(body()) }),
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
    return !last;
  } catch {
    // Whoever does not read its answer is cut off, and gets nothing more.
    response.destroy();
    request.socket.destroy();
    return false;
  }
}

function bytesOf(pieces: Iterable<string>): number {
  let bytes = 0;
  for (const piece of pieces) bytes += Buffer.byteLength(piece);
  return bytes;
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
  const { socket } = request;
  const over = new AbortController();
  const end = () => over.abort();
  let bytes = 0;
  const count = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > LINGER_BYTES) end();
  };
  request.on("data", count);
  for (const event of ["end", "close", "error"]) request.once(event, end);
  // Who has ended its side sends nothing more, also where its body lacks its end.
  socket.once("end", end);
  request.resume();
  if (request.readableEnded || request.destroyed || socket.readableEnded) end();
  await sleep(LINGER_MS, undefined, { signal: over.signal }).catch(() => {});
  request.off("data", count);
  for (const event of ["end", "close", "error"]) request.off(event, end);
  socket.off("end", end);
  request.pause();
  // What comes after this is the sender's own trouble.
  request.on("error", () => {});
}

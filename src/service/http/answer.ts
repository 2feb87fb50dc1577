import { once } from "node:events";
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Refusal } from "./refusal.ts";

export interface Answer {
  readonly status: number;
  readonly headers?: OutgoingHttpHeaders;
  /** The body in pieces. It is called twice and must give the same text. */
  readonly body: () => Iterable<string | Uint8Array>;
  readonly streamed?: undefined;
}

/** An answer without its length, whose `body` is called once: it is long, or may change meanwhile. */
export interface StreamedAnswer extends Pick<Answer, "status" | "headers"> {
  readonly body: () => Iterable<string> | AsyncIterable<string>;
  readonly streamed: true;
}

/** How long a body is still read after its answer, in ms. */
const LINGER_MS = 1_000;
/** Maximum number of bytes of such a body that are read and dropped. */
const LINGER_BYTES = 4 * 1024 * 1024;

export function jsonAnswer(status: number, value: object, headers?: OutgoingHttpHeaders): Answer {
  const text = `${JSON.stringify(value)}\n`;
  return { status, body: () => [text], ...(headers === undefined ? {} : { headers }) };
}

export function textAnswer(status: number, text: string, type = "text/plain"): Answer {
  return { status, body: () => [text], headers: { "content-type": `${type}; charset=utf-8` } };
}

/** Metrics in Prometheus' text format. */
export function metricsAnswer(text: string): Answer {
  return textAnswer(200, text, "text/plain; version=0.0.4");
}

export function refusedAnswer(refusal: Refusal, headers: OutgoingHttpHeaders = {}): Answer {
  const error = refusalJson(refusal);
  return jsonAnswer(refusal.status, { error }, { ...refusalHeaders(refusal), ...headers });
}

/** The error of a refusal, as in answers. */
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
  // The end of such a request is uncertain: the next bytes may belong to it.
  if (refusal.code === "bad_request" || refusal.code === "not_implemented") {
    headers.connection = "close";
  }
  return headers;
}

/**
 * Writes an answer as fast as it is read. Closes the connection after it if the request's body has not ended, or
 * request or answer ask for it. It does not close at once, because a sender that is still writing would lose the
 * answer.
 *
 * @param idleMs maximum time in which the reader reads nothing.
 * @returns whether the connection stays open. Does not reject.
 */
export async function writeAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer | StreamedAnswer,
  idleMs: number,
): Promise<boolean> {
  const { status, headers = {} } = answer;
  const early = !request.complete;
  const last = early || headers.connection === "close" || !response.shouldKeepAlive;
  response.writeHead(status, {
    "content-type": "application/json",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    ...headers,
    ...(last ? { connection: "close" } : {}),
    ...(answer.streamed ? {} : { "content-length": bytesOf(answer.body()) }),
  });
  try {
    if (request.method === "HEAD") response.flushHeaders();
    else {
      for await (const piece of answer.body()) {
        if (!response.write(piece)) await within(idleMs, request, response, "drain");
      }
    }
    if (early) await linger(request);
    if (request.socket.destroyed) return false;
    response.end();
    if (!response.writableFinished) await within(idleMs, request, response, "finish");
    return !last;
  } catch {
    // A client that does not read its answer is disconnected.
    response.destroy();
    request.socket.destroy();
    return false;
  }
}

function bytesOf(pieces: Iterable<string | Uint8Array>): number {
  let bytes = 0;
  for (const piece of pieces) bytes += Buffer.byteLength(piece);
  return bytes;
}

/** @throws if the event does not come in time, or the connection ends first. */
async function within(
  ms: number,
  { socket }: IncomingMessage,
  response: ServerResponse,
  event: string,
) {
  const ended = new AbortController();
  const end = () => ended.abort();
  const timer = setTimeout(end, ms);
  // The connection, not the response: a response that waits behind another has no close event.
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
  // A sender that has ended its side sends nothing more, even if its body is incomplete.
  socket.once("end", end);
  request.resume();
  if (request.readableEnded || request.destroyed || socket.readableEnded) end();
  await sleep(LINGER_MS, undefined, { signal: over.signal }).catch(() => {});
  request.off("data", count);
  for (const event of ["end", "close", "error"]) request.off(event, end);
  socket.off("end", end);
  request.pause();
  // Later errors only concern the sender.
  request.on("error", () => {});
}

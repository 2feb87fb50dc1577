import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import {
  type Fields,
  messageOf,
  type Rejected,
  traceRequestIn,
  traceRequestOf,
  traceResponseBytes,
} from "../../cli/door.ts";
import {
  type Answer,
  bodyText,
  checkHead,
  EndedEarly,
  encodingOf,
  HeldBytes,
  HttpFront,
  hasExpectation,
  isLocalHost,
  isLoopback,
  Refusal,
  RequestBody,
  readTarget,
  refusedAnswer,
  SenderGone,
  writeAnswer,
} from "../../service/door.ts";
import type { ListenAddress } from "../runs/viewed-runs.ts";

interface ReceiverOptions {
  readonly address: ListenAddress;
  /** Takes the spans of a request. @returns those that cannot be read, if there are any. */
  readonly onSpans: (request: Fields) => Promise<Rejected | undefined>;
  /** Called with each refused request, and with internal errors. */
  readonly onProblem: (problem: string) => void;
  /** Called when a sender leaves in the middle of a request. */
  readonly onGone: () => void;
}

/** Longest body, as it comes and after decompression. Exporters send at most a few MB. */
export const MOST_SENT_BYTES = 64 * 1024 * 1024;
/** Memory of compressed bodies that wait for their checksum. */
const MOST_HELD_BYTES = 64 * 1024 * 1024;
/** Longest pause of a sender in a body, in ms. */
const IDLE_MS = 10_000;
/** Longest time for a body, in ms. */
const TOTAL_MS = 60_000;
/** A process has one connection, or a few. */
export const RECEIVER_CONNECTIONS = { most: 256, spare: 16 };

/** The signals of OTLP by path. Metrics and logs are taken, so that no program reports an error, and not kept. */
const SIGNALS = new Set(["/v1/traces", "/v1/metrics", "/v1/logs"]);

/**
 * An OTLP receiver over HTTP: protobuf and JSON, also gzip. It keeps spans, and confirms metrics and logs without
 * keeping them. Pages of browsers may not write: a request with an `Origin` is refused, and on a loopback address the
 * `Host` must be one, too.
 */
export class SpanReceiver {
  readonly #options: ReceiverOptions;
  readonly #front: HttpFront;
  readonly #held = new HeldBytes(MOST_HELD_BYTES);
  readonly #stop = new AbortController();

  private constructor(options: ReceiverOptions) {
    this.#options = options;
    this.#front = new HttpFront({
      server: { requestTimeout: TOTAL_MS },
      connections: RECEIVER_CONNECTIONS,
      serve: async (request, response) =>
        writeAnswer(request, response, await this.#answerTo(request, response), IDLE_MS),
      onError: (error) => {
        if (error instanceof SenderGone) options.onGone();
        else options.onProblem(messageOf(error));
      },
    });
  }

  /** @throws (rejects) when the address can't be listened on. */
  static async listen(options: ReceiverOptions): Promise<SpanReceiver> {
    const receiver = new SpanReceiver(options);
    await receiver.#front.listen(options.address.port, options.address.host);
    return receiver;
  }

  /** The base URL for exporters. */
  get url(): string {
    const { host } = this.#options.address;
    return `http://${host.includes(":") ? `[${host}]` : host}:${this.#front.port}`;
  }

  /** Closes all connections. Resolves when no request is being served. */
  close(): Promise<void> {
    this.#stop.abort(new Refusal("draining", "the command ends"));
    return this.#front.close();
  }

  async #answerTo(request: IncomingMessage, response: ServerResponse): Promise<Answer> {
    try {
      return await this.#answerOf(request, response);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { onGone, onProblem } = this.#options;
      if (error instanceof EndedEarly) onGone();
      else onProblem(`a request was refused (${error.status}): ${error.message}`);
      const allow: OutgoingHttpHeaders = error.code === "method" ? { allow: "POST" } : {};
      return refusedAnswer(error, allow);
    }
  }

  /** @throws (rejects) Refusal */
  async #answerOf(request: IncomingMessage, response: ServerResponse): Promise<Answer> {
    checkHead(request);
    checkSender(request, this.#options.address.host);
    const { path = "" } = readTarget(request.url ?? "") ?? {};
    if (!SIGNALS.has(path)) {
      throw new Refusal("not_found", "expected /v1/traces: the endpoint is the address alone");
    }
    if (request.method !== "POST") {
      throw new Refusal("method", `expected POST, got ${request.method}`);
    }
    const type = mediaTypeOf(request);
    if (hasExpectation(request)) response.writeContinue();
    const bytes = await this.#bytesOf(request);
    if (path !== "/v1/traces") return confirmed(type, undefined);
    return confirmed(type, await this.#options.onSpans(readRequest(type, bytes)));
  }

  async #bytesOf(request: IncomingMessage): Promise<Buffer> {
    const encoding = encodingOf(request.headers["content-encoding"]);
    const body = new RequestBody(request, {
      maxBytes: MOST_SENT_BYTES,
      idleMs: IDLE_MS,
      totalMs: TOTAL_MS,
      stop: this.#stop.signal,
      broken: this.#front.connections.brokenSignal(request.socket),
    });
    const pieces: Buffer[] = [];
    try {
      const options = { encoding, maxBytes: MOST_SENT_BYTES, held: this.#held, onBytes: () => {} };
      for await (const piece of bodyText(body.chunks(), options)) pieces.push(piece);
    } finally {
      body.close();
    }
    return Buffer.concat(pieces);
  }
}

/** @throws Refusal for pages of browsers, and for names of other machines that lead here. */
function checkSender({ headers }: IncomingMessage, host: string): void {
  if (headers.origin !== undefined || headers["sec-fetch-site"] !== undefined) {
    throw new Refusal("forbidden", "a page in a browser may not write here");
  }
  if (isLoopback(host) && !isLocalHost(headers.host)) {
    throw new Refusal("host", "expected this machine as Host, such as 127.0.0.1");
  }
}

type MediaType = "application/json" | "application/x-protobuf";

function mediaTypeOf({ headers }: IncomingMessage): MediaType {
  const [media = ""] = (headers["content-type"] ?? "").split(";");
  switch (media.trim().toLowerCase()) {
    case "application/json":
      return "application/json";
    case "application/x-protobuf":
    case "application/protobuf":
      return "application/x-protobuf";
    default:
      throw new Refusal(
        "media_type",
        "expected Content-Type: application/x-protobuf or application/json",
      );
  }
}

/** @throws Refusal */
function readRequest(type: MediaType, bytes: Buffer): Fields {
  if (type === "application/json") {
    const text = bytes.toString("utf8");
    // JSON leaves out empty lists: this is a request without spans.
    const request = /^\s*\{\s*\}\s*$/.test(text) ? { resourceSpans: [] } : traceRequestIn(text);
    if (request !== undefined) return request;
    throw new Refusal("bad_request", "expected an ExportTraceServiceRequest in JSON");
  }
  try {
    return traceRequestOf(bytes);
  } catch (error) {
    const reason = messageOf(error);
    throw new Refusal("bad_request", `expected an ExportTraceServiceRequest: ${reason}`);
  }
}

/** An `Export…ServiceResponse` in the form of the request. */
function confirmed(type: MediaType, rejected: Rejected | undefined): Answer {
  const headers = { "content-type": type };
  return { status: 200, headers, body: () => [responseOf(type, rejected)] };
}

function responseOf(type: MediaType, rejected: Rejected | undefined): string | Uint8Array {
  if (type !== "application/json") return traceResponseBytes(rejected);
  if (rejected === undefined) return "{}";
  const partialSuccess = { rejectedSpans: `${rejected.spans}`, errorMessage: rejected.reason };
  return JSON.stringify({ partialSuccess });
}

import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { traceRequestOf } from "../../support/otlp-protobuf.ts";
import { portOf } from "./free-ports.ts";

/** Spans whose text is kept beside its hash, to show what differs. */
const TEXTS = 100_000;

interface Span {
  readonly traceId: string;
  readonly spanId: string;
}

/** The spans of one run of a workload: what each says, as a hash, by trace and span id. */
export class SpanBook {
  readonly hashes = new Map<string, string>();
  readonly #texts = new Map<string, string>();
  /** Spans that came again, and said the same. */
  copies = 0;
  /** The first spans that came again and said something else: both texts. */
  readonly differing: string[] = [];

  add(key: string, text: string): void {
    const hash = createHash("sha1").update(text).digest("base64");
    const before = this.hashes.get(key);
    if (before === undefined) {
      this.hashes.set(key, hash);
      if (this.#texts.size < TEXTS) this.#texts.set(key, text);
    } else if (before === hash) this.copies++;
    else this.#differs(key, text);
  }

  /** The first few spans that are not alike in both, each with what it says here and there. */
  differences(other: SpanBook, most = 3): string[] {
    const found: string[] = [];
    for (const [key, hash] of this.hashes) {
      if (other.hashes.get(key) === hash) continue;
      found.push(`here: ${this.#text(key)}\nthere: ${other.#text(key)}`);
      if (found.length >= most) return found;
    }
    for (const key of other.hashes.keys()) {
      if (this.hashes.has(key)) continue;
      found.push(`here: none\nthere: ${other.#text(key)}`);
      if (found.length >= most) return found;
    }
    return found;
  }

  #differs(key: string, text: string): void {
    if (this.differing.length < 3) this.differing.push(`${this.#text(key)}\nagain: ${text}`);
  }

  #text(key: string): string {
    if (!this.hashes.has(key)) return "none";
    return this.#texts.get(key) ?? Buffer.from(key, "latin1").toString("hex");
  }
}

/** An OTLP/HTTP receiver of protobuf or JSON that enters what it is sent into a book. */
export class SpanReceiver {
  /** Where spans are entered now. */
  book = new SpanBook();
  /** What could not be read; a good test ends with none. */
  readonly faults: unknown[] = [];
  readonly #server = createServer((request, response) => this.#take(request, response));

  static async start(): Promise<SpanReceiver> {
    const receiver = new SpanReceiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, "127.0.0.1", resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${portOf(this.#server)}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      try {
        const { "content-type": type = "" } = request.headers;
        const body = Buffer.concat(chunks);
        const protobuf = type === "application/x-protobuf";
        this.#enter(protobuf ? traceRequestOf(body) : JSON.parse(body.toString("utf8")));
        response.writeHead(200, { "content-type": type }).end(protobuf ? "" : "{}");
      } catch (error) {
        this.faults.push(error);
        response.writeHead(400).end();
      }
    });
    // A collector that is killed in the middle of a request.
    request.on("error", () => {});
  }

  #enter({ resourceSpans }: { readonly resourceSpans: readonly ResourceSpans[] }): void {
    const { book } = this;
    for (const { resource, scopeSpans } of resourceSpans) {
      const about = JSON.stringify(resource);
      for (const { scope, spans } of scopeSpans) {
        const scoped = about + JSON.stringify(scope);
        for (const span of spans) {
          const key = Buffer.from(span.traceId + span.spanId, "hex").toString("latin1");
          book.add(key, scoped + JSON.stringify(span));
        }
      }
    }
  }
}

interface ResourceSpans {
  readonly resource: unknown;
  readonly scopeSpans: readonly { readonly scope: unknown; readonly spans: readonly Span[] }[];
}

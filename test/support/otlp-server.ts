import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { gunzipSync } from "node:zlib";
import { metricsRequestOf, traceRequestOf } from "./otlp-protobuf.ts";

/** A span as it came over the wire, with what its request says about all spans beside it. */
export interface WireSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly droppedAttributesCount: number;
  readonly counts: { readonly events: number; readonly links: number };
  readonly resource: Readonly<Record<string, unknown>>;
  readonly scope: string;
}

/** A series of a metric as it came over the wire, with what its request says about all beside it. */
export interface WirePoint {
  readonly metric: string;
  readonly unit: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The number, or the count of a histogram. */
  readonly value: number;
  readonly resource: Readonly<Record<string, unknown>>;
  readonly scope: string;
}

export interface OtlpRequest {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  /** Bytes of the body before it was unpacked. */
  readonly bytes: number;
  readonly spans: readonly WireSpan[];
  readonly points: readonly WirePoint[];
}

/** How the server answers: a status, or never. */
export type Answer = number | "hang";

export interface OtlpServerOptions {
  /** Asked for each request, with its number from 0. Default: always 200. */
  readonly answer?: (request: number) => Answer;
  /** Waited for before each answer. Default: nothing. */
  readonly before?: () => Promise<unknown>;
}

/** A real OTLP/HTTP receiver, of protobuf or JSON, on this machine, on a free port. */
export class OtlpServer {
  /** Every request whose body could be read, whatever was answered. */
  readonly requests: OtlpRequest[] = [];
  /** What was wrong with requests; a good test ends with none. */
  readonly faults: unknown[] = [];
  readonly #confirmed: WireSpan[] = [];
  readonly #pointSets: (readonly WirePoint[])[] = [];
  readonly #options: OtlpServerOptions;
  readonly #server = createServer((request, response) => this.#take(request, response));
  #port: number | undefined;
  #count = 0;

  private constructor(options: OtlpServerOptions) {
    this.#options = options;
  }

  static async start(options: OtlpServerOptions = {}): Promise<OtlpServer> {
    const server = new OtlpServer(options);
    await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
    return server;
  }

  /** Base URL, without a path. */
  get url(): string {
    this.#port ??= portOf(this.#server);
    return `http://127.0.0.1:${this.#port}`;
  }

  /** The spans of all requests that were answered with 200. */
  get spans(): readonly WireSpan[] {
    return this.#confirmed;
  }

  /** What the last request that had the metric says of it, if it was answered with 200. */
  points(metric: string): readonly WirePoint[] {
    const all = this.#pointSets.filter((points) => points.some((each) => each.metric === metric));
    return all.at(-1)?.filter((each) => each.metric === metric) ?? [];
  }

  /** The one span of that name; throws when there is none, or more than one. */
  span(name: string): WireSpan {
    const [span, another] = this.#confirmed.filter((one) => one.name === name);
    if (span === undefined || another !== undefined) {
      const names = this.#confirmed.map((one) => one.name).join(", ");
      throw new Error(`expected one span "${name}" among: ${names}`);
    }
    return span;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const number = this.#count++;
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks);
      let spans: readonly WireSpan[];
      let points: readonly WirePoint[];
      try {
        const message = parse(body, request);
        const metrics = request.url?.endsWith("/metrics") === true;
        spans = metrics ? [] : spansOf(message);
        points = metrics ? pointsOf(message) : [];
      } catch (fault) {
        this.faults.push(fault);
        response.writeHead(400).end();
        return;
      }
      const { url: path = "", headers } = request;
      this.requests.push({ path, headers, bytes: body.length, spans, points });
      const answer = this.#options.answer?.(number) ?? 200;
      if (answer === "hang") return;
      if (answer === 200) {
        this.#confirmed.push(...spans);
        this.#pointSets.push(points);
      }
      const reply = () => {
        const type = headers["content-type"] ?? "application/json";
        const text = type === "application/json" ? "{}" : "";
        response.writeHead(answer, { "content-type": type }).end(text);
      };
      const { before } = this.#options;
      if (before === undefined) reply();
      else void before().then(reply);
    });
  }
}

/** The address of a port on this machine where nobody listens. */
export async function deadUrl(): Promise<string> {
  const server = await OtlpServer.start();
  const { url } = server;
  await server.close();
  return url;
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("expected a TCP port");
  return address.port;
}

function parse(body: Buffer, request: IncomingMessage): unknown {
  const { "content-type": type, "content-encoding": encoding } = request.headers;
  if (request.method !== "POST") throw new Error(`expected POST, got ${request.method}`);
  const unpacked = encoding === "gzip" ? gunzipSync(body) : body;
  if (type === "application/x-protobuf") {
    const decode = request.url?.endsWith("/metrics") === true ? metricsRequestOf : traceRequestOf;
    return decode(unpacked);
  }
  if (type !== "application/json") throw new Error(`expected JSON or protobuf, got ${type}`);
  return JSON.parse(unpacked.toString("utf8"));
}

function spansOf(message: unknown): WireSpan[] {
  return list(message, "resourceSpans").flatMap((resourceSpans) => {
    const resource = attributesOf(field(resourceSpans, "resource"));
    return list(resourceSpans, "scopeSpans").flatMap((scopeSpans) => {
      const scope = textOf(field(scopeSpans, "scope"), "name");
      return list(scopeSpans, "spans").map((span) => toSpan(span, resource, scope));
    });
  });
}

function pointsOf(message: unknown): WirePoint[] {
  return list(message, "resourceMetrics").flatMap((resourceMetrics) => {
    const resource = attributesOf(field(resourceMetrics, "resource"));
    return list(resourceMetrics, "scopeMetrics").flatMap((scopeMetrics) => {
      const scope = textOf(field(scopeMetrics, "scope"), "name");
      return list(scopeMetrics, "metrics").flatMap((metric) => {
        const data = field(metric, "sum") ?? field(metric, "gauge") ?? field(metric, "histogram");
        return list(data, "dataPoints").map((point) => ({
          metric: textOf(metric, "name"),
          unit: textOf(metric, "unit"),
          attributes: attributesOf(point),
          value: Number(field(point, "asInt") ?? field(point, "asDouble") ?? field(point, "count")),
          resource,
          scope,
        }));
      });
    });
  });
}

function toSpan(span: unknown, resource: WireSpan["resource"], scope: string): WireSpan {
  const parent = field(span, "parentSpanId");
  const dropped = field(span, "droppedAttributesCount");
  return {
    traceId: textOf(span, "traceId"),
    spanId: textOf(span, "spanId"),
    parentSpanId: typeof parent === "string" ? parent : undefined,
    name: textOf(span, "name"),
    startTimeUnixNano: textOf(span, "startTimeUnixNano"),
    endTimeUnixNano: textOf(span, "endTimeUnixNano"),
    attributes: attributesOf(span),
    droppedAttributesCount: typeof dropped === "number" ? dropped : 0,
    counts: { events: list(span, "events").length, links: list(span, "links").length },
    resource,
    scope,
  };
}

function attributesOf(holder: unknown): Record<string, unknown> {
  const entries = list(holder, "attributes").map((attribute) => {
    const value = field(attribute, "value");
    if (typeof value !== "object" || value === null) throw new Error("expected a value");
    const [[type, content] = []] = Object.entries(value);
    // JSON has whole numbers as text, or as numbers.
    return [textOf(attribute, "key"), type === "intValue" ? Number(content) : content];
  });
  return Object.fromEntries(entries);
}

function field(holder: unknown, name: string): unknown {
  if (typeof holder !== "object" || holder === null) throw new Error(`no object around ${name}`);
  return Reflect.get(holder, name);
}

function list(holder: unknown, name: string): unknown[] {
  const value = field(holder, name);
  if (!Array.isArray(value)) throw new Error(`${name}: expected a list`);
  return value;
}

function textOf(holder: unknown, name: string): string {
  const value = field(holder, name);
  if (typeof value !== "string") throw new Error(`${name}: expected text`);
  return value;
}

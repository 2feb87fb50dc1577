import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { decodeRequest } from "../../bridge/export/support/decode-request.ts";
import { metricsRequestOf } from "../../support/otlp-protobuf.ts";
import { portOf } from "./free-ports.ts";
import { field, list, text } from "./json-shape.ts";

/**
 * What is done with a request of spans: `refuse` is for good; `keep quiet` and `hang up` take it and do
 * not say so; `cut off` hangs up before it is read.
 */
export type Behaviour = "take" | "refuse" | "refuse for now" | "keep quiet" | "hang up" | "cut off";

/** A request of spans that was taken, or refused for good. */
export interface TakenRequest {
  /** The numbers that its spans have for names, in their order. */
  readonly numbers: readonly number[];
  /** Of its body. */
  readonly bytes: number;
  /** Absent where the sender was told nothing. */
  readonly status: 200 | 400 | undefined;
}

/** A receiver of numbered spans and of metrics on this machine, which can go away and come back. */
export class ExportReceiver {
  /** In the order in which they came. */
  readonly taken: TakenRequest[] = [];
  /** Of requests that were refused for good. */
  readonly refused: TakenRequest[] = [];
  behaviour: Behaviour | (() => Behaviour) = "take";
  /** `entelix.bridge.spans_dropped` by reason, as the last metrics had it; without zeros. */
  dropped: Readonly<Record<string, number>> = {};
  /** What can't be read; a good test ends with none. */
  readonly faults: unknown[] = [];
  #server: Server | undefined;
  #port = 0;

  static async start(): Promise<ExportReceiver> {
    const receiver = new ExportReceiver();
    await receiver.comeBack();
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** The numbers of all spans that were taken, in the order in which they came. */
  get numbers(): number[] {
    return this.taken.flatMap(({ numbers }) => numbers);
  }

  /** Listens, on the port that it had before, if any. */
  async comeBack(): Promise<void> {
    const server = createServer((request, response) => this.#take(request, response));
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.#port, "127.0.0.1", resolve));
    this.#port = portOf(server);
  }

  /** Nobody listens any more; what is only half there is not taken, and what was taken is answered. */
  async goAway(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const closed = new Promise((resolve) => server.close(resolve));
    // An answer that was given just now goes out first.
    await new Promise((resolve) => setImmediate(resolve));
    server.closeAllConnections();
    await closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.goAway();
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const isMetrics = request.url === "/v1/metrics";
    const behaviour = isMetrics ? "take" : this.#behaviour();
    const parts: Buffer[] = [];
    request.on("error", () => {});
    if (behaviour === "cut off") {
      request.destroy();
      return;
    }
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      if (this.#server === undefined) return;
      try {
        const body = Buffer.concat(parts);
        const status = isMetrics ? this.#takeMetrics(body) : this.#takeSpans(body, behaviour);
        if (behaviour === "hang up") request.destroy();
        if (status === undefined) return;
        const type = isMetrics ? "application/json" : "application/x-protobuf";
        response.writeHead(status, { "content-type": type }).end(isMetrics ? "{}" : "");
      } catch (fault) {
        this.faults.push(fault);
        response.writeHead(500).end();
      }
    });
  }

  #behaviour(): Behaviour {
    return typeof this.behaviour === "function" ? this.behaviour() : this.behaviour;
  }

  /** @returns the status; none where nothing is to be said. */
  #takeSpans(body: Buffer, behaviour: Behaviour): number | undefined {
    if (behaviour === "refuse for now") return 503;
    const numbers = decodeRequest(body).map(({ name }) => Number(name));
    const request = { numbers, bytes: body.length };
    if (behaviour === "refuse") {
      this.refused.push({ ...request, status: 400 });
      return 400;
    }
    const status = behaviour === "take" ? 200 : undefined;
    this.taken.push({ ...request, status });
    return status;
  }

  #takeMetrics(body: Buffer): number {
    for (const metric of metricsOf(metricsRequestOf(body))) {
      if (text(metric, "name") === "entelix.bridge.spans_dropped") this.dropped = byReason(metric);
    }
    return 200;
  }
}

function metricsOf(message: unknown): unknown[] {
  return list(message, "resourceMetrics")
    .flatMap((resource) => list(resource, "scopeMetrics"))
    .flatMap((scope) => list(scope, "metrics"));
}

function byReason(metric: unknown): Record<string, number> {
  const points = list(field(metric, "sum"), "dataPoints").map((point): [string, number] => {
    const value = Number(field(point, "asInt") ?? field(point, "asDouble"));
    const reason = list(point, "attributes").find((one) => text(one, "key") === "entelix.reason");
    return [text(field(reason, "value"), "stringValue"), value];
  });
  return Object.fromEntries(points.filter(([, value]) => value > 0));
}

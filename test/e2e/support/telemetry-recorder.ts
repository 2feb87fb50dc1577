import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { gunzipSync } from "node:zlib";
import { portOf } from "./free-ports.ts";

/** What arrived of one agent, as the cells of `docs/setups.md` have it. */
export interface Arrived {
  /** The spans of the run, its tool call and its model call. */
  readonly spans: "yes" | "no";
  /** `run ID` if the trace ID of the run is its run ID. */
  readonly traceId: "run ID" | "random";
  readonly metrics: "yes" | "no";
  /** Result of the tool call, with content capture on. */
  readonly content: "yes" | "no";
}

/** Everything, as `setupTelemetry` sends it with content capture. */
export const ALL: Arrived = { spans: "yes", traceId: "run ID", metrics: "yes", content: "yes" };

const SPANS = ["invoke_agent support", "execute_tool look_up", "chat small-1"];

/** Trace and span ID of a span in OTLP protobuf, in hex: fields 1 and 2, of 16 and 8 bytes. */
const PROTOBUF_IDS = /0a10([0-9a-f]{32})1208([0-9a-f]{16})/g;

/**
 * Takes requests in any format on this machine: OTLP, Sentry's envelopes, Datadog's MessagePack. All of them contain
 * names as plain text, so it searches for names.
 */
export class TelemetryRecorder {
  readonly #bodies: Buffer[] = [];
  readonly #server = createServer((request, response) => this.#take(request, response));

  static async start(): Promise<TelemetryRecorder> {
    const recorder = new TelemetryRecorder();
    await new Promise<void>((resolve) => recorder.#server.listen(0, "127.0.0.1", resolve));
    return recorder;
  }

  get url(): string {
    return `http://127.0.0.1:${portOf(this.#server)}`;
  }

  /** What arrived. `GET /arrived` answers whether the spans did. */
  arrived(): Arrived {
    const bodies = this.#bodies;
    const all = Buffer.concat(bodies).toString("latin1");
    const yes = (found: boolean) => (found ? "yes" : "no");
    return {
      spans: yes(SPANS.every((name) => all.includes(name))),
      traceId: bodies.some(hasDerivedRoot) ? "run ID" : "random",
      metrics: yes(all.includes("entelix.runs")),
      content: yes(all.includes("gen_ai.tool.call.result")),
    };
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === "/arrived") {
      response.end(this.arrived().spans);
      return;
    }
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts);
    const zipped = request.headers["content-encoding"] === "gzip";
    this.#bodies.push(zipped ? gunzipSync(body) : body);
    const type = request.headers["content-type"] ?? "application/json";
    response.writeHead(200, { "content-type": type }).end(type.includes("json") ? "{}" : "");
  }
}

/** The span ID of a root run is the second half of its trace ID (`docs/ids-and-sampling.md`). */
function hasDerivedRoot(body: Buffer): boolean {
  const binary = [...body.toString("hex").matchAll(PROTOBUF_IDS)];
  if (binary.some(([, trace = "", span]) => trace.slice(16) === span)) return true;
  const texts = [...body.toString("latin1").matchAll(/"([0-9a-f]{32})"/g)];
  return texts.some(([, trace = ""]) => body.includes(`"${trace.slice(16)}"`));
}

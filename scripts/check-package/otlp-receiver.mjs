import { createServer } from "node:http";
import { pointsOfProtobuf, spansOfProtobuf } from "./protobuf-spans.mjs";

/**
 * Takes OTLP/HTTP, spans in protobuf or JSON, metrics in JSON, on a free port of this machine, and keeps the spans and
 * the counts of runs.
 */
export class OtlpReceiver {
  #server = createServer((request, response) => this.#take(request, response));
  #spans = [];
  #runs = [];

  static async start() {
    const receiver = new OtlpReceiver();
    await new Promise((resolve, reject) => {
      receiver.#server.once("error", reject).listen(0, "127.0.0.1", resolve);
    });
    return receiver;
  }

  /** The base URL, as `OTEL_EXPORTER_OTLP_ENDPOINT` has it. */
  get url() {
    return `http://127.0.0.1:${this.#server.address().port}`;
  }

  /** The spans that came since the last call. */
  takeSpans() {
    const spans = this.#spans;
    this.#spans = [];
    return spans;
  }

  /** The runs that were counted last, by outcome; empty where no metrics came since the last call. */
  takeRuns() {
    const runs = this.#runs;
    this.#runs = [];
    return runs;
  }

  close() {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(resolve));
  }

  async #take(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    try {
      const body = Buffer.concat(chunks);
      const type = request.headers["content-type"];
      if (request.url === "/v1/metrics")
        this.#runs = runsOf(pointsOfProtobuf(body, "entelix.runs"));
      else if (type === "application/x-protobuf") this.#spans.push(...spansOfProtobuf(body));
      else this.#spans.push(...spansOf(JSON.parse(body)));
      response.writeHead(200, { "content-type": type });
      response.end(type === "application/json" ? "{}" : "");
    } catch (error) {
      response.writeHead(400).end(String(error));
    }
  }
}

function spansOf({ resourceSpans }) {
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}

function runsOf(points) {
  return points
    .map(({ attributes, asInt, asDouble }) => ({
      outcome: attributes.find(({ key }) => key === "entelix.run.outcome").value.stringValue,
      runs: Number(asInt ?? asDouble),
    }))
    .filter(({ runs }) => runs > 0);
}

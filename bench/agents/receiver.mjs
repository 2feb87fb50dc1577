// A receiver of OTLP/HTTP in a process of its own, on 127.0.0.1 and a free port. `GET /counts` answers what came since
// the last such request: spans, traces, spans without parent, bytes as they were sent, and which marks of MARKS.
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { parts } from "../../scripts/check-package/protobuf-spans.mjs";
import { MARKS } from "./texts.mjs";

/** Counts what exporters send. */
export class Counts {
  #spans = 0;
  #roots = 0;
  #bytes = 0;
  #traces = new Set();
  #found = new Set();

  /** @param sent the body of a request for traces, as it was sent. */
  add(sent, { "content-encoding": encoding, "content-type": type }) {
    const body = encoding === "gzip" ? gunzipSync(sent) : sent;
    this.#bytes += sent.length;
    for (const { parent, trace } of type.includes("json") ? jsonSpans(body) : spansOf(body)) {
      this.#spans += 1;
      if (parent === "") this.#roots += 1;
      this.#traces.add(trace);
    }
    for (const mark of MARKS) {
      if (!this.#found.has(mark) && body.includes(mark)) this.#found.add(mark);
    }
  }

  read() {
    return {
      spans: this.#spans,
      traces: this.#traces.size,
      roots: this.#roots,
      bytes: this.#bytes,
      missing: MARKS.filter((mark) => !this.#found.has(mark)),
    };
  }
}

function jsonSpans(body) {
  return JSON.parse(body.toString())
    .resourceSpans.flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans)
    .map(({ parentSpanId = "", traceId }) => ({ parent: parentSpanId, trace: traceId }));
}

/** Of a request in protobuf: trace and parent of each span, in hex. */
function* spansOf(body) {
  for (const resource of parts(body, 1)) {
    for (const scope of parts(resource, 2)) {
      for (const span of parts(scope, 2)) {
        const hex = (number) => parts(span, number)[0]?.toString("hex") ?? "";
        yield { trace: hex(1), parent: hex(4) };
      }
    }
  }
}

if (fileURLToPath(import.meta.url) === process.argv[1]) {
  let counts = new Counts();
  const server = createServer((request, response) => {
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
      if (request.method === "GET") {
        response.end(JSON.stringify(counts.read()));
        counts = new Counts();
        return;
      }
      const type = request.headers["content-type"];
      if (request.url.endsWith("/v1/traces")) counts.add(Buffer.concat(parts), request.headers);
      response.setHeader("content-type", type);
      response.end(type.includes("json") ? "{}" : "");
    });
  });
  server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }));
}

import { createServer } from "node:http";

/** Takes OTLP/HTTP in JSON on a free port of this machine, and keeps the spans. */
export class OtlpReceiver {
  #server = createServer((request, response) => this.#take(request, response));
  #spans = [];

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

  close() {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(resolve));
  }

  async #take(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    try {
      const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString("utf8"));
      for (const { scopeSpans } of resourceSpans) {
        for (const { spans } of scopeSpans) this.#spans.push(...spans);
      }
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    } catch (error) {
      response.writeHead(400).end(String(error));
    }
  }
}

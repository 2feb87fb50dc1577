import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { describe, expect, it } from "vitest";
import { Chunk } from "../../../src/bridge/export/chunk.ts";
import { halvesOf } from "../../../src/bridge/export/halves.ts";
import { decodeRequest } from "./support/decode-request.ts";

/** A request with the spans of two services with two scopes each, and their names in its order. */
async function request(count: number) {
  const chunk = new Chunk();
  for (const service of ["a", "b"]) {
    const exporter = new InMemorySpanExporter();
    const provider = new NodeTracerProvider({
      resource: resourceFromAttributes({ "service.name": service }),
      spanProcessors: [new SimpleSpanProcessor(exporter)],
    });
    for (const scope of ["one", "two"]) {
      for (let n = 0; n < count; n++) {
        provider.getTracer(scope).startSpan(`${service} ${scope} ${n}`.padEnd(200, ".")).end();
      }
    }
    await provider.forceFlush();
    for (const span of exporter.getFinishedSpans()) chunk.add(span, Number.POSITIVE_INFINITY);
  }
  return chunk.seal(0);
}

describe("a request that is split", () => {
  it.each([1, 2, 7, 50])("keeps every span with its resource and scope, %i of each", async (n) => {
    const { bytes, spans } = await request(n);
    if (!(bytes instanceof Uint8Array)) throw new Error("expected bytes");
    const [first, second] = halvesOf(bytes, spans).map((half) => decodeRequest(half));
    expect([first?.length, second?.length]).toEqual([2 * n, 2 * n]);
    expect([...(first ?? []), ...(second ?? [])]).toEqual(decodeRequest(bytes));
  });

  it("can be split down to each span", async () => {
    const { bytes, spans } = await request(1);
    if (!(bytes instanceof Uint8Array)) throw new Error("expected bytes");
    const single = halvesOf(bytes, spans).flatMap((half) => halvesOf(half, 2));
    expect(single.flatMap((each) => decodeRequest(each))).toEqual(decodeRequest(bytes));
    expect(single.map((each) => decodeRequest(each).length)).toEqual([1, 1, 1, 1]);
  });
});

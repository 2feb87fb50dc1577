import { ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import { type Resource, resourceFromAttributes } from "@opentelemetry/resources";
import {
  NodeTracerProvider,
  NoopSpanProcessor,
  type ReadableSpan,
} from "@opentelemetry/sdk-trace-node";
import { describe, expect, it, onTestFinished } from "vitest";
import { Chunk } from "../../../src/bridge/export/chunk.ts";
import { decodeRequest } from "./support/decode-request.ts";
import { randomSpans } from "./support/random-spans.ts";

const ANY = Number.POSITIVE_INFINITY;

/** Spans with these names, each of the resource. */
function spansOf(resource: Resource, names: readonly string[], scope = "a"): ReadableSpan[] {
  const spans: ReadableSpan[] = [];
  const processor = new NoopSpanProcessor();
  processor.onEnd = (span) => void spans.push(span);
  const provider = new NodeTracerProvider({ resource, spanProcessors: [processor] });
  const tracer = provider.getTracer(scope);
  for (const name of names) tracer.startSpan(name).end();
  return spans;
}

describe("a chunk", () => {
  it("puts the spans of a resource and of a scope together", async () => {
    const one = resourceFromAttributes({ "service.name": "one" });
    const two = resourceFromAttributes({ "service.name": "two" });
    const chunk = new Chunk();
    const [a, b] = spansOf(one, ["a", "b"]);
    const [c] = spansOf(two, ["c"]);
    for (const span of [a, c, b]) if (span !== undefined) chunk.add(span, ANY);
    expect(decodeRequest(await chunk.seal(0).bytes)).toEqual([
      { name: "a", service: "one", scope: "a" },
      { name: "b", service: "one", scope: "a" },
      { name: "c", service: "two", scope: "a" },
    ]);
  });

  it("keeps nothing of the scopes and resources of spans that it did not take", async () => {
    const [drawn] = randomSpans(7, 1);
    if (drawn === undefined) throw new Error("no span");
    const span = { ...drawn, name: "a" };
    const most = 20_000;
    const chunk = new Chunk();
    expect(chunk.add(span, most)).toBe(true);
    const { size } = chunk;
    const schemaUrl = "x".repeat(most);
    for (let n = 0; n < 100; n++) {
      const scope = { name: `s${n}`, schemaUrl };
      expect(chunk.add({ ...span, instrumentationScope: scope }, most)).toBe(false);
      const resource = resourceFromAttributes({}, { schemaUrl });
      expect(chunk.add({ ...span, resource }, most)).toBe(false);
    }
    expect([chunk.spans, chunk.size]).toEqual([1, size]);
    expect(chunk.add({ ...span, name: "b" }, most)).toBe(true);
    expect(decodeRequest(await chunk.seal(0).bytes).map(({ name }) => name)).toEqual(["a", "b"]);
    const empty = new Chunk();
    expect(empty.add({ ...span, instrumentationScope: { name: "s", schemaUrl } }, 99)).toBe(false);
    expect(empty.size).toBe(0);
  });

  it("takes no span that makes it larger than it may be, and is as it was before", async () => {
    const [first, ...others] = randomSpans(7, 40);
    if (first === undefined) throw new Error("no spans");
    const { instrumentationScope, resource } = first;
    const spans = others.map((span) => ({ ...span, instrumentationScope, resource }));
    for (let most = 0; most < 20_000; most += 501) {
      const chunk = new Chunk();
      const taken = spans.filter((span) => {
        const { size, spans: count } = chunk;
        const isIn = chunk.add(span, most);
        if (!isIn) expect([chunk.spans, chunk.size]).toEqual([count, size]);
        expect(chunk.size).toBeGreaterThanOrEqual(size);
        return isIn;
      });
      const { bytes } = chunk.seal(0);
      const stock = ProtobufTraceSerializer.serializeRequest(taken);
      expect(Buffer.compare(Buffer.from(await bytes), Buffer.from(stock ?? []))).toBe(0);
      expect((await bytes).length).toBeLessThanOrEqual(Math.max(most, 0));
    }
  });

  it("is empty after a seal, whose bytes nothing changes any more", async () => {
    const resource = resourceFromAttributes({ "service.name": "one" });
    const chunk = new Chunk();
    for (const span of spansOf(resource, ["a", "b"])) chunk.add(span, ANY);
    const first = chunk.seal(0);
    expect(chunk).toMatchObject({ spans: 0, size: 0 });
    for (const span of spansOf(resource, ["c", "d", "e"])) chunk.add(span, ANY);
    const second = chunk.seal(0);
    expect([first.spans, second.spans]).toEqual([2, 3]);
    expect(decodeRequest(await first.bytes).map(({ name }) => name)).toEqual(["a", "b"]);
    expect(decodeRequest(await second.bytes).map(({ name }) => name)).toEqual(["c", "d", "e"]);
  });

  it("gives back the room of a very long span", () => {
    const chunk = new Chunk();
    const resource = resourceFromAttributes({});
    const [short] = spansOf(resource, ["short"]);
    const [long] = spansOf(resource, ["x".repeat(5_000_000)]);
    if (short === undefined || long === undefined) throw new Error("no spans");
    chunk.add(short, ANY);
    expect(chunk.add(long, ANY)).toBe(true);
    const before = process.memoryUsage().arrayBuffers;
    chunk.seal(0);
    expect(chunk.add(long, 1_000_000)).toBe(false);
    expect(chunk.add(short, 1_000_000)).toBe(true);
    expect(process.memoryUsage().arrayBuffers).toBeLessThan(before + 60_000_000);
    expect(chunk.spans).toBe(1);
  });

  it("waits for the attributes of a resource that are still to come", async () => {
    let come = (_: string) => {};
    const later = new Promise<string>((resolve) => {
      come = resolve;
    });
    const resource = resourceFromAttributes({ early: "e", "service.name": later });
    const chunk = new Chunk();
    for (const span of spansOf(resource, ["a"])) chunk.add(span, ANY);
    const { bytes } = chunk.seal(60_000);
    expect(bytes).toBeInstanceOf(Promise);
    // Meanwhile the room is used again.
    for (const span of spansOf(resourceFromAttributes({}), ["other"])) chunk.add(span, ANY);
    come("late");
    expect(decodeRequest(await bytes)).toEqual([{ name: "a", service: "late", scope: "a" }]);
  });

  it("that can't be put together ends no process before anybody waits for it", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    onTestFinished(() => void process.off("unhandledRejection", note));
    const round: Record<string, unknown> = {};
    round.self = round;
    const resource = resourceFromAttributes({ late: Promise.resolve("l") });
    Object.defineProperty(resource, "attributes", { value: { round } });
    const chunk = new Chunk();
    for (const span of spansOf(resource, ["a"])) chunk.add(span, ANY);
    const { bytes } = chunk.seal(1_000);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(unhandled).toEqual([]);
    await expect(bytes).rejects.toThrow("Maximum call stack");
  });

  it("leaves out those that never come", async () => {
    const never = new Promise<string>(() => {});
    const resource = resourceFromAttributes({ "service.name": "early", late: never });
    const chunk = new Chunk();
    for (const span of spansOf(resource, ["a"])) chunk.add(span, ANY);
    const { bytes } = chunk.seal(1);
    expect(decodeRequest(await bytes)).toEqual([{ name: "a", service: "early", scope: "a" }]);
  });
});

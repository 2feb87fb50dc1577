import { ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import { resourceFromAttributes } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import { describe, expect, it } from "vitest";
import { encodeTraceRequest, formatOf } from "../../../src/bridge/export/request-format.ts";
import { createReplayProvider } from "../../../src/bridge/output/replay-provider.ts";

function spans(names: readonly string[]): ReadableSpan[] {
  const ended: ReadableSpan[] = [];
  const resource = resourceFromAttributes({ "service.name": "agents" });
  const provider = createReplayProvider(resource, { onEnd: (span) => void ended.push(span) });
  for (const name of names) {
    const span = provider.getTracer("test", "1.0").startSpan(name, { startTime: [1, 2] });
    span.setAttributes({ "entelix.run_id": name, whole: 7, rough: 0.5, on: true });
    span.addEvent("seen", { n: 1 }, [1, 3]);
    span.end([4, 5]);
  }
  return ended;
}

/** OpenTelemetry can put no request together with it. */
function unreadable(): ReadableSpan {
  const [span] = spans(["broken"]);
  if (span === undefined) throw new Error("expected a span");
  span.attributes.broken = Object.defineProperty([], "0", {
    enumerable: true,
    get: () => {
      throw new Error("can't be read");
    },
  });
  return span;
}

const stock = (of: readonly ReadableSpan[]) =>
  Buffer.from(ProtobufTraceSerializer.serializeRequest([...of]) ?? []).toString("hex");

async function encoded(format: ReturnType<typeof formatOf>, of: readonly ReadableSpan[]) {
  return Buffer.from(await format.encode(of));
}

describe("http/protobuf", () => {
  const format = formatOf("http/protobuf");

  it("has the bytes of OpenTelemetry's serializer, one request after the other", async () => {
    expect(format.contentType).toBe("application/x-protobuf");
    for (const names of [["a", "b", "c"], ["d"], []]) {
      const of = spans(names);
      expect((await encoded(format, of)).toString("hex")).toBe(stock(of));
    }
    expect((await encoded(format, [])).length).toBe(0);
  });

  it("keeps nothing of a request that can't be made", async () => {
    const [a, b] = [spans(["a"]), spans(["b"])];
    expect(() => format.encode([...a, unreadable()])).toThrow("can't be read");
    expect((await encoded(format, b)).toString("hex")).toBe(stock(b));
  });
});

describe("http/json", () => {
  const format = formatOf("http/json");

  it("has the text of a line of --out", async () => {
    const of = spans(["a", "b"]);
    expect(format.contentType).toBe("application/json");
    expect((await encoded(format, of)).toString()).toBe(encodeTraceRequest(of));
    expect((await encoded(format, of)).toString()).toContain('"intValue":"7"');
  });
});

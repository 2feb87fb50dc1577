import { ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import { resourceFromAttributes } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import { describe, expect, it } from "vitest";
import { Chunk } from "../../../src/bridge/export/chunk.ts";
import { createReplayProvider } from "../../../src/bridge/output/replay-provider.ts";
import { RUNTIMES } from "../../../src/replay/door.ts";
import { drawnLog } from "../../service/processor/support/drawn-log.ts";
import { playText } from "../../support/played.ts";
import { createSdkReplayProvider } from "../../support/sdk-replay-provider.ts";

const RESOURCE = resourceFromAttributes({ "service.name": "recorded" });

/** Log of streams that were recorded, of every runtime, interleaved. */
const LOGS = [1, 2, 3, 4].map((seed) =>
  drawnLog({ seed, streams: 40, eventIds: seed % 2 === 0 })
    .map(({ text }) => `${text}\n`)
    .join(""),
);

describe("the spans of every recorded stream", () => {
  for (const runtime of RUNTIMES) {
    for (const make of [createReplayProvider, createSdkReplayProvider]) {
      it(`are encoded as OpenTelemetry does (${runtime.dialect.name}, ${make.name})`, async () => {
        const chunk = new Chunk();
        let count = 0;
        for (const text of LOGS) {
          const spans: ReadableSpan[] = [];
          const provider = make(RESOURCE, { onEnd: (span) => void spans.push(span) });
          await playText(runtime, text, provider);
          for (const span of spans) chunk.add(span, Number.POSITIVE_INFINITY);
          const { bytes } = chunk.seal(0);
          const stock = ProtobufTraceSerializer.serializeRequest(spans);
          expect(bytes).toBeInstanceOf(Uint8Array);
          expect(Buffer.compare(Buffer.from(await bytes), Buffer.from(stock ?? []))).toBe(0);
          count += spans.length;
        }
        expect(count).toBeGreaterThan(20);
      });
    }
  }
});

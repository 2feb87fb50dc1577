import { ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import { resourceFromAttributes } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import { describe, expect, it } from "vitest";
import { Bridge } from "../../../src/bridge/bridge.ts";
import { Chunk } from "../../../src/bridge/export/chunk.ts";
import { createReplayProvider } from "../../../src/bridge/output/replay-provider.ts";
import { readEvents } from "../../../src/entries/replay.ts";
import { RUNTIMES } from "../../../src/replay/door.ts";
import { drawnLog } from "../../service/processor/support/drawn-log.ts";
import { createSdkReplayProvider } from "../../support/sdk-replay-provider.ts";

const RESOURCE = resourceFromAttributes({ "service.name": "recorded" });

/** Log of streams that were recorded, of every runtime, interleaved. */
const LOGS = [1, 2, 3, 4].map((seed) =>
  drawnLog({ seed, streams: 40, eventIds: seed % 2 === 0 })
    .map(({ text }) => `${text}\n`)
    .join(""),
);

describe("the spans of every recorded stream", () => {
  for (const { dialect, player } of RUNTIMES) {
    for (const make of [createReplayProvider, createSdkReplayProvider]) {
      it(`are encoded as OpenTelemetry does (${dialect.name}, ${make.name})`, async () => {
        const chunk = new Chunk();
        let count = 0;
        for (const text of LOGS) {
          const spans: ReadableSpan[] = [];
          const provider = make(RESOURCE, { onEnd: (span) => void spans.push(span) });
          const bridge = new Bridge({
            mode: "replay",
            tracerProvider: provider,
            captureContent: true,
          });
          const playing = player(bridge, "default");
          await readEvents(source(text), {
            dialects: [dialect],
            onEvent: ({ event, envelope }) => void playing.take(event, envelope),
          });
          await playing.end();
          await bridge.shutdown();
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

async function* source(text: string): AsyncGenerator<string> {
  yield text;
}

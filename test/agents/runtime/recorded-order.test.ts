import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { MemorySessionLog } from "../../../src/entries/audit.ts";
import { entelixDialect, readEvents } from "../../../src/entries/replay.ts";
import { runAgent } from "../../../src/entries/runtime.ts";
import { FanOutSink, RecorderSink } from "../../../src/entries/sinks.ts";
import { Bridge } from "../../../src/index.ts";
import { collectSpans, fingerprint } from "../../support/spans.ts";

const THREAD = { tenant_id: "acme", thread_id: "th" };

/** What a bridge with a log makes: spans without the order of their ends, and the rows of the thread. */
function observed(mode: "live" | "replay") {
  const collected = collectSpans();
  const log = new MemorySessionLog();
  const bridge = new Bridge({ tracerProvider: collected.provider, audit: log, mode });
  const made = async () => ({
    spans: collected.spans().map(fingerprint).sort(),
    rows: (await log.loadSince(THREAD, 0)).map(({ event_text, hash }) => `${hash} ${event_text}`),
  });
  return { bridge, made };
}

describe("a recording of sub-agents at work at once, which wait for the audit log", () => {
  it("makes the same spans, and the same rows in the same order", async () => {
    let tape = "";
    const stream = new Writable({
      write(chunk: Buffer, _encoding, done) {
        tape += chunk.toString();
        done();
      },
    });
    const live = observed("live");
    const recorder = new RecorderSink({ stream, source: live.bridge });
    const sink = new FanOutSink([live.bridge, recorder]);
    const top = { sink, agent: "top", tenant: "acme", threadId: "th" };
    await runAgent(top, (run) =>
      Promise.all(
        ["a", "b", "c"].map((name) =>
          run.tool(`ask_${name}`, () =>
            runAgent({ agent: name }, (child) =>
              Promise.all([child.tool("one", () => 1), child.tool("two", () => 2)]),
            ),
          ),
        ),
      ),
    );
    await recorder.forceFlush();
    // Else no event has waited, and the test shows nothing.
    expect(tape).toContain('"happened_at"');

    const again = observed("replay");
    await readEvents(lines(tape), {
      dialects: [entelixDialect],
      onEvent: ({ event, envelope }) => again.bridge.send(event, envelope),
    });
    expect(await again.made()).toEqual(await live.made());
    expect((await live.made()).rows).toHaveLength(26);
  });
});

async function* lines(text: string): AsyncGenerator<string> {
  yield text;
}

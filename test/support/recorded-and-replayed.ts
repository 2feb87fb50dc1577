import { Writable } from "node:stream";
import { expect } from "vitest";
import { entelixDialect, readEvents } from "../../src/entries/replay.ts";
import { RecorderSink } from "../../src/entries/sinks.ts";
import {
  type AgentEvent,
  type AgentEventSink,
  Bridge,
  type BridgeOptions,
  type EventEnvelope,
} from "../../src/index.ts";
import { bench, second } from "./run-events.ts";
import { collectSpans, fingerprint } from "./spans.ts";

export type Sent = readonly [event: AgentEvent, envelope?: EventEnvelope];

/**
 * Sends events to a bridge and a recorder, one a second, then the recording to another bridge. Both must
 * make the same spans.
 *
 * @returns the names of the spans, in the order of their ends, and the recording.
 */
export async function recordedAndReplayed(
  events: readonly Sent[],
  options: Pick<BridgeOptions, "captureContent">,
): Promise<{ readonly names: readonly string[]; readonly tape: string }> {
  const recording = recorder(options);
  for (const [n, [event, more]] of events.entries()) {
    await recording.sink.send(event, { timestamp: second(n), event_id: `e${n}`, ...more });
  }
  const { lines, names, tape } = await recording.replayed();
  expect(lines).toBe(events.length);
  return { names, tape };
}

/**
 * The same for whoever sends the events itself.
 *
 * @param content whether the recording has it. Default: if the spans do.
 */
export function recorder(
  options: Pick<BridgeOptions, "captureContent"> = {},
  content = options.captureContent === true,
) {
  let tape = "";
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      tape += chunk.toString();
      done();
    },
  });
  const live = collectSpans();
  const bridge = new Bridge({ tracerProvider: live.provider, ...options });
  const tapes = new RecorderSink({ stream, source: bridge, content });
  const sink: AgentEventSink = {
    async send(event, envelope) {
      await bridge.send(event, envelope);
      await tapes.send(event, envelope);
    },
  };
  const replayed = async () => {
    await tapes.forceFlush();
    const again = bench(options);
    const report = await readEvents(text(tape), {
      dialects: [entelixDialect],
      onEvent: ({ event, envelope }) => again.sink.send(event, envelope),
      onIssue: (issue) => expect(issue).toBeUndefined(),
    });
    expect(again.spans().map(fingerprint)).toEqual(live.spans().map(fingerprint));
    return {
      lines: report.events,
      names: live.spans().map(({ name }) => name),
      tape,
      find: again.find,
    };
  };
  return { sink, spans: live.spans, replayed };
}

async function* text(whole: string): AsyncGenerator<string> {
  yield whole;
}

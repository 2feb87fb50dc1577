import { Readable, Writable } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Bridge } from "../../../src/bridge/bridge.ts";
import { type AuditRow, MemorySessionLog, type ThreadKey } from "../../../src/entries/audit.ts";
import { entelixDialect, readEvents } from "../../../src/entries/replay.ts";
import {
  FailOpenSink,
  FanOutSink,
  RecorderSink,
  StateErasureSink,
} from "../../../src/entries/sinks.ts";
import {
  type AgentEvent,
  type AgentEventSink,
  type EventEnvelope,
  renderForLlm,
} from "../../../src/index.ts";
import { collectSpans, fingerprint } from "../../support/spans.ts";

const RUN = { run_id: "018f3c7a-0000-7000-8000-0000000000ab", tenant_id: "acme" } as const;
const CHILD = { run_id: "018f3c7a-0000-7000-8000-0000000000cd", tenant_id: "acme" } as const;

/** Keeps what is written. */
class Tape extends Writable {
  text = "";
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

/** Notes the threads that rows go to. */
class KnownThreads extends MemorySessionLog {
  readonly keys = new Map<string, ThreadKey>();

  override append(...[key, entries]: Parameters<MemorySessionLog["append"]>) {
    this.keys.set(JSON.stringify(key), key);
    return super.append(key, entries);
  }

  async rows(): Promise<readonly AuditRow[]> {
    const threads = [...this.keys].sort().map(([, key]) => this.loadSince(key, 0));
    return (await Promise.all(threads)).flat();
  }
}

interface Sent {
  readonly event: AgentEvent;
  readonly envelope?: EventEnvelope | undefined;
}

type Register = (bridge: AgentEventSink, recorder: AgentEventSink) => AgentEventSink;

const bridgeFirst: Register = (bridge, recorder) => new FanOutSink([bridge, recorder]);
const recorderFirst: Register = (bridge, recorder) => new FanOutSink([recorder, bridge]);

/** Rows of events as they were sent, the spans that had ended before the shutdown, and the recording. */
async function live(sent: readonly Sent[], register: Register) {
  const log = new KnownThreads();
  const { provider, spans } = collectSpans();
  const bridge = new Bridge({ audit: log, tracerProvider: provider, metrics: false });
  const tape = new Tape();
  const recorder = new RecorderSink({ stream: tape, source: bridge });
  const sink = register(bridge, recorder);
  for (const { envelope, event } of sent) await sink.send(event, envelope);
  await recorder.forceFlush();
  const ended = spans().map(fingerprint).sort();
  await bridge.shutdown();
  return { rows: await log.rows(), spans: ended, tape: tape.text };
}

/** The same of a recording. */
async function replayed(tape: string) {
  const log = new KnownThreads();
  const { provider, spans } = collectSpans();
  const bridge = new Bridge({ audit: log, tracerProvider: provider, mode: "replay" });
  const report = await readEvents(Readable.from([Buffer.from(tape)]), {
    dialects: [entelixDialect],
    onEvent: ({ envelope, event }) => bridge.send(event, envelope),
  });
  expect(report.rejected).toBe(0);
  const ended = spans().map(fingerprint).sort();
  await bridge.shutdown();
  return { rows: await log.rows(), spans: ended };
}

async function expectSame(sent: readonly Sent[], register: Register) {
  const first = await live(sent, register);
  const again = await replayed(first.tape);
  expect(again.rows).toEqual(first.rows);
  expect(again.spans).toEqual(first.spans);
  return first;
}

const call = { ...RUN, tool_use_id: "c1", tool: "search" } as const;
const failure = {
  error: "down",
  envelope: { wire_code: "http_503", wire_class: "server" },
} as const;
const LIFE: readonly AgentEvent[] = [
  { type: "started", ...RUN, agent: "clerk" },
  { type: "tool_start", ...call, input: { q: 1 } },
  { type: "started", ...CHILD, parent_run_id: RUN.run_id, agent: "helper" },
  { type: "complete", ...CHILD, state: { secret: 1 } },
  { type: "tool_complete", ...call, duration_ms: 3, output: "found" },
  { type: "tool_call_approved", ...call, tool_use_id: "c2" },
  { type: "tool_start", ...call, tool_use_id: "c2", input: {} },
  {
    type: "tool_error",
    ...call,
    ...failure,
    tool_use_id: "c2",
    error_for_llm: renderForLlm(undefined),
    kind: "transient",
    duration_ms: 1,
  },
  { type: "tool_call_denied", ...call, tool_use_id: "c3", reason: "no" },
  { type: "failed", ...RUN, ...failure, kind: { type: "cancelled" } },
];

describe("an event that was sent without an event ID", () => {
  it.each([
    ["bridge, recorder", bridgeFirst],
    ["recorder, bridge", recorderFirst],
    [
      "wrapped sinks",
      (bridge: AgentEventSink, recorder: AgentEventSink) =>
        new FanOutSink([
          new FailOpenSink(bridge),
          new StateErasureSink(new FanOutSink([new FailOpenSink(recorder)])),
        ]),
    ],
  ] satisfies [string, Register][])("has the row of its replay: %s", async (_, register) => {
    const sent = LIFE.map((event) => ({ event }));
    const { rows } = await expectSame(sent, register);
    expect(rows.map(({ event }) => event.kind)).toEqual([
      "entelix.run_started",
      "tool_call",
      "entelix.run_started",
      "entelix.run_ended",
      "tool_result",
      "entelix.tool_call_decided",
      "tool_call",
      "tool_result",
      "entelix.tool_call_decided",
      "cancelled",
      "entelix.run_ended",
    ]);
    expect(new Set(rows.map(({ event_id }) => event_id)).size).toBe(rows.length);
    expect(rows.every(({ event_id }) => event_id !== null)).toBe(true);
  });

  it("has it where each sink is sent the event by itself, if it says its time", async () => {
    const apart: Register = (bridge, recorder) => ({
      send: async (event, envelope) => {
        await recorder.send({ ...event }, envelope);
        await bridge.send(event, envelope);
      },
    });
    const sent = LIFE.map((event, at) => ({
      event,
      envelope: { timestamp: `2026-04-29T12:00:0${at}Z`, thread_id: "t" },
    }));
    await expectSame(sent, apart);
  });

  it("has it in any process, also where nothing recorded it", async () => {
    const rowsOf = async () => {
      const log = new KnownThreads();
      const bridge = new Bridge({ audit: log, mode: "replay" });
      for (const [at, event] of LIFE.entries()) {
        await bridge.send(event, { timestamp: [1_777_464_000 + at, 5] });
      }
      return log.rows();
    };
    const rows = await rowsOf();
    expect(rows.map(({ event_id }) => event_id)).not.toContain(null);
    expect(await rowsOf()).toEqual(rows);
  });

  it("is told from others that are equal, and is no repeat of them", async () => {
    const timestamp = "2026-04-29T12:00:00Z";
    const twice = [LIFE[0], LIFE[1], LIFE[4], LIFE[1], LIFE[4]].flatMap((event) =>
      event === undefined ? [] : [{ event, envelope: { timestamp } }],
    );
    const { rows } = await expectSame(twice, bridgeFirst);
    expect(rows).toHaveLength(4);
    const ids = rows.map(({ event_id }) => event_id);
    expect(new Set(ids).size).toBe(4);
  });

  it("repeats an equal start that is open, live and in its recording", async () => {
    const [started, start, , , end] = LIFE;
    const sent = [started, start, start, end].flatMap((event, at) =>
      event === undefined
        ? []
        : [{ event, envelope: { timestamp: [1_777_464_000 + at, 0] as const } }],
    );
    const { rows, spans } = await expectSame(
      sent.map(({ event, envelope }) => ({
        event,
        envelope: { timestamp: [...envelope.timestamp] },
      })),
      bridgeFirst,
    );
    expect(rows.map(({ event }) => event.kind)).toEqual([
      "entelix.run_started",
      "tool_call",
      "tool_result",
    ]);
    expect(spans).toHaveLength(1);
  });

  it("is once in the log when lines of its recording come twice", async () => {
    const { rows, spans, tape } = await live(
      LIFE.map((event) => ({ event })),
      bridgeFirst,
    );
    const doubled = tape.replaceAll(/.+\n/g, (line) => line + line);
    expect(await replayed(doubled)).toEqual({ rows, spans });
  });

  it("has the row of its replay in any run", async () => {
    const run = fc.constantFrom(RUN, CHILD, { run_id: "r1", tenant_id: "beta" } as const);
    const id = fc.constantFrom("", "c1", "c2");
    const tool = fc.constantFrom("search", "pay");
    const event: fc.Arbitrary<AgentEvent> = fc.oneof(
      run.map((of) => ({ type: "started" as const, ...of, agent: "a" })),
      fc
        .record({ run, id, tool, input: fc.jsonValue() })
        .map(({ run: of, id: tool_use_id, ...rest }) => ({
          type: "tool_start" as const,
          ...of,
          tool_use_id,
          ...rest,
        })),
      fc
        .record({ run, id, tool, output: fc.jsonValue() })
        .map(({ run: of, id: tool_use_id, ...rest }) => ({
          type: "tool_complete" as const,
          ...of,
          tool_use_id,
          duration_ms: 0,
          ...rest,
        })),
      fc.record({ run, id, tool }).map(({ run: of, id: tool_use_id, ...rest }) => ({
        type: "tool_call_approved" as const,
        ...of,
        tool_use_id,
        ...rest,
      })),
      fc
        .record({ run, id, tool, reason: fc.string() })
        .map(({ run: of, id: tool_use_id, ...rest }) => ({
          type: "tool_call_denied" as const,
          ...of,
          tool_use_id,
          ...rest,
        })),
      run.map((of) => ({ type: "complete" as const, ...of, state: null })),
      run.map((of) => ({
        type: "failed" as const,
        ...of,
        ...failure,
        kind: { type: "internal" } as const,
      })),
      run.map((of) => ({
        type: "interrupted" as const,
        ...of,
        kind: { type: "custom" } as const,
        payload: 1,
      })),
    );
    // A run stays in its thread; several share one.
    const thread = fc.constantFrom(undefined, "t1");
    const sent = fc.array(event, { maxLength: 30 });
    const register = fc.constantFrom(bridgeFirst, recorderFirst);
    await fc.assert(
      fc.asyncProperty(
        sent,
        thread,
        fc.boolean(),
        register,
        async (events, thread_id, apart, way) => {
          // Of runs that share a thread, events of one time have no order of their own.
          const isApart = apart || thread_id !== undefined;
          const spaced = events.map((each, at) => {
            const ms = isApart ? String(at).padStart(3, "0") : "000";
            const timestamp = `2026-04-29T12:00:00.${ms}Z`;
            return { event: each, envelope: { thread_id, timestamp } };
          });
          await expectSame(spaced, way);
        },
      ),
      { numRuns: 40 },
    );
  });
});

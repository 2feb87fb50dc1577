import { Writable } from "node:stream";
import { MeterProvider } from "@opentelemetry/sdk-metrics";
import { AlwaysOffSampler, AlwaysOnSampler } from "@opentelemetry/sdk-trace-node";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AuditSink, MemorySessionLog } from "../../src/entries/audit.ts";
import {
  CaptureSink,
  FailOpenSink,
  FanOutSink,
  RecorderSink,
  StateErasureSink,
} from "../../src/entries/sinks.ts";
import {
  type AgentEvent,
  type AgentEventSink,
  Bridge,
  type BridgeOptions,
  type EventEnvelope,
} from "../../src/index.ts";
import { RunEvents, second } from "../support/run-events.ts";
import { runs } from "../support/runs.ts";
import { collectSpans, fingerprint } from "../support/spans.ts";
import { type HostileSend, hostileSend, made } from "./hostile.ts";

const good = new RunEvents("018f3c7a-0000-7000-8000-000000000002");
const bad = new RunEvents("018f3c7a-0000-7000-8000-000000000003");
const usage = { requests: 1, input_tokens: 2, output_tokens: 3, tool_calls: 1, cost_usd: "0.1" };

function eventsOf(run: RunEvents): AgentEvent[] {
  return [
    run.started("react", null),
    run.toolStart("c1", "fetch", { q: ["x"] }),
    run.toolComplete("c1", "fetch", 10, { a: { b: 1 } }),
    run.approved("c2", "pay"),
    run.denied("c3", "pay", "no"),
    run.modelStart("m1", { input: [{ role: "user" }] }),
    run.modelComplete("m1", {
      usage: { input_tokens: 1, output_tokens: 2 },
      finish_reasons: ["stop"],
    }),
    run.modelStart("m2"),
    run.modelError("m2"),
    run.toolStart("c2", "pay"),
    run.toolError("c2"),
    run.complete({ state: { s: 1 }, usage }),
  ];
}

const GOOD = eventsOf(good);
const BAD: AgentEvent[] = [
  ...eventsOf(bad),
  bad.failed(),
  bad.interrupted({ kind: { type: "approval_pending", tool_use_id: "c2" } }),
];

function envelopeAt(index: number, name: string): EventEnvelope {
  return {
    event_id: `${name}-${index}`,
    timestamp: second(index),
    thread_id: `thread-${name}`,
    parent_tool_use_id: null,
    root_run_id: name === "good" ? good.run_id : bad.run_id,
  };
}

/** Sends the events of a run that is well, and after each of them some that are not. */
async function play(
  sink: AgentEventSink,
  between: readonly (readonly HostileSend[])[],
  timed = false,
) {
  for (const [index, event] of GOOD.entries()) {
    await sink.send(event, envelopeAt(index, "good"));
    for (const one of between[index] ?? []) {
      const at = one.index % BAD.length;
      const base = BAD[at];
      if (base === undefined) continue;
      const given = timed ? "none" : one.envelope;
      const envelope = given === "absent" ? undefined : made(envelopeAt(at, "bad"), given);
      await sink.send(made(base, one.event), envelope);
    }
  }
}

function bridge(options: BridgeOptions = {}, provider: Parameters<typeof collectSpans>[0] = {}) {
  const collected = collectSpans({ sampler: new AlwaysOnSampler(), ...provider });
  const reports: string[] = [];
  const log = new MemorySessionLog();
  const made = new Bridge({
    tracerProvider: collected.provider,
    mode: "replay",
    captureContent: true,
    audit: log,
    onError: (_, where) => void reports.push(where),
    ...options,
  });
  /** Of the run that is well. */
  const wellSpans = () =>
    collected
      .spans()
      .filter(({ attributes }) => attributes["entelix.run_id"] === good.run_id)
      .map(fingerprint);
  const rows = () => log.loadSince({ tenant_id: good.tenant_id, thread_id: "thread-good" }, 0);
  return { ...collected, bridge: made, reports, wellSpans, rows };
}

const sends = fc.array(fc.array(hostileSend, { maxLength: 3 }), { maxLength: GOOD.length });

describe("an object that throws when it is read, sent as an event or an envelope", () => {
  it("makes send neither throw nor reject, and leaves other runs as they are", async () => {
    const undisturbed = bridge();
    await play(undisturbed.bridge, []);
    await undisturbed.bridge.shutdown();
    await fc.assert(
      fc.asyncProperty(sends, fc.constantFrom("live", "replay"), async (between, mode) => {
        const meterProvider = new MeterProvider();
        const test = bridge({ mode, meterProvider, limits: { markerAfterMs: 0 } });
        // In a replay time passes by the events, and what has none is timed by this process's clock.
        await play(test.bridge, between, mode === "replay");
        await test.bridge.shutdown();
        expect(test.wellSpans()).toEqual(undisturbed.wellSpans());
        expect(await test.rows()).toEqual(await undisturbed.rows());
        expect([...test.ended.entries()].sort()).toEqual([...test.started.entries()].sort());
        expect([...test.ended.values()].every((count) => count === 1)).toBe(true);
        const { auditFailures, events, openRuns } = test.bridge.diagnostics();
        const sent = GOOD.length + between.flat().length;
        expect({ auditFailures, events, openRuns }).toEqual({
          auditFailures: 0,
          events: sent,
          openRuns: 0,
        });
      }),
      { numRuns: runs(300) },
    );
  });

  it("does so at every sink", async () => {
    await fc.assert(
      fc.asyncProperty(sends, async (between) => {
        const first = bridge({ mode: "live", limits: { markerAfterMs: 0 } });
        const erased = bridge({ mode: "live", limits: { markerAfterMs: 0 } });
        const lines: string[] = [];
        const stream = new Writable({
          write: (chunk, _, done) => {
            lines.push(String(chunk));
            done();
          },
        });
        const recorder = new RecorderSink({ stream, redact: (value) => value });
        const captured = new CaptureSink();
        const log = new MemorySessionLog();
        const failures: string[] = [];
        const refusing = new FailOpenSink(
          { send: () => Promise.reject(new Error("refused")) },
          { onError: (_, step) => void failures.push(step) },
        );
        const sinks = [
          first.bridge,
          recorder,
          refusing,
          new StateErasureSink(erased.bridge),
          new AuditSink({ log }),
          captured,
        ];
        await play(new FanOutSink(sinks), between);
        await Promise.all([first.bridge.shutdown(), erased.bridge.shutdown()]);
        const sent = GOOD.length + between.flat().length;
        expect(captured.events).toHaveLength(sent);
        expect(failures).toHaveLength(sent);
        const { recorded, refused } = recorder.diagnostics();
        expect([recorded, recorded + refused]).toEqual([lines.length, sent]);
        for (const { ended, started } of [first, erased]) {
          expect([...ended.entries()].sort()).toEqual([...started.entries()].sort());
        }
        const rows = await log.loadSince({ tenant_id: "acme", thread_id: "thread-good" }, 0);
        expect(rows).toHaveLength(8);
      }),
      { numRuns: runs(100) },
    );
  });

  it("is counted once where a run is open that is not sampled, too", async () => {
    await fc.assert(
      fc.asyncProperty(sends, async (between) => {
        const { provider } = collectSpans({ sampler: new AlwaysOffSampler() });
        const sink = new Bridge({
          tracerProvider: provider,
          limits: { markerAfterMs: 0 },
          onError: () => {},
        });
        await play(sink, between);
        await sink.shutdown();
        const sent = GOOD.length + between.flat().length;
        expect(sink.diagnostics().events).toBe(sent);
      }),
      { numRuns: runs(100) },
    );
  });
});

describe("a Proxy that throws at every look", () => {
  const always = { from: 0, once: false, deep: false, thrown: "error" } as const;
  const proxy = (): AgentEvent => made(good.started(), always);

  it("is no event, counted once, and no audit failure", async () => {
    const { bridge: sink, reports } = bridge();
    for (const event of [proxy(), made(good.complete(), "revoked")]) {
      await expect(Promise.resolve(sink.send(event))).resolves.toBeUndefined();
    }
    const { auditFailures, events, ignored } = sink.diagnostics();
    expect({ auditFailures, events, not_an_event: ignored.not_an_event }).toEqual({
      auditFailures: 0,
      events: 2,
      not_an_event: 2,
    });
    expect(reports).toEqual(["event", "event"]);
    await sink.shutdown();
    // After the shutdown, it starts no run and loses no row.
    await expect(Promise.resolve(sink.send(proxy()))).resolves.toBeUndefined();
    expect(sink.diagnostics().ignored.after_shutdown).toBe(1);
  });

  it("does not start a run where the log is known to fail: only a run that starts is refused", async () => {
    const full = { append: () => Promise.reject(new Error("disk full")) };
    const log = Object.assign(new MemorySessionLog(), full);
    const { bridge: sink } = bridge({ audit: log });
    await sink.send(good.started());
    await sink.send(good.toolStart("c1"));
    for (const from of [0, 1, 2, 3, 4, 5, 6, 7, 8]) {
      const event = made(bad.started(), { ...always, from });
      await Promise.resolve(sink.send(event)).catch((error: unknown) => {
        expect(error).toEqual(new Error("disk full"));
      });
    }
    await expect(Promise.resolve(sink.send(bad.started()))).resolves.toBeUndefined();
    await sink.shutdown();
  });

  it("as the scope of an audit call makes the promise reject, and nothing throw", async () => {
    const { bridge: sink } = bridge();
    const scope = made({ tenant_id: "acme", run_id: good.run_id }, always);
    await expect(sink.audit?.recordResumed(scope, "c")).rejects.toThrow("trap");
    await expect(sink.audit?.recordAgentHandoff(scope, null, "b")).rejects.toThrow("trap");
    await sink.shutdown();
  });

  it("told to an AuditSink is told to its onError, and rejects nothing", async () => {
    const errors: string[] = [];
    const log = new MemorySessionLog();
    const sink = new AuditSink({ log, onError: (error) => errors.push(String(error)) });
    for (const event of [proxy(), made(good.toolStart("c1"), { getter: 6 })]) {
      expect(sink.send(event)).toBeUndefined();
      expect(() => sink.prepare(event, second(0), {})).toThrow(/trap|getter/);
    }
    expect(sink.send(good.toolStart("c1"), made({ event_id: "e" }, "revoked"))).toBeUndefined();
    Reflect.apply(sink.send, sink, [null]);
    expect(errors).toHaveLength(4);
    // A wrong time is another matter: the row is missing.
    await expect(sink.send(good.toolStart("c1"), { timestamp: "noon" })).rejects.toThrow(
      RangeError,
    );
  });

  it("is not passed on where its state was to be erased", () => {
    const inner = new CaptureSink();
    const event = made(good.complete({ state: "secret" }), always);
    expect(new StateErasureSink(inner).send(event)).toBeUndefined();
    expect(inner.events).toEqual([]);
  });

  it("is refused by a recorder", () => {
    const recorder = new RecorderSink({
      stream: new Writable({ write: (_c, _e, done) => done() }),
    });
    expect(recorder.send(proxy())).toBeUndefined();
    Reflect.apply(recorder.send, recorder, [null]);
    expect(recorder.diagnostics()).toMatchObject({ recorded: 0, refused: 2 });
  });
});

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { Writable } from "node:stream";
import { createNoopMeter } from "@opentelemetry/api";
import { expect, vi } from "vitest";
import { EMPTY_THREAD } from "../../src/audit/door.ts";
import { ndjsonSettings } from "../../src/audit/ndjson/ndjson-options.ts";
import { MOST_TEXT_BYTES } from "../../src/audit/row-values.ts";
import { WaitedTime } from "../../src/bridge/door.ts";
import { batchSettings, exportSettings } from "../../src/bridge/export/export-settings.ts";
import { LIVE } from "../../src/bridge/export/send-policy.ts";
import { DEFAULT_LIFECYCLE_LIMITS } from "../../src/bridge/lifecycle/limits.ts";
import { FingerprintCounts } from "../../src/bridge/metrics/fingerprint-counts.ts";
import { Instruments } from "../../src/bridge/metrics/instruments.ts";
import { LabelValues, resolveCaps } from "../../src/bridge/metrics/label-values.ts";
import { OTHER } from "../../src/bridge/metrics/metric-names.ts";
import { PendingApprovals } from "../../src/bridge/metrics/pending-approvals.ts";
import { SeriesCache } from "../../src/bridge/metrics/series-cache.ts";
import { MOST_SERIES, Series } from "../../src/bridge/metrics/series-table.ts";
import { MOST_RECORDS } from "../../src/bridge/run-progress.ts";
import { ContentPolicy, READ_FACTOR } from "../../src/bridge/spans/content.ts";
import { RunOwners } from "../../src/bridge/spans/run-owners.ts";
import { MAX_REQUEST_BYTES } from "../../src/cli/door.ts";
import { FOLLOW_WAIT_MS } from "../../src/cli/replay/replay-job.ts";
import { DEEPEST_ATTRIBUTE } from "../../src/cli/traces/otlp-spans.ts";
import { AuditSink, type SessionLog, verifyLog } from "../../src/entries/audit.ts";
import type { EventDetails } from "../../src/entries/events.ts";
import { setupTracing } from "../../src/entries/setup.ts";
import { BroadcastSink, CaptureSink, ChannelSink, RecorderSink } from "../../src/entries/sinks.ts";
import {
  MOST_CONTENT_BYTES,
  MOST_COPY,
  MOST_JSON_BYTES,
  MOST_LINE_BYTES,
  MOST_NAME,
} from "../../src/events/door.ts";
import { jsonText, MOST_ENTRIES } from "../../src/events/messages/own-fields.ts";
import { MOST_LEVELS } from "../../src/events/plain-json.ts";
import { type AgentEvent, Bridge } from "../../src/index.ts";
import { parseLine, ReorderBuffer, Tally } from "../../src/replay/door.ts";
import { DEFAULT_MAX_LINE_BYTES } from "../../src/replay/input/ndjson-reader.ts";
import { MOST_BYTES, MOST_RUNS } from "../../src/view/commands/write-report.ts";
import { MOST_BARS, MOST_KINDS } from "../../src/view/model/failure-bars.ts";
import { MOST_LISTED, MOST_PRINTED, MOST_VALUES } from "../../src/view/model/list-limits.ts";
import { DEEPEST_CHILD } from "../../src/view/runs/run-detail.ts";
import { MOST_LEFT_OUT_IDS } from "../../src/view/runs/run-index.ts";
import { MOST_OTHER_TRACES } from "../../src/view/runs/traces.ts";
import { MOST_CONNECTIONS } from "../../src/view/server/view-server.ts";
import { MOST_SEARCHES, MOST_TRACES } from "../../src/view/sources/jaeger.ts";
import { MOST_VERDICT_PROBLEMS } from "../../src/view/sources/log-verdict.ts";
import { REMEMBERED_THREADS } from "../../src/view/sources/logs.ts";
import { SourceState } from "../../src/view/sources/source-state.ts";
import { collectSpans } from "../support/spans.ts";

const RUN = { run_id: "018f3c7a-0000-7000-8000-000000000002", tenant_id: "acme" };
const STARTED: AgentEvent = { type: "started", ...RUN, agent: "a" };

const content = new ContentPolicy({ captureContent: true }, () => {});
const FIELD = { attribute: "entelix.run.state", tenantId: "acme", runId: "r" };
const LONG = "x".repeat(10_000);
const log = ndjsonSettings({});

/** For each row of `docs/limits.md` the figure that the code has: asked for, or found by using it. */
export const FIGURES: Readonly<Record<string, () => number | Promise<number>>> = {
  ...Object.fromEntries(
    Object.entries(DEFAULT_LIFECYCLE_LIMITS).map(([name, n]) => [name, () => n]),
  ),
  maxValueBytes: () => Buffer.byteLength(content.value(LONG, FIELD) ?? ""),
  maxMessageBytes: mostOfMessages,
  maxStatusBytes: () => Buffer.byteLength(content.errorText(LONG, FIELD)),
  maxStackBytes: () => Buffer.byteLength(content.stackText(LONG, FIELD)),
  "a copy for a redaction hook or resolveParent": () => MOST_COPY,
  "messages that are read for an attribute": () => READ_FACTOR,
  "entries of a list that toMessages reads": () => MOST_ENTRIES,
  "JSON of a value that is shown as the text of a message": () =>
    firstThat(2_000_000, (bytes) => {
      return jsonText({ text: "x".repeat(bytes) }).includes("cut");
    }) -
    1 +
    JSON.stringify({ text: "" }).length,
  "levels of a value": () => MOST_LEVELS,
  "attributes of an attribute hook": hookedAttributes,
  "bytes of a user or session ID": () =>
    firstThat(1_000, (length) => ownerOf({ user_id: "x".repeat(length) }) === undefined) - 1,
  "tags of a run": () => ownerOf({ tags: Array(100).fill("t") })?.tags?.length ?? 0,
  "bytes of a tag": () => ownerOf({ tags: [LONG] })?.tags?.[0]?.length ?? 0,
  "metadata of a run": () => {
    const metadata = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`k${n}`, "v"]));
    return ownerOf({ metadata })?.metadata?.size ?? 0;
  },
  "bytes of a name in the metadata": () =>
    firstThat(1_000, (length) => {
      return ownerOf({ metadata: { ["k".repeat(length)]: "v" } }) === undefined && length > 0;
    }) - 1,
  "bytes of a value in the metadata": () =>
    ownerOf({ metadata: { k: LONG } })?.metadata?.get("k")?.length ?? 0,
  "IDs of left-out runs": () => MOST_LEFT_OUT_IDS,
  "traces without a run": () => MOST_OTHER_TRACES,
  "wait of an event of a file that grows": () => FOLLOW_WAIT_MS,
  "problems of a source": () => {
    const state = new SourceState("run.ndjson", "recording", false, () => {});
    for (let line = 1; line <= 1_000; line += 1) state.problem("run.ndjson", "no event", line);
    return state.view().problem_count === 1_000 ? state.view().problems.length : 0;
  },
  "problems of a verdict": () => MOST_VERDICT_PROBLEMS,
  "traces of a search in Jaeger": () => MOST_TRACES,
  "names of runs in Jaeger": () => MOST_SEARCHES,
  "bytes of a line of spans": () => MAX_REQUEST_BYTES,
  "levels of an attribute in a span file": () => DEEPEST_ATTRIBUTE,
  "levels of child runs": () => DEEPEST_CHILD,
  "threads of a log": () => REMEMBERED_THREADS,
  tenants: () => Number(resolveCaps().tenants),
  agents: () => Number(resolveCaps().agents),
  tools: () => Number(resolveCaps().tools),
  models: () => Number(resolveCaps().models),
  "characters of a name in a label": () =>
    firstThat(1_000, (length) => new LabelValues(1).of("x".repeat(length)) === OTHER) - 1,
  "sets of attributes of a metric": () => MOST_SERIES,
  "waits of a run whose overlaps are known": () =>
    firstThat(1_000, (count) => {
      const waited = new WaitedTime();
      for (let at = 0; at < count; at++) waited.add(2 * at, 2 * at + 1);
      const before = waited.ms;
      waited.add(0, 1);
      return count > 0 && waited.ms > before;
    }) - 1,
  "pairs of names in a bridge": knownPairs,
  "runs with a record at an interval": () => MOST_RECORDS,
  "runs of the list": () => MOST_LISTED,
  "rows of a print": () => MOST_PRINTED,
  "values that a filter of the list shows": () => MOST_VALUES,
  "bars of failures over time": () => MOST_BARS,
  "failure kinds with their own pattern": () => MOST_KINDS,
  "fingerprints in entelix.failures": () =>
    firstThat(1_000, (count) => {
      const counts = new FingerprintCounts();
      for (let at = 0; at < count; at++) counts.add(`f${at}`, 0);
      return counts.all(0).some(({ attributes }) => Object.values(attributes).includes(OTHER));
    }) - 1,
  "approvals that wait": () => {
    const approvals = new PendingApprovals();
    let waiting = 0;
    for (; approvals.forgotten === 0; waiting++) waitFor(approvals, String(waiting));
    return waiting - 1;
  },
  "wait of an approval": () =>
    firstThat(2 ** 20, (seconds) => {
      const approvals = new PendingApprovals();
      waitFor(approvals, "r");
      approvals.tally(seconds, [], []);
      return approvals.forgotten === 1;
    }) - 1,
  "queueBytes of setupTracing": () => exportSettings().queueBytes,
  "bytes of a request": () => exportSettings().requestBytes,
  "requests at once": () => exportSettings().requests,
  "failures of a request while others succeed": () => LIVE.overtaken,
  OTEL_BSP_MAX_QUEUE_SIZE: () => batchSettings().maxQueueSize,
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: () => batchSettings().maxExportBatchSize,
  OTEL_BSP_SCHEDULE_DELAY: () => exportSettings().scheduledDelayMillis,
  OTEL_BSP_EXPORT_TIMEOUT: () => exportSettings().exportTimeoutMillis,
  "shutdownTimeoutMs of setupTracing": () => waits(() => hangingTracing().shutdown()),
  "shutdownTimeoutMs of Bridge": () => waits(() => hangingBridge().shutdown()),
  maxLineBytes: () => DEFAULT_MAX_LINE_BYTES,
  "characters of an id or name in a line": () =>
    firstThat(5_000, (length) => parseLine(`{"id":"${"x".repeat(length)}"}`).value === undefined) -
    1,
  "window.size": () => {
    const buffer = new ReorderBuffer();
    for (let at = 0; buffer.push(item(at)).length === 0; at++);
    return buffer.held;
  },
  "window.maxSize": () => {
    const buffer = new ReorderBuffer({ batch: 1 });
    // The first waits for all others, each of which is earlier.
    let others = 0;
    for (let released = 0; released === 0; others++) {
      released = buffer.push(item(-others, others, `stream ${others}`)).length;
    }
    return others - 1;
  },
  "streams whose last event is remembered": () => {
    const buffer = new ReorderBuffer({ size: 0 });
    for (let n = 0; buffer.forgottenStreams === 0; n++) buffer.push(item(n, n, `stream ${n}`));
    return buffer.forgottenStreams;
  },
  "window.maxWaitMs": () => {
    const buffer = new ReorderBuffer();
    buffer.push(item(0), 0);
    for (let ms = 0; ; ms++) if (buffer.drainOlderThan(ms).length > 0) return ms - 1;
  },
  "names in the report": () => {
    const tally = new Tally();
    for (let n = 0; !tally.counts.has("_other"); n++) tally.add(`name ${n}`);
    return tally.counts.size - 1;
  },
  "runs of a report": () => MOST_RUNS,
  "bytes of a report": () => MOST_BYTES,
  "connections to the page": () => MOST_CONNECTIONS,
  "capacity of ChannelSink": () => {
    const sink = new ChannelSink();
    while (sink.waiting === 0) void sink.send(STARTED);
    return sink.buffered;
  },
  "maxWaiting of ChannelSink": async () => {
    const sink = new ChannelSink();
    for (let n = 0; n < 20_000; n++) void Promise.resolve(sink.send(STARTED)).catch(() => {});
    return sink.waiting;
  },
  "capacity of BroadcastSink": async () => {
    const sink = new BroadcastSink();
    const receiver = sink.subscribe();
    const sent = 5_000;
    for (let n = 0; n < sent; n++) sink.send(STARTED);
    const { value } = await receiver.next();
    return value !== undefined && "lagged" in value ? sent - value.lagged : sent;
  },
  "limit of CaptureSink": () => {
    const sink = new CaptureSink();
    while (sink.dropped === 0) sink.send(STARTED);
    return sink.items.length;
  },
  "maxBufferedBytes of RecorderSink": bufferedBytes,
  "bytes of a line of RecorderSink": () => MOST_LINE_BYTES,
  segmentBytes: () => log.segmentBytes,
  lookUpBytes: () => log.lookUpBytes,
  heads: () => log.heads,
  maxPendingBytes: () => log.maxPendingBytes,
  "bytes of a value in a row": () => MOST_CONTENT_BYTES,
  "bytes of a name or ID inside the event": () => MOST_TEXT_BYTES,
  "bytes of an event's JSON": () => MOST_JSON_BYTES,
  "characters of an id or name": () => MOST_NAME,
  "threads of AuditSink": rememberedThreads,
  "maxProblems of verifyLog": listedProblems,
};

/** The pairs of tenant and agent that are told apart: far more of each are admitted. */
function knownPairs(): number {
  const caps = { tenants: MOST_SERIES, agents: MOST_SERIES, tools: 1, models: 1 };
  const cache = new SeriesCache(new Instruments(createNoopMeter()), caps);
  let pairs = 0;
  while (cache.pair(`t${pairs % 100}`, `a${Math.floor(pairs / 100)}`).agent !== OTHER) pairs++;
  return pairs;
}

/** A run that waits since second 0. */
function waitFor(approvals: PendingApprovals, runId: string): void {
  const series = new Series({}, []);
  approvals.add({ tenantId: "acme", runId, threadId: undefined }, 0, series, series);
}

function ownerOf(details: EventDetails) {
  return new RunOwners().of({ details });
}

function hookedAttributes(): number {
  const { provider, spans } = collectSpans();
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`own.${n}`, n]));
  const sink = new Bridge({ tracerProvider: provider, attributes: () => many });
  void sink.send(STARTED);
  void sink.send({ type: "complete", ...RUN, state: null });
  const [span] = spans();
  return Object.keys(span?.attributes ?? {}).filter((name) => name.startsWith("own.")).length;
}

/** Fake milliseconds until a promise settles, to the ten. */
/** The longest text of a message that is not cut, with what is around it. */
function mostOfMessages(): number {
  const isWhole = (length: number) => content.input("x".repeat(length), FIELD)?.includes("…");
  const around = Buffer.byteLength(content.input("x", FIELD) ?? "") - 1;
  return firstThat(100_000, (length) => isWhole(length) === true) - 1 + around;
}

async function waits(begin: () => Promise<void>): Promise<number> {
  vi.useFakeTimers();
  // The fake timers replace the global object only.
  const now = vi.spyOn(performance, "now").mockImplementation(() => Date.now());
  let settled = false;
  void begin().then(() => {
    settled = true;
  });
  let ms = 0;
  for (; !settled && ms < 60_000; ms += 10) await vi.advanceTimersByTimeAsync(10);
  now.mockRestore();
  return ms;
}

function hangingTracing() {
  const never = new Promise<void>(() => {});
  const stuck = {
    onStart: () => {},
    onEnd: () => {},
    forceFlush: () => never,
    shutdown: () => never,
  };
  return setupTracing({ register: false, spanProcessors: [stuck], onError: () => {} });
}

function hangingBridge(): Bridge {
  const audit: SessionLog = {
    append: () => new Promise(() => {}),
    loadSince: async () => [],
    archiveBefore: async () => 0,
  };
  const bridge = new Bridge({ audit, limits: { markerAfterMs: 0 } });
  void bridge.send(STARTED);
  void bridge.send({ type: "tool_start", ...RUN, tool_use_id: "1", tool: "t", input: null });
  return bridge;
}

function item(at: number, line = 0, stream = "one") {
  return {
    at: [at, 0] as const,
    rank: 3 as const,
    sequence: undefined,
    eventId: undefined,
    text: String(line),
    streamKey: () => ({ stream }),
    streamName: () => stream,
  };
}

/** The most bytes that may wait in a recorder's stream. */
function bufferedBytes(): number {
  let waiting = 0;
  const stream = new Writable({ write: (_chunk, _encoding, done) => done() });
  Object.defineProperty(stream, "writableLength", { get: () => waiting });
  const sink = new RecorderSink({ stream });
  return (
    firstThat(2 ** 30, (bytes) => {
      waiting = bytes;
      try {
        void sink.send(STARTED);
        return false;
      } catch {
        return true;
      }
    }) - 1
  );
}

/** The runs whose thread is remembered: at least so many, and at most twice as many. */
function rememberedThreads(): number {
  return firstThat(2 ** 17, forgetsThreadAfter) / 2;
}

/** Whether so many other runs make an audit sink forget what thread a run has. */
function forgetsThreadAfter(others: number): boolean {
  let thread = "";
  const sink = new AuditSink({
    log: {
      append: async (key) => {
        thread = key.thread_id;
        return EMPTY_THREAD;
      },
      loadSince: async () => [],
      archiveBefore: async () => 0,
    },
  });
  void sink.send(STARTED, { thread_id: "named" });
  for (let n = 0; n < others; n++) {
    void sink.send({ ...STARTED, run_id: String(n) }, { event_id: `e${n}` });
  }
  void sink.send({ type: "tool_start", ...RUN, tool_use_id: "", tool: "t", input: null });
  return thread !== "named";
}

/** The least number below `end` that a condition holds for, which holds for all above it too. */
function firstThat(end: number, holds: (n: number) => boolean): number {
  let low = 0;
  let high = end;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

async function listedProblems(): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "entelix-otel-test-"));
  try {
    await writeFile(join(folder, "segment-00000001.ndjson"), "damaged\n".repeat(2_000));
    const { problemCount, problems } = await verifyLog(folder);
    expect(problemCount).toBeGreaterThan(1_500);
    return problems.length;
  } finally {
    await rm(folder, { recursive: true });
  }
}

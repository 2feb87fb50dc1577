import { performance } from "node:perf_hooks";
import { createNoopMeter } from "@opentelemetry/api";
import { vi } from "vitest";
import { exportSettings } from "../../../src/bridge/export/export-settings.ts";
import { LIVE } from "../../../src/bridge/export/send-policy.ts";
import { DEFAULT_LIFECYCLE_LIMITS } from "../../../src/bridge/lifecycle/limits.ts";
import { FingerprintCounts } from "../../../src/bridge/metrics/fingerprint-counts.ts";
import { Instruments } from "../../../src/bridge/metrics/instruments.ts";
import { LabelValues, resolveCaps } from "../../../src/bridge/metrics/label-values.ts";
import { OTHER } from "../../../src/bridge/metrics/metric-names.ts";
import { PendingApprovals } from "../../../src/bridge/metrics/pending-approvals.ts";
import { SeriesCache } from "../../../src/bridge/metrics/series-cache.ts";
import { MOST_SERIES, Series } from "../../../src/bridge/metrics/series-table.ts";
import { WaitedTime } from "../../../src/bridge/metrics/waiting-run.ts";
import { MOST_RECORDS } from "../../../src/bridge/run-progress.ts";
import { ContentPolicy, READ_FACTOR } from "../../../src/bridge/spans/content.ts";
import { RunOwners } from "../../../src/bridge/spans/run-owners.ts";
import type { EventDetails } from "../../../src/entries/events.ts";
import { setupTracing } from "../../../src/entries/setup.ts";
import { type AgentEvent, Bridge, type SessionLog } from "../../../src/index.ts";
import { firstThat } from "../../support/first-that.ts";
import { collectSpans } from "../../support/spans.ts";

const RUN = { run_id: "018f3c7a-0000-7000-8000-000000000002", tenant_id: "acme" };
const STARTED: AgentEvent = { type: "started", ...RUN, agent: "a" };

const content = new ContentPolicy({ captureContent: true }, () => {});
const FIELD = { attribute: "entelix.run.state", tenantId: "acme", runId: "r" };
const LONG = "x".repeat(10_000);

/** The limits of this room as its code has them, by their rows in `docs/limits.md`. */
export const BRIDGE_FIGURES: Readonly<Record<string, () => number | Promise<number>>> = {
  ...Object.fromEntries(
    Object.entries(DEFAULT_LIFECYCLE_LIMITS).map(([name, n]) => [name, () => n]),
  ),
  maxValueBytes: () => Buffer.byteLength(content.value(LONG, FIELD) ?? ""),
  maxMessageBytes: mostOfMessages,
  maxStatusBytes: () => Buffer.byteLength(content.errorText(LONG, FIELD)),
  maxStackBytes: () => Buffer.byteLength(content.stackText(LONG, FIELD)),
  "messages that are read for an attribute": () => READ_FACTOR,
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
  "Retry-After of a receiver in setupTracing": () => LIVE.mostAskedMs,
  OTEL_BSP_SCHEDULE_DELAY: () => exportSettings().scheduledDelayMillis,
  OTEL_BSP_EXPORT_TIMEOUT: () => exportSettings().exportTimeoutMillis,
  "shutdownTimeoutMs of setupTracing": () => waits(() => hangingTracing().shutdown()),
  "shutdownTimeoutMs of Bridge": () => waits(() => hangingBridge().shutdown()),
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

/** The longest text of a message that is not cut, with what is around it. */
function mostOfMessages(): number {
  const isWhole = (length: number) => content.input("x".repeat(length), FIELD)?.includes("…");
  const around = Buffer.byteLength(content.input("x", FIELD) ?? "") - 1;
  return firstThat(100_000, (length) => isWhole(length) === true) - 1 + around;
}

/** Fake milliseconds until a promise settles, to the ten. */
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

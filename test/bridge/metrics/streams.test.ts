import { afterEach, describe, expect, it, vi } from "vitest";
import { type JsonValue, parseExact } from "../../../src/entries/events.ts";
import { entelixDialect } from "../../../src/entries/replay.ts";
import type { AgentEvent, EventEnvelope, FailureKind } from "../../../src/index.ts";
import { isJsonObject } from "../../../src/replay/door.ts";
import { readLines } from "../../support/golden.ts";
import { type Collected, label, meteredBench } from "./meter.ts";

interface Sent {
  readonly event: AgentEvent;
  readonly envelope: EventEnvelope;
}

function decode(line: JsonValue | undefined): Sent {
  if (!isJsonObject(line)) throw new TypeError("a line that is no object");
  const decoded = entelixDialect.decode(line);
  if (decoded.outcome !== "event") throw new TypeError(decoded.outcome);
  return { event: decoded.event, envelope: decoded.envelope };
}

function golden(file: string): [string, Sent[]][] {
  return readLines(`golden/${file}`).map((text) => {
    const recording = parseExact(text);
    if (!isJsonObject(recording) || !Array.isArray(recording.events)) throw new TypeError(file);
    const sent = recording.events.map((entry) => {
      if (!isJsonObject(entry) || !isJsonObject(entry.event)) throw new TypeError(file);
      return decode({ ...entry.event, timestamp: entry.at ?? null });
    });
    return [String(recording.id), sent];
  });
}

function files(folder: string, names: readonly string[]): [string, Sent[]][] {
  return names.map((name) => {
    const lines = readLines(`../${folder}/${name}.ndjson`);
    return [`${folder}/${name}`, lines.map((line) => decode(parseExact(line)))];
  });
}

const STREAMS = [
  ...golden("entelix_lifecycles.jsonl"),
  ...golden("entelix_lifecycles_older_0_5.jsonl"),
  ...files("recordings", [
    "approval",
    "cancelled",
    "model_failure",
    "nested_subagent",
    "pause",
    "resume",
    "success",
    "tool_error",
    "tool_error_terminal",
    "two_tenants",
  ]),
  ...files("test/streams", [
    "parallel_empty_ids",
    "retried_tool_call",
    "same_id_in_three_turns",
    "terminal_after_abandonment",
    "three_hour_silent_tool",
    "two_tenants_same_run_id",
  ]),
];

/** Failure kinds of 0.5.x, whose events have none, by the code of their envelope. */
const OLDER_KINDS: Readonly<Record<string, FailureKind>> = {
  cancelled: { type: "cancelled" },
  upstream_unavailable: { type: "model_dispatch" },
};

/** Rust agents do not say where a failure arose. */
const usualOrigin = (kind: unknown) =>
  ({ tool_error_terminal: "tool", model_dispatch: "model" })[String(kind)] ?? "run";

type Counts = Record<string, Record<string, number>>;

/** What the metrics must be, from the events alone: each event says by itself what it counts. */
function countsOf(stream: readonly Sent[]): Counts {
  const counts: Counts = {};
  const add = (metric: string, attributes: Record<string, unknown>, by = 1) => {
    const series = counts[metric] ?? {};
    counts[metric] = series;
    const at = label(attributes);
    series[at] = (series[at] ?? 0) + by;
  };
  const of = ({ run_id, tenant_id }: AgentEvent) => `${tenant_id} ${run_id}`;
  const started = new Map(
    stream.flatMap(({ event }) => (event.type === "started" ? [[of(event), event] as const] : [])),
  );
  for (const { event } of stream) {
    const start = started.get(of(event));
    const agent = { "gen_ai.agent.name": start?.agent ?? "unknown" };
    const pair = { ...agent, "entelix.tenant_id": event.tenant_id };
    // A parent that was never seen vouches for nobody.
    const parent = start?.parent_run_id;
    const root = !parent || !started.has(`${event.tenant_id} ${parent}`);
    const ended = (outcome: string, failure: Record<string, unknown> = {}) => {
      const how = { "entelix.run.outcome": outcome, "entelix.root": root };
      const type = failure["entelix.failure.kind"];
      const origin = type === undefined ? {} : { "entelix.failure.origin": usualOrigin(type) };
      add("entelix.runs", { ...pair, ...how, ...failure, ...origin });
      if (start === undefined) return;
      add("gen_ai.invoke_agent.duration", { ...agent, ...(type ? { "error.type": type } : {}) });
    };
    switch (event.type) {
      case "complete": {
        ended("complete");
        const { usage } = event;
        if (!root || !usage) break;
        const tokens = (type: string) => ({ ...pair, "gen_ai.token.type": type });
        add("entelix.tokens", tokens("input"), Number(usage.input_tokens));
        add("entelix.tokens", tokens("output"), Number(usage.output_tokens));
        add("entelix.cost", pair, Number(usage.cost_usd));
        break;
      }
      case "failed": {
        if (event.envelope.wire_code === "interrupted") {
          ended("interrupted");
          break;
        }
        const kind = event.kind ?? OLDER_KINDS[event.envelope.wire_code];
        ended("failed", { "entelix.failure.kind": kind?.type });
        if (root && kind?.type === "tool_error_terminal") {
          add("entelix.tool.terminal_failures", {
            ...pair,
            "gen_ai.tool.name": kind.tool_name,
            "entelix.tool.error_kind": kind.kind,
          });
        }
        break;
      }
      case "interrupted":
        ended("interrupted");
        if (root && event.kind?.type === "approval_pending") add("entelix.approvals.pending", pair);
        break;
      case "tool_complete":
      case "tool_error": {
        const failed = event.type === "tool_error" && event.envelope.wire_code !== "interrupted";
        const tool = { "gen_ai.tool.name": event.tool };
        const kind = failed ? event.kind : undefined;
        add("gen_ai.execute_tool.duration", {
          ...agent,
          ...tool,
          "gen_ai.tool.type": "function",
          ...(failed ? { "error.type": kind } : {}),
        });
        if (failed)
          add("entelix.tool.failures", { ...pair, ...tool, "entelix.tool.error_kind": kind });
        break;
      }
      default:
        break;
    }
  }
  return counts;
}

const COUNTED = [
  "entelix.approvals.pending",
  "entelix.cost",
  "entelix.runs",
  "entelix.tokens",
  "entelix.tool.failures",
  "entelix.tool.terminal_failures",
  "gen_ai.execute_tool.duration",
  "gen_ai.invoke_agent.duration",
];

function found(seen: Collected): Counts {
  const entries = COUNTED.map((name) => [name, seen.nonZero(name)] as const);
  return Object.fromEntries(entries.filter(([, series]) => Object.keys(series).length > 0));
}

/** Series at 0 are seen, and say nothing. */
function withoutZeros(counts: Counts): Counts {
  const entries = Object.entries(counts).map(
    ([name, series]) =>
      [name, Object.fromEntries(Object.entries(series).filter(([, n]) => n !== 0))] as const,
  );
  return Object.fromEntries(entries.filter(([, series]) => Object.keys(series).length > 0));
}

// Who waits for an approval is forgotten after days: the clock is that of the events.
function clockAtEndOf(stream: readonly Sent[]): void {
  const at = stream.at(-1)?.envelope.timestamp;
  if (typeof at !== "object") throw new TypeError("expected a time");
  vi.useFakeTimers({ toFake: ["Date"], now: at[0] * 1000 });
}

describe("the metrics of every recorded stream", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it("are looked at", () => {
    expect(STREAMS.length).toBeGreaterThan(30);
  });

  it.each(STREAMS)("%s are the sums of its events", async (_, stream) => {
    clockAtEndOf(stream);
    const bench = meteredBench({ limits: { maxAgeMs: 2 ** 40 } });
    for (const { envelope, event } of stream) void bench.sink.send(event, envelope);
    const seen = await bench.collect();
    expect(found(seen)).toEqual(withoutZeros(countsOf(stream)));
    expect(seen.sum("entelix.bridge.events")).toBe(stream.length);
    expect(bench.reports).toEqual([]);
  });

  it("have the durations that the events say, to the millisecond", async () => {
    const bench = meteredBench({ limits: { maxAgeMs: 2 ** 40 } });
    let milliseconds = 0;
    for (const { envelope, event } of STREAMS.find(
      ([name]) => name === "recordings/success",
    )?.[1] ?? []) {
      if (event.type === "tool_complete") milliseconds += Number(event.duration_ms);
      void bench.sink.send(event, envelope);
    }
    const seen = await bench.collect();
    const sum = seen
      .points("gen_ai.execute_tool.duration")
      .reduce((total, { histogram }) => total + (histogram?.sum ?? 0), 0);
    expect(milliseconds).toBeGreaterThan(0);
    expect(sum * 1000).toBeCloseTo(milliseconds, 6);
  });
});

import { describe, expect, it } from "vitest";
import { MemorySessionLog } from "../../../../src/entries/audit.ts";
import { parseExact } from "../../../../src/entries/events.ts";
import { Bridge } from "../../../../src/index.ts";
import { isJsonObject } from "../../../../src/replay/dialects/dialect.ts";
import { decodeEntelix } from "../../../../src/replay/dialects/entelix/entelix-dialect.ts";
import { readLines } from "../../../support/golden.ts";
import { flat } from "../../../support/run-events.ts";
import { collectSpans, type SpanNode, toTrees } from "../../../support/spans.ts";
import { replayed } from "./replayed.ts";

interface Thread {
  readonly tenant_id: string;
  readonly thread_id: string;
}

/** A recorded run, live: its spans, and the lines of the log that it left. */
async function live(text: string) {
  const recording = parseExact(text);
  if (!isJsonObject(recording) || !Array.isArray(recording.events)) throw new TypeError(text);
  const spans = collectSpans();
  const log = new MemorySessionLog();
  const bridge = new Bridge({ mode: "replay", tracerProvider: spans.provider, audit: log });
  const threads: Thread[] = [];
  for (const [n, entry] of recording.events.entries()) {
    const decoded = decodeEntelix({ ...entry.event, timestamp: entry.at, event_id: `event-${n}` });
    if (decoded.outcome !== "event") throw new TypeError(decoded.outcome);
    const { tenant_id, run_id } = decoded.event;
    // The log of a nested run stands in the thread of its root, as it does where threads are named.
    const thread_id = recording.id === "nested_subagent" ? "th-7" : run_id;
    threads.push({ tenant_id, thread_id });
    await bridge.send(decoded.event, { ...decoded.envelope, thread_id });
  }
  await bridge.shutdown();
  const lines: string[] = [];
  for (const [, thread] of new Map(threads.map((each) => [JSON.stringify(each), each]))) {
    for (const { event: _, event_text, ...attributes } of await log.loadSince(thread, 0)) {
      lines.push(`${JSON.stringify(attributes).slice(0, -1)},"event":${event_text}}`);
    }
  }
  return { trees: toTrees(spans.spans()), lines };
}

/** What both sides know of a tool call. */
const toolCall = ({ end, parent, run, span, span_id, start, trace }: SpanNode) => ({
  end,
  parent,
  run,
  span,
  span_id,
  start,
  trace,
});

/** The calls that were made, each trace's together: roots stand in the order of their start. */
const toolCalls = (trees: readonly SpanNode[]) =>
  flat(trees.toSorted((a, b) => (a.trace < b.trace ? -1 : 1))).filter(
    ({ attributes, span }) =>
      span.startsWith("execute_tool") && attributes["entelix.tool.outcome"] !== "denied",
  );

const place = ({ run, span_id, trace }: SpanNode) => [run, span_id, trace];

describe("a trace made of our log", () => {
  for (const text of readLines("golden/entelix_lifecycles.jsonl")) {
    const { id } = JSON.parse(text);
    it(`${id}: has the ids, the places and the times of the trace that was made live`, async () => {
      const { lines, trees } = await live(text);
      const ofLog = (await replayed(lines)).trees;
      expect(toolCalls(ofLog).map(toolCall)).toEqual(toolCalls(trees).map(toolCall));
      const withCalls = new Set(toolCalls(trees).map(({ run }) => run));
      const runs = (all: readonly SpanNode[]) =>
        flat(all).filter(({ run, span }) => span.startsWith("invoke_agent") && withCalls.has(run));
      expect(runs(ofLog).map(place).sort()).toEqual(runs(trees).map(place).sort());
      expect(runs(ofLog)).toHaveLength(withCalls.size);
    });
  }
});

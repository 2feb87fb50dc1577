import { describe, expect, it } from "vitest";
import {
  type AuditEntry,
  MemorySessionLog,
  type ThreadKey,
} from "../../../../src/entries/audit.ts";
import { stringifyExact } from "../../../../src/entries/events.ts";
import { agentSdkDialect } from "../../../../src/replay/dialects/agent-sdk/agent-sdk-dialect.ts";
import { AgentSdkMapping } from "../../../../src/replay/dialects/agent-sdk/agent-sdk-mapping.ts";
import { defectDialect } from "../../../../src/replay/dialects/defect/defect-dialect.ts";
import { DefectMapping } from "../../../../src/replay/dialects/defect/defect-mapping.ts";
import type { Dialect, JsonObject } from "../../../../src/replay/dialects/dialect.ts";
import type { Mapping } from "../../../../src/replay/dialects/mapping.ts";
import { replayDialect } from "../../../support/replay-dialect.ts";
import { flat } from "../../../support/run-events.ts";
import type { SpanNode } from "../../../support/spans.ts";
import { STREAMS } from "../agent-sdk/golden-lines.ts";
import { call, confirm, done, lines, result, start, text, USAGE } from "../agent-sdk/reader.ts";
import { recordedLines, recordings } from "../defect/recordings.ts";
import { replayed } from "./replayed.ts";

/** A log that knows its threads in the order of their first rows, as a file has them. */
class ThreadsKept extends MemorySessionLog {
  readonly #threads = new Map<string, ThreadKey>();

  override append(key: ThreadKey, entries: readonly AuditEntry[]) {
    this.#threads.set(JSON.stringify([key.tenant_id, key.thread_id]), key);
    return super.append(key, entries);
  }

  async lines(): Promise<string[]> {
    const lines: string[] = [];
    for (const thread of this.#threads.values()) {
      for (const { event: _, event_text, ...attributes } of await this.loadSince(thread, 0)) {
        lines.push(`${JSON.stringify(attributes).slice(0, -1)},"event":${event_text}}`);
      }
    }
    return lines;
  }
}

/** The spans made of a recording, and those made of the log that it left. */
async function bothOf<E>(
  dialect: Dialect<E>,
  mapping: Mapping<E>,
  recording: readonly JsonObject[],
) {
  const log = new ThreadsKept();
  const texts = recording.map((line) => stringifyExact(line));
  const { trees } = await replayDialect(dialect, mapping, texts, log);
  const ofLog = await replayed(await log.lines());
  return { trace: flat(trees), log: flat(ofLog.trees) };
}

const agentSdk = (recording: readonly JsonObject[]) =>
  bothOf(agentSdkDialect, new AgentSdkMapping(), recording);
const defect = (recording: readonly JsonObject[]) =>
  bothOf(defectDialect, new DefectMapping(), recording);

/** What both sides know of the tool calls that were made. */
const toolCalls = (nodes: readonly SpanNode[]) =>
  nodes
    .filter(({ span }) => span.startsWith("execute_tool"))
    .map(({ end, parent, run, span, span_id, start, trace }) =>
      JSON.stringify({ end, parent, run, span, span_id, start, trace }),
    )
    .sort();

/** Name and place of the runs. */
const runs = (nodes: readonly SpanNode[]) =>
  nodes
    .filter(({ span }) => span.startsWith("invoke_agent"))
    .map(({ parent, run, span, span_id, trace }) =>
      JSON.stringify({ parent, run, span, span_id, trace }),
    );

describe("a trace made of the log of another runtime", () => {
  const recorded = [
    ...STREAMS.map(({ lines, name }) => ({ name, both: () => agentSdk(lines) })),
    ...recordings().map((each) => ({ name: each.name, both: () => defect(recordedLines(each)) })),
  ];
  for (const { both, name } of recorded) {
    it(`${name}: has its runs and tool calls where the trace of the events has them`, async () => {
      const { log, trace } = await both();
      expect(toolCalls(log)).toEqual(toolCalls(trace));
      for (const run of runs(log)) expect(runs(trace)).toContain(run);
    });
  }

  it("goes on with a run that asked, was answered and worked on", async () => {
    const asked = lines(
      start(),
      call("a"),
      confirm("a"),
      call("b"),
      confirm("b"),
      result("a"),
      confirm("b"),
      result("b"),
      start(2),
      text(),
      done,
    );
    const { log, trace } = await agentSdk(asked);
    expect(toolCalls(log)).toHaveLength(2);
    expect(toolCalls(log)).toEqual(toolCalls(trace));
    expect(runs(log)).toEqual(runs(trace));
    expect(log[0]?.attributes).toMatchObject({ "entelix.run.outcome": "complete" });
  });

  it("says how a run ended that asked and was cancelled, or was never answered", async () => {
    const cancelled = { type: "cancelled", turn: 1, usage: USAGE };
    const ends = async (...more: readonly JsonObject[]) => {
      const both = await agentSdk(lines(start(), call("a"), confirm("a"), ...more));
      return [both.log[0], both.trace[0]].map((run) => run?.attributes["entelix.run.outcome"]);
    };
    expect(await ends(cancelled)).toEqual(["failed", "failed"]);
    expect(await ends()).toEqual(["interrupted", "interrupted"]);
    expect(await ends(result("a"))).toEqual(["abandoned", "abandoned"]);
  });

  it("goes on with a run that put a question to the user", async () => {
    const question = { type: "question_asked", task_id: "t", questions: [] };
    const asked = lines(start(), call("a", "ask_user"), question, result("a", {}, "ask_user"));
    const { log, trace } = await agentSdk([...asked, ...more(asked.length)]);
    expect(toolCalls(log)).toEqual(toolCalls(trace));
    expect(runs(log)).toEqual(runs(trace));
    expect(log[0]?.attributes).toMatchObject({ "entelix.run.outcome": "complete" });
  });

  it("shows a run id that is resumed as its next segment, whatever it had asked about", async () => {
    const row = (event: JsonObject, n: number) => {
      const timestamp = `2026-06-12T10:00:0${n}Z`;
      return stringifyExact({ run_id: "r", thread_id: "th", event: { ...event, timestamp } });
    };
    const rows = [
      { kind: "tool_call", id: "a", name: "bash", input: {} },
      {
        kind: "interrupt",
        interruption_kind: { type: "approval_pending", tool_use_id: "a" },
        payload: null,
      },
      { kind: "resumed", from_checkpoint: "" },
      { kind: "tool_call", id: "a", name: "bash", input: {} },
    ];
    const { trees } = await replayed(rows.map(row));
    const outcomes = trees.map(({ attributes }) => attributes["entelix.run.outcome"]);
    expect(outcomes).toEqual(["interrupted", "abandoned"]);
  });
});

/** The next turn of a run, behind so many lines. */
function more(from: number): JsonObject[] {
  const before = Array.from({ length: from }, () => start());
  return lines(...before, start(2), text(), done).slice(from);
}

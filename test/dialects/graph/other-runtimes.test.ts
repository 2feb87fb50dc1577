import { describe, expect, it } from "vitest";
import type { AuditEntry, ThreadKey } from "../../../src/audit/audit-row.ts";
import { MemorySessionLog } from "../../../src/audit/memory-session-log.ts";
import { agentSdkDialect } from "../../../src/dialects/agent-sdk/agent-sdk-dialect.ts";
import { AgentSdkMapping } from "../../../src/dialects/agent-sdk/agent-sdk-mapping.ts";
import { defectDialect } from "../../../src/dialects/defect/defect-dialect.ts";
import { DefectMapping } from "../../../src/dialects/defect/defect-mapping.ts";
import type { Dialect, JsonObject } from "../../../src/dialects/dialect.ts";
import type { Mapping } from "../../../src/dialects/mapping.ts";
import { stringifyExact } from "../../../src/events/exact-json.ts";
import { replayDialect } from "../../support/replay-dialect.ts";
import { flat } from "../../support/run-events.ts";
import type { SpanNode } from "../../support/spans.ts";
import { STREAMS } from "../agent-sdk/golden-lines.ts";
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
      for (const { event: _, event_text, ...facts } of await this.loadSince(thread, 0)) {
        lines.push(`${JSON.stringify(facts).slice(0, -1)},"event":${event_text}}`);
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
});

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { EMPTY_THREAD } from "../../../src/audit/audit-row.ts";
import { AuditSink } from "../../../src/audit/audit-sink.ts";
import { ndjsonSettings } from "../../../src/audit/ndjson/ndjson-options.ts";
import { MOST_TEXT_BYTES } from "../../../src/audit/row-values.ts";
import { verifyLog } from "../../../src/audit/verify/verify-log.ts";
import type { AgentEvent } from "../../../src/index.ts";
import { firstThat } from "../../support/first-that.ts";

const RUN = { run_id: "018f3c7a-0000-7000-8000-000000000002", tenant_id: "acme" };
const STARTED: AgentEvent = { type: "started", ...RUN, agent: "a" };

const log = ndjsonSettings({});

/** The event IDs that a log remembers. */
export const EVENT_IDS = log.eventIds;

/** The limits of this room as its code has them, by their rows in `docs/limits.md`. */
export const AUDIT_FIGURES: Readonly<Record<string, () => number | Promise<number>>> = {
  segmentBytes: () => log.segmentBytes,
  lookUpBytes: () => log.lookUpBytes,
  heads: () => log.heads,
  maxPendingBytes: () => log.maxPendingBytes,
  "bytes of a name or ID inside the event": () => MOST_TEXT_BYTES,
  "threads of AuditSink": rememberedThreads,
  "maxProblems of verifyLog": listedProblems,
};

/** The runs whose thread is remembered: at least so many, and at most twice as many. */
function rememberedThreads(): number {
  // Each try sends so many events: only the numbers beside the default are tried.
  return firstThat(40_001, forgetsThreadAfter, 39_999) / 2;
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

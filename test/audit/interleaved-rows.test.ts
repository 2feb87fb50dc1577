import { describe, expect, it } from "vitest";
import { type AuditRow, NO_HASH } from "../../src/audit/audit-row.ts";
import { AuditSink } from "../../src/audit/audit-sink.ts";
import { MemorySessionLog } from "../../src/audit/memory-session-log.ts";
import { rowAfter, sha256, threadPrefix } from "../../src/audit/row-text.ts";
import type { AgentEvent } from "../../src/index.ts";

const digest = sha256("{}");
const other = sha256("before");

/** A row made without anything that is kept between rows. */
function expected(
  before: { ordinal: number; hash: string },
  ids: readonly [string, string, string | null, string | null, string | null, string | null],
) {
  const [tenant_id, thread_id, run_id, event_id, trace_id, span_id] = ids;
  const ordinal = before.ordinal + 1;
  const prev = before.hash;
  const list = [prev, tenant_id, thread_id, ordinal, run_id, event_id, trace_id, span_id, digest];
  const hash = sha256(JSON.stringify(list));
  const head = { tenant_id, thread_id, ordinal, prev, hash, run_id, event_id, trace_id, span_id };
  const text = `${JSON.stringify({ ...head, digest }).slice(0, -1)},"event":`;
  return { ordinal, hash, text };
}

/** What rows have in common is written once and kept: never for a row that differs in it. */
describe("rows of different threads and runs, one after the other", () => {
  const first = { ordinal: 0, hash: NO_HASH };
  const later = { ordinal: 7, hash: other };
  const rows = [
    [first, ["a", "b", "r", null, "t", "s"]],
    [later, ["b", "b", "r", null, "t", "s"]],
    [later, ["b", "a", "r", "e", "t", "s"]],
    [first, ["a", "b", null, "e", null, null]],
    [first, ["a", "b", null, null, "null", null]],
    [first, ["a", "b", "null", null, null, null]],
    [later, ['a"', "b\n", "ü\u{1f600}", "\ud800", '"', ""]],
    [later, ["a", "b", '"', "ü", "ü\u{1f600}", "x"]],
    [first, ["a", "b", "r", null, "t", "s"]],
  ] as const;

  it("are each what JSON.stringify makes of them alone", () => {
    const attributes = rows.map(([before, ids]) => {
      const [tenant_id, thread_id, run_id, event_id, trace_id, span_id] = ids;
      const key = { tenant_id, thread_id };
      return rowAfter(before, key, { run_id, event_id, trace_id, span_id, digest });
    });
    expect(attributes).toEqual(rows.map(([before, ids]) => expected(before, ids)));
  });

  it("begin as a scan expects it", () => {
    expect([
      threadPrefix({ tenant_id: "a", thread_id: "b" }),
      threadPrefix({ tenant_id: "b", thread_id: "b" }),
      threadPrefix({ tenant_id: "b", thread_id: "a" }),
    ]).toEqual([
      '{"tenant_id":"a","thread_id":"b","ordinal":',
      '{"tenant_id":"b","thread_id":"b","ordinal":',
      '{"tenant_id":"b","thread_id":"a","ordinal":',
    ]);
  });
});

describe("events of one run id of two tenants in turn", () => {
  const call = (tenant_id: string, n: number): AgentEvent => ({
    type: "tool_start",
    run_id: "r",
    tenant_id,
    tool_use_id: `call-${n}`,
    tool: "search",
    tool_version: "1",
    input: n,
  });

  it("stay in the threads that each tenant named", async () => {
    const log = new MemorySessionLog();
    const sink = new AuditSink({ log });
    await sink.send(call("a", 1), { thread_id: "th-a" });
    await sink.send(call("b", 2), { thread_id: "th-b" });
    await sink.send(call("a", 3));
    await sink.send(call("b", 4));
    await sink.send(call("c", 5));
    const ordinals = async (tenant_id: string, thread_id: string) =>
      (await log.loadSince({ tenant_id, thread_id }, 0)).map((row: AuditRow) => row.event_text);
    const found = [
      await ordinals("a", "th-a"),
      await ordinals("b", "th-b"),
      await ordinals("c", "r"),
    ];
    expect(found.map((texts) => texts.map((text) => JSON.parse(text).input))).toEqual([
      [1, 3],
      [2, 4],
      [5],
    ]);
  });
});

import { describe, expect, it } from "vitest";
import type { DecodeIssue, JsonObject } from "../../../src/replay/dialects/dialect.ts";
import { readLineEnvelope } from "../../../src/replay/dialects/line-envelope.ts";

const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

function read(fields: JsonObject) {
  const issues: DecodeIssue[] = [];
  const line = { timestamp: "2026-04-29T12:00:00.123456789Z", ...fields };
  return { envelope: readLineEnvelope(line, issues), issues };
}

describe("readLineEnvelope", () => {
  it("reads every field, and nothing of the event", () => {
    const fields = {
      event_id: "e1",
      sequence: 3,
      thread_id: "th",
      session_id: "se",
      root_run_id: "root",
      resumed_from_run_id: "before",
      parent_tool_use_id: "call_1",
      traceparent: TRACEPARENT,
      tracestate: "a=b",
    };
    const { envelope, issues } = read({ ...fields, type: "started", run_id: "r1" });
    expect(issues).toEqual([]);
    expect(envelope).toEqual({ ...fields, timestamp: [1_777_464_000, 123_456_789] });
  });

  it("takes null for absent, but of a tool call for none, and big sequences as they are", () => {
    const nulls = {
      event_id: null,
      sequence: null,
      thread_id: null,
      session_id: null,
      root_run_id: null,
      resumed_from_run_id: null,
      traceparent: null,
      tracestate: null,
    };
    expect(Object.keys(read(nulls).envelope ?? {})).toEqual(["timestamp"]);
    expect(read({ parent_tool_use_id: null }).envelope).toMatchObject({ parent_tool_use_id: null });
    expect(read({ sequence: 18446744073709551615n }).envelope?.sequence).toBe(
      18446744073709551615n,
    );
  });

  it.each([
    ["timestamp", undefined, "an RFC 3339 time such as 2026-04-29T12:00:00.5Z"],
    ["timestamp", null, "an RFC 3339 time such as 2026-04-29T12:00:00.5Z"],
    ["timestamp", 1777464000, "an RFC 3339 time such as 2026-04-29T12:00:00.5Z"],
    ["timestamp", "2026-02-30T12:00:00Z", "an RFC 3339 time such as 2026-04-29T12:00:00.5Z"],
    ["timestamp", "0001-01-01T00:00:00Z", "a time from 1970 to 2262"],
    ["timestamp", "1969-12-31T23:59:59.999999999Z", "a time from 1970 to 2262"],
    ["timestamp", "2262-04-11T23:47:16Z", "a time from 1970 to 2262"],
    ["event_id", "", "non-empty text, or null"],
    ["event_id", 7, "non-empty text, or null"],
    ["sequence", -1, "a whole number from 0"],
    ["sequence", 1.5, "a whole number from 0"],
    ["sequence", -5n, "a whole number from 0"],
    ["sequence", "1", "a whole number from 0"],
    ["thread_id", {}, "non-empty text, or null"],
    ["session_id", "", "non-empty text, or null"],
    ["root_run_id", 1, "non-empty text, or null"],
    ["resumed_from_run_id", [], "non-empty text, or null"],
    ["parent_tool_use_id", true, "non-empty text, or null"],
    ["tracestate", 1, "text, or null"],
  ])("names %s as wrong when it is %s", (field, value, expected) => {
    const issues: DecodeIssue[] = [];
    const good: JsonObject = { timestamp: "2026-04-29T12:00:00Z" };
    const line: JsonObject = value === undefined ? {} : { ...good, [field]: value };
    expect(readLineEnvelope(line, issues)).toBeUndefined();
    expect(issues).toEqual([{ field, expected }]);
  });

  it("checks the form of traceparent", () => {
    const accepted = [
      TRACEPARENT,
      TRACEPARENT.replace("00-", "01-"),
      `cc${TRACEPARENT.slice(2)}-x`,
    ];
    for (const traceparent of accepted) {
      expect(read({ traceparent }).envelope?.traceparent).toBe(traceparent);
    }
    const refused = [
      "",
      `${TRACEPARENT}-x`,
      `ff${TRACEPARENT.slice(2)}`,
      TRACEPARENT.toUpperCase(),
      TRACEPARENT.slice(0, -1),
      `00-${"0".repeat(32)}-b7ad6b7169203331-01`,
      `00-0af7651916cd43dd8448eb211c80319c-${"0".repeat(16)}-01`,
      7,
    ];
    for (const traceparent of refused) {
      expect(read({ traceparent }).issues.map((issue) => issue.field)).toEqual(["traceparent"]);
    }
  });
});

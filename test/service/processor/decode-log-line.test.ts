import { describe, expect, it } from "vitest";
import { RUNTIMES } from "../../../src/replay/door.ts";
import {
  decodeLogLine,
  type LineToDecode,
} from "../../../src/service/processor/decode-log-line.ts";

const DIALECTS = RUNTIMES.map(({ dialect }) => dialect);
const TIME = "2026-05-01T12:00:00Z";
const RUN = "018f3c7a-0000-7000-8000-000000000001";
const STARTED = { type: "started", run_id: RUN, agent: "a", parent_run_id: null, timestamp: TIME };
const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

function decode(value: unknown, line: Partial<LineToDecode> = {}, before?: string) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const asked = { text, tenant: undefined, dialect: undefined, trusted: true, ...line };
  return decodeLogLine(asked, DIALECTS, before);
}

const NOT_ACME = [{ field: "tenant_id", expected: '"acme", the tenant of the token' }];

describe("decodeLogLine", () => {
  it("tells the dialect by the line, by its name, or by the line before", () => {
    const started = { ...STARTED, tenant_id: "acme" };
    expect(decode(started)).toMatchObject({ dialect: "entelix" });
    expect(decode(started, { dialect: "defect" })).toEqual({
      issues: [{ field: "type", expected: "an event of defect, not of entelix" }],
    });
    const plain = { type: "text", timestamp: TIME, text: "hi" };
    expect(decode(plain).issues).toEqual([
      { field: "type", expected: "an event of entelix or agent-sdk or defect or graph" },
    ]);
    expect(decode(plain, {}, "entelix")).toMatchObject({ unknown: "text", dialect: "entelix" });
    expect(decode(started, { dialect: "cobol" }).issues).toEqual([
      { field: "dialect", expected: "entelix or agent-sdk or defect or graph" },
    ]);
  });

  const long = "x".repeat(4097);
  const most = "x".repeat(4096);
  const at = { timestamp: TIME };
  const sdk = { ...at, event_id: "1", sequence: 1 };
  const row = { ...at, kind: "tool_call", id: "c", name: "fetch", input: {} };
  for (const [dialect, good, names] of [
    [
      "entelix",
      { ...STARTED, tenant_id: "acme" },
      ["run_id", "parent_run_id", "root_run_id", "thread_id", "session_id", "event_id", "agent"],
    ],
    [
      "entelix",
      {
        ...at,
        type: "tool_start",
        run_id: RUN,
        tenant_id: "acme",
        tool_use_id: "t",
        tool: "f",
        input: {},
      },
      ["tenant_id", "tool_use_id", "tool", "tool_version"],
    ],
    [
      "agent-sdk",
      {
        ...sdk,
        type: "tool_call_start",
        id: "c",
        name: "f",
        display_name: "F",
        input: {},
        tier: "observe",
      },
      ["id", "name", "display_name", "thread_id", "tenant_id"],
    ],
    [
      "defect",
      { ...at, session_id: "s", type: "llm_call_started", model: "m", attempt: 1 },
      ["model", "session_id", "tenant_id"],
    ],
    ["graph", { thread_id: "t", event: row }, ["run_id", "thread_id", "event.id", "event.name"]],
  ] as const) {
    it(`takes no name of more than 4,096 characters (${dialect}: ${names})`, () => {
      expect(decode(good, { dialect }).event).toBeDefined();
      for (const name of names) {
        const [field, inner] = name.split(".");
        const withText = (text: string) =>
          inner === undefined
            ? { ...good, [`${field}`]: text }
            : { ...good, event: { ...row, [inner]: text } };
        expect(decode(withText(long), { dialect })).toEqual({
          issues: [{ field: name, expected: "at most 4,096 characters" }],
        });
        expect(decode(withText(most), { dialect }).event).toBeDefined();
      }
    });
  }

  it("takes no name of a sub-agent that is too long, and takes content of any length", () => {
    const inner = { type: "llm_call_started", model: "m", attempt: 1 };
    const subagent = {
      ...at,
      session_id: "s",
      type: "subagent",
      agent_type: "a",
      ancestor_path: ["c"],
      inner,
    };
    const decodeDefect = (more: object) => decode({ ...subagent, ...more }, { dialect: "defect" });
    expect(decodeDefect({}).event).toBeDefined();
    expect(decodeDefect({ inner: { ...inner, model: long } }).issues?.[0]?.field).toBe(
      "inner.model",
    );
    expect(decodeDefect({ agent_type: long }).issues?.[0]?.field).toBe("agent_type");
    const path = [most, "c"];
    expect(decodeDefect({ ancestor_path: path }).issues?.[0]?.field).toBe("ancestor_path");
    const state = { name: long, id: [long] };
    const complete = {
      ...at,
      type: "complete",
      run_id: RUN,
      tenant_id: "acme",
      usage: null,
      state,
    };
    expect(decode(complete).event?.event).toMatchObject({ state });
  });

  it("says what is no JSON object", () => {
    expect(decode("1").issues).toEqual([{ field: "line", expected: "a JSON object" }]);
    expect(decode("{").issues?.[0]?.field).toBe("json");
  });

  it("keeps the order of the log where a line has no sequence: the offset is its line", () => {
    const { event } = decode({ ...STARTED, tenant_id: "acme" }, { offset: 41 });
    expect(event?.line).toBe(41);
  });

  it("binds a line to the tenant of its sender", () => {
    const bound = { tenant: "acme" };
    const event = { kind: "cancelled", reason: "stop", timestamp: TIME };
    expect(decode({ ...STARTED, tenant_id: "acme" }, bound).event?.event).toMatchObject({
      tenant_id: "acme",
    });
    expect(decode({ ...STARTED, tenant_id: null }, bound).event?.event).toMatchObject({
      tenant_id: "acme",
    });
    const nested = { timestamp: TIME, event: { ...STARTED, timestamp: undefined } };
    expect(decode(nested, bound).event?.event).toMatchObject({ tenant_id: "acme" });
    const bare = decode(event, bound).event;
    expect(bare?.envelope.tenant_id).toBe("acme");
    // The event itself is what the audit log will hold: nothing is put into it.
    expect(bare?.event).toMatchObject({ event });
    expect(
      decode({ type: "start", thread_id: "th", turn: 1, timestamp: TIME }, bound).event?.envelope,
    ).toEqual({
      timestamp: [1_777_636_800, 0],
      thread_id: "th",
      tenant_id: "acme",
    });
  });

  it("rejects what another tenant's name stands on, events of tomorrow too", () => {
    const bound = { tenant: "acme" };
    expect(decode({ ...STARTED, tenant_id: "globex" }, bound)).toEqual({ issues: NOT_ACME });
    const nested = { timestamp: TIME, event: { ...STARTED, tenant_id: "globex" } };
    expect(decode(nested, bound)).toEqual({ issues: NOT_ACME });
    const start = { type: "start", thread_id: "th", turn: 1, timestamp: TIME };
    expect(decode({ ...start, tenant_id: "globex" }, bound)).toEqual({ issues: NOT_ACME });
    const tomorrow = { type: "dreamt", timestamp: TIME, tenant_id: "globex" };
    expect(decode(tomorrow, { ...bound, dialect: "entelix" })).toEqual({ issues: NOT_ACME });
    const inside = { timestamp: TIME, event: { type: "dreamt", tenant_id: "globex" } };
    expect(decode(inside, { ...bound, dialect: "entelix" })).toEqual({ issues: NOT_ACME });
    expect(decode(tomorrow, { dialect: "entelix" })).toMatchObject({ unknown: "dreamt" });
  });

  it("follows a traceparent only of a sender that is trusted", () => {
    const started = {
      ...STARTED,
      tenant_id: "acme",
      traceparent: TRACEPARENT,
      tracestate: "vendor=1",
    };
    expect(decode(started).event?.envelope).toMatchObject({
      traceparent: TRACEPARENT,
      tracestate: "vendor=1",
    });
    const { envelope } = decode(started, { trusted: false }).event ?? {};
    expect(envelope).toEqual({ timestamp: [1_777_636_800, 0] });
  });

  it("passes over what belongs to a file's own form", () => {
    const header = { segment: 1, version: 1, commit: 0, prev: "00" };
    expect(decode(header)).toEqual({ skipped: true, dialect: "graph" });
  });
});

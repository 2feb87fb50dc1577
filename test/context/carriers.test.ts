import type { IncomingHttpHeaders } from "node:http";
import { describe, expect, it } from "vitest";
import type { CarriedContext } from "../../src/context/carried-context.ts";
import { fromEnvelope, toEnvelope } from "../../src/context/envelope-fields.ts";
import { fromEnvironment, toEnvironment } from "../../src/context/environment.ts";
import { fromHeaders, toHeaders } from "../../src/context/http-headers.ts";
import type { IgnoredReason } from "../../src/context/ignored-field.ts";
import { toRunParent } from "../../src/context/run-parent.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const TRACEPARENT = `00-${TRACE}-00f067aa0ba902b7-01`;
const ROOT = "018f3c7a-0000-7000-8000-000000000001";
const PARENT = "018f3c7a-0000-7000-8000-000000000002";

const FULL: CarriedContext = {
  traceparent: TRACEPARENT,
  tracestate: "vendor=1,other@v=a b",
  root_run_id: ROOT,
  parent_run_id: PARENT,
  parent_tool_use_id: "검색#0",
  thread_id: "ticket 17, of\r\nX-Evil: 1",
};
const LEAST: CarriedContext = { root_run_id: ROOT, parent_run_id: PARENT };

/** What was ignored, as a list. */
function ledger() {
  const told: [string, IgnoredReason][] = [];
  return {
    told,
    onIgnored: (field: string, reason: IgnoredReason) => void told.push([field, reason]),
  };
}

/** An environment as a child process gets it: Node leaves out what is undefined. */
function passed(environment: Readonly<Record<string, string | undefined>>) {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined));
}

describe("headers", () => {
  it("say everything, in characters that no header minds", () => {
    expect(toHeaders(FULL)).toEqual({
      traceparent: TRACEPARENT,
      tracestate: "vendor=1,other@v=a b",
      "entelix-root-run-id": ROOT,
      "entelix-parent-run-id": PARENT,
      "entelix-parent-tool-use-id": "%EA%B2%80%EC%83%89%230",
      "entelix-thread-id": "ticket%2017%2C%20of%0D%0AX-Evil%3A%201",
    });
    expect(fromHeaders(toHeaders(FULL))).toEqual(FULL);
  });

  it("leave the trace to an instrumentation that writes its own", () => {
    expect(Object.keys(toHeaders(FULL, { traceparent: false }))).toEqual([
      "entelix-root-run-id",
      "entelix-parent-run-id",
      "entelix-parent-tool-use-id",
      "entelix-thread-id",
    ]);
  });

  it("are none outside a run", () => {
    expect(toHeaders(undefined)).toEqual({});
  });

  it.each([
    ["of fetch", new Headers(toHeaders(FULL))],
    ["of Node", toHeaders(FULL) satisfies IncomingHttpHeaders],
    ["of a Map", new Map(Object.entries(toHeaders(FULL)))],
    [
      "in other letters, as lists",
      Object.fromEntries(
        Object.entries(toHeaders(FULL)).map(([name, value]) => [name.toUpperCase(), [value]]),
      ),
    ],
  ])("%s are read", (_, headers) => {
    expect(fromHeaders(headers)).toEqual(FULL);
  });

  it("that come twice are joined, taken once, or refused", () => {
    const { told, onIgnored } = ledger();
    const nearer = `00-${TRACE}-00f067aa0ba90299-01`;
    const headers = {
      traceparent: `${TRACEPARENT}, ${nearer}`,
      tracestate: ["a=1,b=2", "a=3"],
      "entelix-root-run-id": `${ROOT}, ${ROOT}`,
      "entelix-parent-run-id": [PARENT, PARENT],
      "entelix-thread-id": ["t-1", "t-2"],
    };
    expect(fromHeaders(headers, { onIgnored })).toEqual({
      ...LEAST,
      traceparent: nearer,
      tracestate: "a=1,b=2",
    });
    expect(told).toEqual([["entelix-thread-id", "repeated"]]);
  });

  it("of two traces name none", () => {
    const { told, onIgnored } = ledger();
    const other = TRACEPARENT.replace(TRACE, "0".repeat(31).concat("1"));
    const headers = { ...toHeaders(LEAST), traceparent: [TRACEPARENT, other] };
    expect(fromHeaders(headers, { onIgnored })).toEqual(LEAST);
    expect(told).toEqual([["traceparent", "repeated"]]);
  });

  it("of a request that is no agent's say nothing, and are no problem", () => {
    const { told, onIgnored } = ledger();
    const headers = { host: "localhost", traceparent: TRACEPARENT, "set-cookie": ["a", "b"] };
    expect(fromHeaders(headers, { onIgnored })).toBeUndefined();
    expect(fromHeaders({}, { onIgnored })).toBeUndefined();
    expect(told).toEqual([]);
  });
});

describe("the environment", () => {
  it("has OpenTelemetry's names for the trace", () => {
    expect(toEnvironment(FULL)).toEqual({
      TRACEPARENT,
      TRACESTATE: "vendor=1,other@v=a b",
      ENTELIX_ROOT_RUN_ID: ROOT,
      ENTELIX_PARENT_RUN_ID: PARENT,
      ENTELIX_PARENT_TOOL_USE_ID: "%EA%B2%80%EC%83%89%230",
      ENTELIX_THREAD_ID: "ticket%2017%2C%20of%0D%0AX-Evil%3A%201",
    });
    expect(fromEnvironment(passed(toEnvironment(FULL)))).toEqual(FULL);
  });

  it("of a child has nothing of its grandparent", () => {
    const inherited = passed(toEnvironment(FULL));
    const env = { PATH: "/bin", ...inherited, ...toEnvironment(LEAST) };
    expect(passed(env)).toEqual({
      PATH: "/bin",
      ENTELIX_ROOT_RUN_ID: ROOT,
      ENTELIX_PARENT_RUN_ID: PARENT,
    });
    expect(passed({ PATH: "/bin", ...inherited, ...toEnvironment(undefined) })).toEqual({
      PATH: "/bin",
    });
  });

  it("of a process that no agent started says nothing", () => {
    const { told, onIgnored } = ledger();
    expect(fromEnvironment({ PATH: "/bin" }, { onIgnored })).toBeUndefined();
    expect(
      fromEnvironment({ TRACEPARENT, ENTELIX_ROOT_RUN_ID: "" }, { onIgnored }),
    ).toBeUndefined();
    expect(told).toEqual([]);
  });
});

describe("an envelope", () => {
  it("has the fields of a line", () => {
    const { parent_run_id, ...fields } = FULL;
    expect(toEnvelope(FULL)).toEqual(fields);
    expect(toEnvelope(undefined)).toEqual({});
    const line = JSON.parse(
      JSON.stringify({ ...toEnvelope(FULL), parent_run_id, type: "started" }),
    );
    expect(fromEnvelope(line)).toEqual(FULL);
  });

  it.each([undefined, null, {}, [], { parent_run_id: null }])("of %j says nothing", (fields) => {
    const { told, onIgnored } = ledger();
    expect(fromEnvelope(fields, { onIgnored })).toBeUndefined();
    expect(told).toEqual([]);
  });
});

describe("the parent of a run", () => {
  it("has the names that the runtime has", () => {
    expect(toRunParent(FULL)).toEqual({
      traceparent: FULL.traceparent,
      tracestate: FULL.tracestate,
      rootRunId: ROOT,
      parentRunId: PARENT,
      toolUseId: FULL.parent_tool_use_id,
      threadId: FULL.thread_id,
    });
    expect(toRunParent(LEAST)).toEqual({ rootRunId: ROOT, parentRunId: PARENT });
    expect(toRunParent(undefined)).toBeUndefined();
  });
});

describe("what is malformed is ignored, with a reason", () => {
  const header = "entelix-thread-id";
  it.each<[string, Record<string, unknown>, CarriedContext | undefined, [string, IgnoredReason][]]>(
    [
      ["no hex", { traceparent: "00-xyz" }, LEAST, [["traceparent", "malformed"]]],
      [
        "capitals",
        { traceparent: TRACEPARENT.toUpperCase() },
        LEAST,
        [["traceparent", "malformed"]],
      ],
      [
        "zeros",
        { traceparent: `00-${"0".repeat(32)}-00f067aa0ba902b7-01` },
        LEAST,
        [["traceparent", "malformed"]],
      ],
      [
        "no span",
        { traceparent: `00-${TRACE}-${"0".repeat(16)}-01` },
        LEAST,
        [["traceparent", "malformed"]],
      ],
      [
        "version ff",
        { traceparent: `ff${TRACEPARENT.slice(2)}` },
        LEAST,
        [["traceparent", "malformed"]],
      ],
      [
        "more in version 00",
        { traceparent: `${TRACEPARENT}-x` },
        LEAST,
        [["traceparent", "malformed"]],
      ],
      [
        "more in a later version",
        { traceparent: `cc${TRACEPARENT.slice(2)}-x` },
        { ...LEAST, traceparent: `cc${TRACEPARENT.slice(2)}-x` },
        [],
      ],
      [
        "a long later version",
        { traceparent: `cc${TRACEPARENT.slice(2)}-${"x".repeat(300)}` },
        LEAST,
        [["traceparent", "malformed"]],
      ],
      ["a state without a trace", { tracestate: "a=1" }, LEAST, []],
      [
        "a state that is none",
        { traceparent: TRACEPARENT, tracestate: "A=1" },
        { ...LEAST, traceparent: TRACEPARENT },
        [["tracestate", "malformed"]],
      ],
      ["a line end", { [header]: "a\r\nb" }, LEAST, [[header, "malformed"]]],
      ["raw UTF-8", { [header]: "검색" }, LEAST, [[header, "malformed"]]],
      ["a loose percent", { [header]: "100%" }, LEAST, [[header, "malformed"]]],
      ["bytes that are no UTF-8", { [header]: "%ff" }, LEAST, [[header, "malformed"]]],
      ["half a surrogate pair", { [header]: "%ED%A0%80" }, LEAST, [[header, "malformed"]]],
      ["a number", { [header]: 17 }, LEAST, [[header, "malformed"]]],
      ["the longest", { [header]: "x".repeat(512) }, { ...LEAST, thread_id: "x".repeat(512) }, []],
      ["too long", { [header]: "x".repeat(513) }, LEAST, [[header, "too_long"]]],
      ["too many bytes", { [header]: "%EA%B2%80".repeat(171) }, LEAST, [[header, "too_long"]]],
      ["absurd", { [header]: "x".repeat(20_000) }, LEAST, [[header, "too_long"]]],
      [
        "no parent",
        { "entelix-parent-run-id": undefined },
        undefined,
        [["entelix-parent-run-id", "incomplete"]],
      ],
      [
        "no root",
        { "entelix-root-run-id": "" },
        undefined,
        [["entelix-root-run-id", "incomplete"]],
      ],
      [
        "a malformed root",
        { "entelix-root-run-id": "a b" },
        undefined,
        [["entelix-root-run-id", "malformed"]],
      ],
    ],
  )("%s", (_, fields, expected, reasons) => {
    const { told, onIgnored } = ledger();
    const headers = { ...toHeaders(LEAST), ...fields };
    // As it comes from a program without types.
    const read = (given: unknown) => Reflect.apply(fromHeaders, undefined, [given, { onIgnored }]);
    expect(read(headers)).toEqual(expected);
    expect(told).toEqual(reasons);
  });

  it("in an environment, by its own names", () => {
    const { told, onIgnored } = ledger();
    const env = {
      ...toEnvironment(LEAST),
      TRACEPARENT: `${TRACEPARENT}, ${TRACEPARENT}`,
      ENTELIX_THREAD_ID: "a b",
      ENTELIX_PARENT_TOOL_USE_ID: "x".repeat(5_000),
    };
    expect(fromEnvironment(env, { onIgnored })).toEqual(LEAST);
    expect(told.toSorted()).toEqual([
      ["ENTELIX_PARENT_TOOL_USE_ID", "too_long"],
      ["ENTELIX_THREAD_ID", "malformed"],
      ["TRACEPARENT", "malformed"],
    ]);
  });

  it("on the way out, too", () => {
    const { told, onIgnored } = ledger();
    const long = { ...LEAST, traceparent: "none", thread_id: "x".repeat(600) };
    expect(toHeaders(long, { onIgnored })).toEqual(toHeaders(LEAST));
    expect(told).toEqual([
      ["traceparent", "malformed"],
      ["entelix-thread-id", "too_long"],
    ]);
    const half = Reflect.apply(toEnvironment, undefined, [{ parent_run_id: PARENT }]);
    expect(passed(half)).toEqual({});
  });

  it("where the carrier itself throws, or the hook", () => {
    const { told, onIgnored } = ledger();
    const trap = new Proxy(
      {},
      {
        get: () => {
          throw new Error("get");
        },
        has: () => {
          throw new Error("has");
        },
        ownKeys: () => {
          throw new Error("keys");
        },
      },
    );
    expect(fromHeaders(trap, { onIgnored })).toBeUndefined();
    expect(fromEnvironment(trap, { onIgnored })).toBeUndefined();
    expect(fromEnvelope(trap, { onIgnored })).toBeUndefined();
    expect(fromEnvelope("text", { onIgnored })).toBeUndefined();
    expect(told).toEqual([
      ["headers", "unreadable"],
      ["environment", "unreadable"],
      ["envelope", "unreadable"],
      ["envelope", "unreadable"],
    ]);
    const hook = () => {
      throw new Error("hook");
    };
    expect(fromEnvelope("text", { onIgnored: hook })).toBeUndefined();
  });

  it("where the hook answers with a promise that rejects, which ends no process", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on("unhandledRejection", note);
    try {
      const onIgnored = async () => Promise.reject(new Error("hook"));
      expect(fromEnvelope("text", { onIgnored })).toBeUndefined();
      await new Promise((resolve) => setImmediate(resolve));
      expect(unhandled).toEqual([]);
    } finally {
      process.off("unhandledRejection", note);
    }
  });
});

describe("the state of a trace", () => {
  const member = (n: number, length = 6) => `k${String(n).padStart(3, "0")}=`.padEnd(length, "v");
  const sent = (members: readonly string[]) =>
    fromEnvelope({ ...LEAST, traceparent: TRACEPARENT, tracestate: members.join(",") })?.tracestate;
  const some = (count: number, length?: number) =>
    Array.from({ length: count }, (_, n) => member(n, length));

  it("has 32 members at most: the last ones go", () => {
    expect(sent(some(40))).toBe(some(32).join(","));
  });

  it("has 512 characters at most: long members go first, and never a part of one", () => {
    expect(sent([member(99, 200), ...some(30, 16)])).toBe(some(30, 16).join(","));
    expect(sent(some(10, 100))).toBe(some(5, 100).join(","));
    expect(sent([member(1, 200), member(2, 200)])).toBe([member(1, 200), member(2, 200)].join(","));
  });
});

import type { IncomingHttpHeaders } from "node:http";
import { describe, expect, it } from "vitest";
import { readEnvironment, writeEnvironment } from "../../../src/events/context/environment.ts";
import { readHeaders, writeHeaders } from "../../../src/events/context/http-headers.ts";
import { readMessage, writeMessage } from "../../../src/events/context/message.ts";
import type { IgnoredReason, RunContext } from "../../../src/events/context/run-context.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const TRACEPARENT = `00-${TRACE}-00f067aa0ba902b7-01`;
const ROOT = "018f3c7a-0000-7000-8000-000000000001";
const PARENT = "018f3c7a-0000-7000-8000-000000000002";

const FULL: RunContext = {
  traceparent: TRACEPARENT,
  tracestate: "vendor=1,other@v=a b",
  root_run_id: ROOT,
  parent_run_id: PARENT,
  parent_tool_use_id: "검색#0",
  thread_id: "ticket 17, of\r\nX-Evil: 1",
};
const LEAST: RunContext = { root_run_id: ROOT, parent_run_id: PARENT };

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
    expect(writeHeaders(FULL)).toEqual({
      traceparent: TRACEPARENT,
      tracestate: "vendor=1,other@v=a b",
      "entelix-root-run-id": ROOT,
      "entelix-parent-run-id": PARENT,
      "entelix-parent-tool-use-id": "%EA%B2%80%EC%83%89%230",
      "entelix-thread-id": "ticket%2017%2C%20of%0D%0AX-Evil%3A%201",
    });
    expect(readHeaders(writeHeaders(FULL))).toEqual(FULL);
  });

  it("leave the trace to an instrumentation that writes its own", () => {
    expect(Object.keys(writeHeaders(FULL, { traceparent: false }))).toEqual([
      "entelix-root-run-id",
      "entelix-parent-run-id",
      "entelix-parent-tool-use-id",
      "entelix-thread-id",
    ]);
  });

  it("are none outside a run", () => {
    expect(writeHeaders(undefined)).toEqual({});
  });

  it.each([
    ["of fetch", new Headers(writeHeaders(FULL))],
    ["of Node", writeHeaders(FULL) satisfies IncomingHttpHeaders],
    ["of a Map", new Map(Object.entries(writeHeaders(FULL)))],
    [
      "in other letters, as lists",
      Object.fromEntries(
        Object.entries(writeHeaders(FULL)).map(([name, value]) => [name.toUpperCase(), [value]]),
      ),
    ],
  ])("%s are read", (_, headers) => {
    expect(readHeaders(headers)).toEqual(FULL);
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
    expect(readHeaders(headers, { onIgnored })).toEqual({
      ...LEAST,
      traceparent: nearer,
      tracestate: "a=1,b=2",
    });
    expect(told).toEqual([["entelix-thread-id", "repeated"]]);
  });

  it("of two traces name none", () => {
    const { told, onIgnored } = ledger();
    const other = TRACEPARENT.replace(TRACE, "0".repeat(31).concat("1"));
    const headers = { ...writeHeaders(LEAST), traceparent: [TRACEPARENT, other] };
    expect(readHeaders(headers, { onIgnored })).toEqual(LEAST);
    expect(told).toEqual([["traceparent", "repeated"]]);
  });

  it("of a request that is no agent's say nothing, and are no problem", () => {
    const { told, onIgnored } = ledger();
    const headers = { host: "localhost", traceparent: TRACEPARENT, "set-cookie": ["a", "b"] };
    expect(readHeaders(headers, { onIgnored })).toBeUndefined();
    expect(readHeaders({}, { onIgnored })).toBeUndefined();
    expect(told).toEqual([]);
  });
});

describe("the environment", () => {
  it("has OpenTelemetry's names for the trace", () => {
    expect(writeEnvironment(FULL)).toEqual({
      TRACEPARENT,
      TRACESTATE: "vendor=1,other@v=a b",
      ENTELIX_ROOT_RUN_ID: ROOT,
      ENTELIX_PARENT_RUN_ID: PARENT,
      ENTELIX_PARENT_TOOL_USE_ID: "%EA%B2%80%EC%83%89%230",
      ENTELIX_THREAD_ID: "ticket%2017%2C%20of%0D%0AX-Evil%3A%201",
    });
    expect(readEnvironment(passed(writeEnvironment(FULL)))).toEqual(FULL);
  });

  it("of a child has nothing of its grandparent", () => {
    const inherited = passed(writeEnvironment(FULL));
    const env = { PATH: "/bin", ...inherited, ...writeEnvironment(LEAST) };
    expect(passed(env)).toEqual({
      PATH: "/bin",
      ENTELIX_ROOT_RUN_ID: ROOT,
      ENTELIX_PARENT_RUN_ID: PARENT,
    });
    expect(passed({ PATH: "/bin", ...inherited, ...writeEnvironment(undefined) })).toEqual({
      PATH: "/bin",
    });
  });

  it("of a process that no agent started says nothing", () => {
    const { told, onIgnored } = ledger();
    expect(readEnvironment({ PATH: "/bin" }, { onIgnored })).toBeUndefined();
    expect(
      readEnvironment({ TRACEPARENT, ENTELIX_ROOT_RUN_ID: "" }, { onIgnored }),
    ).toBeUndefined();
    expect(told).toEqual([]);
  });
});

describe("an envelope", () => {
  it("has the fields of a line", () => {
    expect(writeMessage(FULL)).toEqual(FULL);
    expect(writeMessage(undefined)).toEqual({});
    const line = JSON.parse(JSON.stringify({ ...writeMessage(FULL), type: "started" }));
    expect(readMessage(line)).toEqual(FULL);
  });

  it.each([undefined, null, {}, [], { parent_run_id: null }])("of %j says nothing", (fields) => {
    const { told, onIgnored } = ledger();
    expect(readMessage(fields, { onIgnored })).toBeUndefined();
    expect(told).toEqual([]);
  });
});

describe("what is malformed is ignored, with a reason", () => {
  const header = "entelix-thread-id";
  it.each<[string, Record<string, unknown>, RunContext | undefined, [string, IgnoredReason][]]>([
    ["no hex", { traceparent: "00-xyz" }, LEAST, [["traceparent", "malformed"]]],
    ["capitals", { traceparent: TRACEPARENT.toUpperCase() }, LEAST, [["traceparent", "malformed"]]],
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
    ["no root", { "entelix-root-run-id": "" }, undefined, [["entelix-root-run-id", "incomplete"]]],
    [
      "a malformed root",
      { "entelix-root-run-id": "a b" },
      undefined,
      [["entelix-root-run-id", "malformed"]],
    ],
  ])("%s", (_, fields, expected, reasons) => {
    const { told, onIgnored } = ledger();
    const headers = { ...writeHeaders(LEAST), ...fields };
    // As it comes from a program without types.
    const read = (given: unknown) => Reflect.apply(readHeaders, undefined, [given, { onIgnored }]);
    expect(read(headers)).toEqual(expected);
    expect(told).toEqual(reasons);
  });

  it("in an environment, by its own names", () => {
    const { told, onIgnored } = ledger();
    const env = {
      ...writeEnvironment(LEAST),
      TRACEPARENT: `${TRACEPARENT}, ${TRACEPARENT}`,
      ENTELIX_THREAD_ID: "a b",
      ENTELIX_PARENT_TOOL_USE_ID: "x".repeat(5_000),
    };
    expect(readEnvironment(env, { onIgnored })).toEqual(LEAST);
    expect(told.toSorted()).toEqual([
      ["ENTELIX_PARENT_TOOL_USE_ID", "too_long"],
      ["ENTELIX_THREAD_ID", "malformed"],
      ["TRACEPARENT", "malformed"],
    ]);
  });

  it("on the way out, too", () => {
    const { told, onIgnored } = ledger();
    const long = { ...LEAST, traceparent: "none", thread_id: "x".repeat(600) };
    expect(writeHeaders(long, { onIgnored })).toEqual(writeHeaders(LEAST));
    expect(told).toEqual([
      ["traceparent", "malformed"],
      ["entelix-thread-id", "too_long"],
    ]);
    const half = Reflect.apply(writeEnvironment, undefined, [{ parent_run_id: PARENT }]);
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
    expect(readHeaders(trap, { onIgnored })).toBeUndefined();
    expect(readEnvironment(trap, { onIgnored })).toBeUndefined();
    expect(readMessage(trap, { onIgnored })).toBeUndefined();
    expect(readMessage("text", { onIgnored })).toBeUndefined();
    expect(told).toEqual([
      ["headers", "unreadable"],
      ["environment", "unreadable"],
      ["message", "unreadable"],
      ["message", "unreadable"],
    ]);
    const hook = () => {
      throw new Error("hook");
    };
    expect(readMessage("text", { onIgnored: hook })).toBeUndefined();
  });

  it("where the hook answers with a promise that rejects, which ends no process", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on("unhandledRejection", note);
    try {
      const onIgnored = async () => Promise.reject(new Error("hook"));
      expect(readMessage("text", { onIgnored })).toBeUndefined();
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
    readMessage({ ...LEAST, traceparent: TRACEPARENT, tracestate: members.join(",") })?.tracestate;
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

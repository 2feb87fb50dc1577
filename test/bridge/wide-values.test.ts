import { afterEach, describe, expect, it, vi } from "vitest";
import { MemorySessionLog } from "../../src/audit/door.ts";
import { Bridge } from "../../src/bridge/door.ts";
import { collectSpans } from "../support/spans.ts";

/** Fields of the value. Listing their names takes most of the time of a wide object. */
const FIELDS = 20_000;
const RUN = { run_id: "0199b1d2-0000-7000-8000-000000000001", tenant_id: "acme" };
const CALL = { ...RUN, tool: "t", tool_version: null, tool_use_id: "c" };

type Counted = { value: unknown; names: () => number; reads: () => number };

function wide(): Record<string, unknown> {
  return Object.fromEntries(Array.from({ length: FIELDS }, (_, n) => [`key${n}`, `text ${n}`]));
}

function countedProxy(): Counted {
  let [names, reads] = [0, 0];
  const value = new Proxy(wide(), {
    ownKeys: (target) => {
      names += 1;
      return Reflect.ownKeys(target);
    },
    get: (target, name) => {
      reads += 1;
      return Reflect.get(target, name);
    },
  });
  return { value, names: () => names, reads: () => reads };
}

function countedObject(value: object): Counted {
  const keys = vi.spyOn(Object, "keys");
  const names = () => keys.mock.calls.filter(([object]) => object === value).length;
  return { value, names, reads: () => 0 };
}

function countedGetters(): Counted {
  let reads = 0;
  const get = () => {
    reads += 1;
    return "text";
  };
  const each = Object.fromEntries(
    Array.from({ length: FIELDS }, (_, n) => [`key${n}`, { get, enumerable: true }]),
  );
  return { ...countedObject(Object.defineProperties({}, each)), reads: () => reads };
}

class Holder {
  constructor() {
    Object.assign(this, wide());
  }
}

const FORMS: Record<string, () => Counted> = {
  object: () => countedObject(wide()),
  "instance of a class": () => countedObject(new Holder()),
  getters: countedGetters,
  proxy: countedProxy,
};

/** Reads of each field: three for a row that checks its size first, and two for a copy for the hook. */
const MOST_READS = 5;

afterEach(() => vi.restoreAllMocks());

describe.each(Object.entries(FORMS))(
  "the names of a wide value are listed once an event: %s",
  (_, of) => {
    it.each([
      ["content", { captureContent: true }],
      ["content and redact", { captureContent: true, redact: (value: unknown) => value }],
      ["audit", { audit: new MemorySessionLog() }],
      ["all", { captureContent: true, redact: (v: unknown) => v, audit: new MemorySessionLog() }],
    ])("%s", async (_way, options) => {
      const { provider } = collectSpans();
      const bridge = new Bridge({ tracerProvider: provider, ...options });
      const { names, reads, value } = of();
      const events: [string, () => unknown][] = [
        [
          "started",
          () => bridge.send({ ...RUN, type: "started", agent: "a" }, { details: { input: value } }),
        ],
        ["tool_start", () => bridge.send({ ...CALL, type: "tool_start", input: value })],
        [
          "tool_complete",
          () => bridge.send({ ...CALL, type: "tool_complete", duration_ms: 1, output: value }),
        ],
        [
          "complete",
          () =>
            bridge.send({ ...RUN, type: "complete", state: null }, { details: { output: value } }),
        ],
      ];
      for (const [type, send] of events) {
        const [namesBefore, readsBefore] = [names(), reads()];
        await send();
        expect([type, names() - namesBefore]).toEqual([type, Math.min(1, names() - namesBefore)]);
        expect(reads() - readsBefore, type).toBeLessThanOrEqual(MOST_READS * FIELDS);
      }
      expect(names()).toBeGreaterThan(0);
    });
  },
);

it("reads a value again for the next event, with what the agent changed in between", () => {
  const { provider, spans } = collectSpans();
  const bridge = new Bridge({ tracerProvider: provider, captureContent: true });
  const value = wide();
  const own: Record<string, unknown> = value;
  void bridge.send({ ...RUN, type: "started", agent: "a" });
  void bridge.send({ ...CALL, type: "tool_start", input: own });
  for (const name of Object.keys(own)) delete own[name];
  Object.assign(own, { after: 1 });
  void bridge.send({ ...CALL, type: "tool_complete", duration_ms: 1, output: own });
  void bridge.send({ ...RUN, type: "complete", state: null });
  const call = spans().find(({ name }) => name === "execute_tool t");
  expect(call?.attributes["gen_ai.tool.call.result"]).toBe('{"after":1}');
});

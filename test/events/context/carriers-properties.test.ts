import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readEnvironment, writeEnvironment } from "../../../src/events/context/environment.ts";
import { readHeaders, writeHeaders } from "../../../src/events/context/http-headers.ts";
import { readMessage, writeMessage } from "../../../src/events/context/message.ts";
import { runs } from "../../support/runs.ts";

const TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const LEAST = { root_run_id: "r-1", parent_run_id: "p-1" };

/** An environment as a child process gets it: Node leaves out what is undefined. */
function passed(environment: Readonly<Record<string, string | undefined>>) {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined));
}

describe("whatever is carried", () => {
  const id = fc
    .string({ unit: "grapheme", minLength: 1, maxLength: 60 })
    .filter((text) => Buffer.byteLength(text) <= 512);
  const carried = fc.record(
    {
      root_run_id: id,
      parent_run_id: id,
      parent_tool_use_id: id,
      thread_id: id,
      traceparent: fc.constant(TRACEPARENT),
    },
    { requiredKeys: ["root_run_id", "parent_run_id"] },
  );

  it("comes back the same, through every carrier", () => {
    fc.assert(
      fc.property(carried, (context) => {
        expect(readHeaders(new Headers(writeHeaders(context)))).toEqual(context);
        expect(readEnvironment(passed(writeEnvironment(context)))).toEqual(context);
        const { parent_run_id } = context;
        expect(readMessage({ ...writeMessage(context), parent_run_id })).toEqual(context);
      }),
    );
  });

  it("is written in visible ASCII", () => {
    const anything = fc.record({
      root_run_id: fc.string({ unit: "binary" }),
      parent_run_id: fc.string({ unit: "binary" }),
      thread_id: fc.string({ unit: "binary" }),
      traceparent: fc.string(),
      tracestate: fc.string(),
    });
    fc.assert(
      fc.property(anything, (context) => {
        for (const value of Object.values(writeHeaders(context))) expect(value).toMatch(/^[ -~]+$/);
        for (const value of Object.values(writeEnvironment(context))) {
          expect(value ?? "none").toMatch(/^[ -~]+$/);
        }
      }),
    );
  });

  it("never throws, whatever comes in", () => {
    fc.assert(
      fc.property(fc.anything({ withMap: true, withNullPrototype: true }), (anything) => {
        for (const read of [readHeaders, readEnvironment, readMessage]) {
          const named = { ...writeHeaders(LEAST), ...writeEnvironment(LEAST), ...LEAST };
          for (const name of Object.keys(named)) {
            Reflect.apply(read, undefined, [{ ...named, [name]: anything }]);
          }
          Reflect.apply(read, undefined, [anything]);
        }
      }),
      { numRuns: runs(200) },
    );
  });
});

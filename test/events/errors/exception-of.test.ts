import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AgentError } from "../../../src/events/errors/agent-error.ts";
import { exceptionDetails, exceptionOf } from "../../../src/events/errors/exception-of.ts";
import { runs } from "../../support/runs.ts";

class RateLimitError extends Error {}

describe("the exception behind a failure", () => {
  it("has class, text and stack of an error", () => {
    const error = new RateLimitError("slow down");
    expect(exceptionOf(error)).toEqual({
      type: "RateLimitError",
      message: "slow down",
      stacktrace: error.stack,
    });
  });

  const kinds: readonly [name: string, thrown: unknown, type: string, message: string][] = [
    ["a plain error", new Error("no"), "Error", "no"],
    ["a named one", Object.assign(new Error("no"), { name: "DbError" }), "DbError", "no"],
    ["one of the runtime", new TypeError("no"), "TypeError", "no"],
    ["ours", AgentError.http(503, "down"), "AgentError", "provider returned 503: down"],
    ["a timeout", new DOMException("late", "TimeoutError"), "TimeoutError", "late"],
    ["a text", "no", "string", "no"],
    ["nothing", undefined, "undefined", "undefined was thrown"],
    ["null", null, "null", "null was thrown"],
    ["a bare object", Object.create(null), "object", "object was thrown, without a message"],
  ];
  it.each(kinds)("names %s", (_, thrown, type, message) => {
    expect(exceptionOf(thrown)).toMatchObject({ type, message });
  });

  it("is none for a pause or a cancellation, wrapped or not", () => {
    const stop = new DOMException("stop", "AbortError");
    expect(exceptionOf(stop)).toBeUndefined();
    expect(exceptionOf(AgentError.cancelled())).toBeUndefined();
    expect(exceptionOf(AgentError.interrupted({ type: "custom" }))).toBeUndefined();
    expect(exceptionDetails(stop)).toBeUndefined();
    expect(exceptionDetails("no")).toEqual({ exception: { type: "string", message: "no" } });
  });

  it("shows another text in place of the message, in the stack too", () => {
    const content = 'the answer "42\n    at secret" is wrong';
    const error = new RateLimitError(content);
    const shown = exceptionOf(error, "cannot read the answer");
    expect(shown?.message).toBe("cannot read the answer");
    expect(shown?.stacktrace).toMatch(/^RateLimitError: cannot read the answer\n {4}at /);
    expect(shown?.stacktrace).not.toContain("secret");
    expect(shown?.stacktrace).toContain("exception-of.test.ts");
  });

  it("has no stack where that may quote the message it had before", () => {
    const error = new Error("first secret");
    expect(error.stack).toContain("first secret");
    error.message = "second";
    expect(exceptionOf(error, "hidden")).toEqual({ type: "Error", message: "hidden" });
  });

  it("is bounded, between characters", () => {
    const error = new Error("😀".repeat(10_000));
    error.stack = "a😀".repeat(10_000);
    const shown = exceptionOf(error);
    expect(shown?.message?.length).toBe(4_096);
    expect(shown?.stacktrace?.length).toBeLessThanOrEqual(16_384);
    // Half of a pair would be replaced.
    expect(Buffer.from(shown?.stacktrace ?? "").toString()).toBe(shown?.stacktrace);
    const named = Object.assign(new Error("no"), { name: "x".repeat(1_000) });
    expect(exceptionOf(named)?.type.length).toBe(256);
  });

  it("never throws, and gives text, whatever is thrown", () => {
    const hostile = new Proxy(new Error("no"), {
      get() {
        throw new Error("hostile");
      },
      getPrototypeOf() {
        throw new Error("hostile");
      },
    });
    const numbers = { name: 1, message: 2, stack: 3, constructor: 4 };
    for (const thrown of [hostile, numbers]) {
      expect(exceptionOf(thrown)).toEqual({
        type: expect.any(String),
        message: expect.any(String),
      });
    }
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withBigInt: true }), (thrown) => {
        const shown = exceptionOf(thrown);
        expect(typeof (shown?.type ?? "")).toBe("string");
        expect(typeof (shown?.message ?? "")).toBe("string");
      }),
      { numRuns: runs(500) },
    );
  });
});

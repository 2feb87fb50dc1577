import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { AgentError, isAgentError } from "../../../src/events/errors/agent-error.ts";
import { classifyFailure, classifyToolError } from "../../../src/events/errors/classify.ts";
import { recordedLlmText } from "../../../src/events/errors/llm-text.ts";

describe("AgentError", () => {
  it("keeps the cause, and is an Error named AgentError", () => {
    const cause = new Error("socket");
    const error = AgentError.network("reset", { cause });
    expect(error).toBeInstanceOf(Error);
    expect(error.name).toBe("AgentError");
    expect(error.cause).toBe(cause);
    expect(String(error)).toBe("AgentError: provider network: reset");
    expect("cause" in AgentError.network("reset")).toBe(false);
  });

  it("has a narrowable detail", () => {
    const { detail } = AgentError.http(429, "slow", { retryAfterMs: 1500 });
    expect(detail).toEqual({
      type: "provider",
      kind: "http",
      status: 429,
      message: "slow",
      retryAfterMs: 1500,
    });
  });

  it.each([0, 100, 200, 302, 399, 600, 999, -1, 404.5, Number.NaN, Number.POSITIVE_INFINITY])(
    "reads the status %d as a network failure, not as an answer",
    (status) => {
      const error = AgentError.http(status, "odd", { retryAfterMs: 2000 });
      expect(error.message).toBe("provider network: odd");
      expect(error.envelope()).toEqual({
        wire_code: "transport_failure",
        wire_class: "server",
        retry_after_secs: 2,
      });
    },
  );

  it.each([
    [1500, 1],
    [999.9, 0],
    [0, 0],
    [30_000, 30],
  ])("truncates %d ms to %d whole seconds", (retryAfterMs, seconds) => {
    expect(AgentError.http(429, "", { retryAfterMs }).envelope().retry_after_secs).toBe(seconds);
  });

  it.each([Number.NaN, -1, Number.POSITIVE_INFINITY])("ignores a retry hint of %d ms", (ms) => {
    const error = AgentError.http(429, "", { retryAfterMs: ms });
    expect(error.envelope()).not.toHaveProperty("retry_after_secs");
    expect(classifyToolError(error)).toBe("quota");
  });

  it("names what upstream names of a credential", () => {
    expect(AgentError.authExpired().message).toBe("auth: credential expired");
    expect(AgentError.authSourceUnreachable("vault").message).toBe(
      "auth: credential source unreachable: vault",
    );
    expect(AgentError.authSourceUnreachable("vault").envelope().wire_code).toBe("auth_failed");
  });

  it("nests terminal tool errors: the outermost names the tool, the innermost the rest", () => {
    const leaf = AgentError.http(401, "expired");
    const inner = AgentError.toolErrorTerminal("auth", "bigquery", leaf);
    const outer = AgentError.toolErrorTerminal("internal", "analyst", inner);
    expect(classifyFailure(outer)).toEqual({
      type: "tool_error_terminal",
      kind: "internal",
      tool_name: "analyst",
    });
    expect(outer.envelope()).toEqual(leaf.envelope());
    expect(outer.forLlm()).toBe("upstream model error");
    expect(outer.cause).toBe(inner);
    expect(outer.message).toBe(
      "tool analyst terminal (internal): tool bigquery terminal (auth): provider returned 401: expired",
    );
  });

  it("never shows the model the status or the text of a provider", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 700 }), fc.string(), (status, message) => {
        expect(AgentError.http(status, message).forLlm()).toBe("upstream model error");
      }),
    );
  });
});

describe("isAgentError", () => {
  it("recognises an error of another copy of the package, which instanceof does not", async () => {
    vi.resetModules();
    const other = await import("../../../src/events/errors/agent-error.ts");
    const foreign: unknown = other.AgentError.usageLimitExceeded({
      axis: "requests",
      limit: 1,
      observed: 1,
    });
    expect(other.AgentError).not.toBe(AgentError);
    expect(foreign instanceof AgentError).toBe(false);
    expect(isAgentError(foreign)).toBe(true);
    expect(classifyFailure(foreign)).toEqual({ type: "usage_limit_exceeded" });
  });

  it.each([
    ["an Error", new Error("x")],
    ["a look-alike", { name: "AgentError", detail: { type: "cancelled" } }],
    ["the bare prototype", AgentError.prototype],
    ["a Proxy that answers anything", new Proxy({}, { get: () => true })],
    ["null", null],
    ["text", "AgentError"],
  ])("does not take %s for one", (_, value) => {
    expect(isAgentError(value)).toBe(false);
  });

  it("survives an error type that only a newer copy knows", () => {
    const newer = Object.create(AgentError.prototype, {
      message: { value: "new" },
      detail: { value: { type: "quantum_decoherence" } },
    });
    expect(isAgentError(newer)).toBe(true);
    expect(newer.envelope()).toEqual({ wire_code: "unclassified", wire_class: "server" });
    expect(newer.forLlm()).toBe("unexpected error");
  });
});

describe("recordedLlmText", () => {
  it("keeps a recorded text as it is", () => {
    expect(recordedLlmText("invalid input: x")).toBe("invalid input: x");
  });
});

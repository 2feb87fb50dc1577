import { describe, expect, it } from "vitest";
import { runAgent } from "../../../src/agents/runtime/run-agent.ts";
import { currentRun } from "../../../src/entries/runtime.ts";
import { AgentError } from "../../../src/index.ts";
import { rejection, Told } from "./said.ts";

const base = { agent: "support", tenant: "acme" };

describe("a run", () => {
  it("returns what its function returns, and tells it as the state", async () => {
    const sink = new Told();
    const state = await runAgent({ sink, ...base, input: 4 }, ({ input }) => ({
      twice: input * 2,
    }));
    expect(state).toEqual({ twice: 8 });
    expect(sink.said()).toEqual(["started support", "complete"]);
    expect(sink.only("complete")).toMatchObject({
      tenant_id: "acme",
      state: { twice: 8 },
      usage: null,
    });
    expect(sink.only("started").parent_run_id).toBeNull();
    expect(sink.only("started").run_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  });

  it("numbers its events, with an id and a time each", async () => {
    const sink = new Told();
    const options = { sink, ...base, runId: "r1", threadId: "t1", resumedFromRunId: "r0" };
    await runAgent(options, (run) => run.tool("a", () => 1));
    const envelopes = sink.items.map(({ envelope }) => envelope);
    expect(envelopes.map((envelope) => envelope?.sequence)).toEqual([0, 1, 2, 3]);
    expect(new Set(envelopes.map((envelope) => envelope?.event_id)).size).toBe(4);
    for (const envelope of envelopes) {
      expect(envelope).toMatchObject({
        thread_id: "t1",
        root_run_id: "r1",
        resumed_from_run_id: "r0",
      });
      expect(envelope?.timestamp).toEqual([expect.any(Number), expect.any(Number)]);
    }
  });

  const refused = (address: string) =>
    Object.assign(new Error(`connect ECONNREFUSED ${address}`), { code: "ECONNREFUSED" });
  const suppressing = (error: Error, suppressed: Error) =>
    Object.assign(new Error("An error was suppressed during disposal."), {
      name: "SuppressedError",
      error,
      suppressed,
    });
  const thrown: readonly [name: string, error: unknown, kind: string, text: string][] = [
    ["an error", new Error("no"), "unclassified", "no"],
    ["undefined", undefined, "unclassified", "undefined was thrown"],
    ["null", null, "unclassified", "null was thrown"],
    ["a text", "no", "unclassified", "no"],
    ["a symbol", Symbol("no"), "unclassified", "Symbol(no) was thrown"],
    [
      "nothing to print",
      Object.create(null),
      "unclassified",
      "object was thrown, without a message",
    ],
    ["frozen", Object.freeze(new Error("cold")), "unclassified", "cold"],
    ["a hostile Proxy", hostile(), "unclassified", "object was thrown, without a message"],
    ["a provider's", AgentError.http(503, "down"), "model_dispatch", "provider returned 503: down"],
    ["a deadline", AgentError.deadlineExceeded(), "deadline_exceeded", "deadline exceeded"],
    ["an abort", new DOMException("stop", "AbortError"), "cancelled", "stop"],
    [
      "a fetch, whose cause alone tells",
      new TypeError("fetch failed", { cause: refused("10.0.0.7:443") }),
      "internal",
      "fetch failed (connect ECONNREFUSED 10.0.0.7:443)",
    ],
    [
      "a cause that is told already",
      new Error("no answer: connect ECONNREFUSED ::1:9", { cause: refused("::1:9") }),
      "internal",
      "no answer: connect ECONNREFUSED ::1:9",
    ],
    [
      // What Node throws for a host with several addresses: it has no message.
      "a host of which no address answers",
      Object.assign(new AggregateError([refused("::1:9"), refused("127.0.0.1:9")]), {
        code: "ECONNREFUSED",
      }),
      "internal",
      "connect ECONNREFUSED ::1:9; connect ECONNREFUSED 127.0.0.1:9",
    ],
    [
      "one with a code and no text at all",
      Object.assign(new Error(), { code: "ECONNRESET" }),
      "internal",
      "Error was thrown, without a message (ECONNRESET)",
    ],
    [
      "what `using` makes of two errors",
      suppressing(new Error("closing failed"), new Error("boom")),
      "unclassified",
      "boom; closing failed",
    ],
    [
      "and of three, of which one is known",
      suppressing(
        new Error("b failed"),
        suppressing(
          new Error("a failed"),
          new TypeError("fetch failed", { cause: refused("::1:9") }),
        ),
      ),
      "internal",
      "fetch failed; a failed; b failed (connect ECONNREFUSED ::1:9)",
    ],
    [
      "a cause that may quote content",
      new Error("the answer is no JSON", {
        cause: new SyntaxError('"sk-secret" is not valid JSON'),
      }),
      "internal",
      "the answer is no JSON",
    ],
  ];
  it.each(thrown)("fails with %s, which its caller gets", async (_name, error, kind, text) => {
    const sink = new Told();
    const isTheSame = await runAgent({ sink, ...base }, () => {
      throw error;
    }).then(
      () => false,
      (caught: unknown) => caught === error,
    );
    expect(isTheSame).toBe(true);
    expect(sink.said()).toEqual(["started support", `failed ${kind}`]);
    expect(sink.only("failed").error).toBe(text);
  });

  const wrong: readonly [string, object, RegExp][] = [
    ["no sink", { sink: undefined }, /^sink: expected an object with a function "send"/],
    ["a sink without send", { sink: {} }, /^sink: /],
    ["no tenant", { tenant: undefined }, /^tenant: expected a text that is not empty/],
    ["an empty tenant", { tenant: "" }, /^tenant: .* got an empty text/],
    ["no agent", { agent: "" }, /^agent: /],
    ["an empty run id", { runId: "" }, /^runId: /],
    ["a deadline beyond the timers", { deadlineMs: 2 ** 31 }, /^deadlineMs: expected milliseconds/],
    ["a deadline that is none", { deadlineMs: Number.NaN }, /^deadlineMs: /],
    ["a signal that is none", { signal: {} }, /^signal: expected an AbortSignal/],
    ["a signal that is null", { signal: null }, /^signal: expected an AbortSignal, got null/],
    [
      "a thread of the parent's that is a number",
      { parent: { parent_run_id: "p", root_run_id: "p", thread_id: 17 } },
      /^parent.thread_id: expected a text, got number/,
    ],
    ["an approver that is none", { approve: "yes" }, /^approve: expected a function, got string/],
    [
      "one kind in place of a list",
      { terminalToolErrors: "auth" },
      /^terminalToolErrors: expected a list of kinds or a function, got string/,
    ],
    ["half a call", { budget: { toolCalls: 0.5 } }, /^budget.toolCalls: expected a whole number/],
    [
      "a cost as a number",
      { budget: { costUsd: 0.1 } },
      /^budget.costUsd: expected a decimal number/,
    ],
    ["a parent without a root", { parent: { parent_run_id: "p" } }, /^parent.root_run_id: /],
  ];
  it.each(wrong)("is refused with %s, and tells nothing", async (_name, options, message) => {
    const sink = new Told();
    let called = false;
    const error = await rejection(
      runAgent({ sink, ...base, ...options }, () => {
        called = true;
      }),
    );
    expect(error).toBeInstanceOf(Error);
    expect(String(error).replace(/^\w+: /, "")).toMatch(message);
    expect([called, sink.said()]).toEqual([false, []]);
  });
});

describe("a tool call", () => {
  it("is told with its input, output and version", async () => {
    const sink = new Told();
    const output = await runAgent({ sink, ...base }, (run) =>
      run.tool("add", { version: "2", input: { a: 1 }, id: "call_1" }, ({ input, toolUseId }) => [
        input.a + 1,
        toolUseId,
      ]),
    );
    expect(output).toEqual([2, "call_1"]);
    const names = { tool: "add", tool_use_id: "call_1", tool_version: "2", tenant_id: "acme" };
    expect(sink.only("tool_start")).toMatchObject({ ...names, input: { a: 1 } });
    expect(sink.only("tool_complete")).toMatchObject({ ...names, output: [2, "call_1"] });
    expect(sink.only("tool_complete").duration_ms).toBeGreaterThanOrEqual(0);
  });

  it("has an id of its own, no version and no input where none is given", async () => {
    const sink = new Told();
    await runAgent({ sink, ...base }, async (run) => {
      await run.tool("a", () => undefined);
      await run.tool("a", {}, ({ input }) => input);
    });
    const starts = sink.events.filter((event) => event.type === "tool_start");
    expect(new Set(starts.map((event) => event.tool_use_id)).size).toBe(2);
    expect(starts[0]).toMatchObject({ tool_version: null, input: null });
    const [first] = sink.events.filter((event) => event.type === "tool_complete");
    expect(first?.output).toBeNull();
  });

  it("fails with what its function throws, sorted by kind; the function of the run decides", async () => {
    const sink = new Told();
    const error = AgentError.http(429, "slow down", { retryAfterMs: 1500 });
    const state = await runAgent({ sink, ...base }, async (run) => {
      const caught = await rejection(
        run.tool("search", () => {
          throw error;
        }),
      );
      return caught === error;
    });
    expect(state).toBe(true);
    expect(sink.said()).toEqual([
      "started support",
      "tool_start search",
      "tool_error search rate_limit rate_limited",
      "complete",
    ]);
    expect(sink.only("tool_error")).toMatchObject({
      error: "provider returned 429: slow down",
      error_for_llm: "tool call failed (HTTP 429)",
      envelope: { retry_after_secs: 1, provider_status: 429 },
    });
  });

  it("runs in parallel with others", async () => {
    const sink = new Told();
    await runAgent({ sink, ...base }, (run) =>
      Promise.all([
        run.tool("slow", () => new Promise((resolve) => setTimeout(resolve, 5))),
        run.tool("quick", () => 1),
      ]),
    );
    expect(sink.said()).toEqual([
      "started support",
      "tool_start slow",
      "tool_start quick",
      "tool_complete quick",
      "tool_complete slow",
      "complete",
    ]);
  });

  it("refuses to be called without a name or a function", async () => {
    const sink = new Told();
    await runAgent({ sink, ...base }, async (run) => {
      expect(String(await rejection(run.tool("", () => 1)))).toContain("tool: expected a name");
      // @ts-expect-error: what JavaScript may do.
      expect(() => run.tool("a", { input: 1 })).toThrow("tool: expected a function to call");
    });
    expect(sink.said()).toEqual(["started support", "complete"]);
  });

  it("refuses ids and versions that no reader of the events takes, and what can't be asked", async () => {
    const sink = new Told();
    const wrong: [Record<string, unknown>, string][] = [
      [{ id: 7 }, "tool a: expected id to be a text, got number"],
      [{ version: 2 }, "tool a: expected version to be a text, got number"],
      [{ approve: true }, "approve: expected a function, got boolean"],
    ];
    await runAgent({ sink, ...base }, async (run) => {
      for (const [options, error] of wrong) {
        const call = run.tool("a", options, () => 1);
        expect(String(await rejection(call))).toBe(`TypeError: ${error}`);
      }
      // @ts-expect-error: what JavaScript may do.
      const call = run.model("m", { provider: 1 }, () => 1);
      const error = "TypeError: model m: expected provider to be a text, got number";
      expect(String(await rejection(call))).toBe(error);
      // @ts-expect-error: what JavaScript may do.
      expect(await run.tool("a", undefined, () => 1)).toBe(1);
    });
    expect(sink.said()).toEqual(["started support", "tool_start a", "tool_complete a", "complete"]);
  });
});

describe("sub-agents", () => {
  it("have tenant, thread, sink, root and tool call from where they are started", async () => {
    const sink = new Told();
    const ids: (string | undefined)[] = [];
    await runAgent({ sink, ...base, threadId: "t1", runId: "top" }, (run) =>
      run.tool("ask", { id: "call_1" }, async () => {
        await new Promise((resolve) => setImmediate(resolve));
        await runAgent({ agent: "expert", runId: "mid" }, async (mid) => {
          ids.push(mid.parentRunId, mid.rootRunId, mid.threadId, mid.tenantId);
          await runAgent({ agent: "leaf", runId: "low", threadId: "t2" }, () => 1);
        });
      }),
    );
    expect(ids).toEqual(["top", "top", "t1", "acme"]);
    const started = sink.items.filter(({ event }) => event.type === "started");
    expect(
      started.map(({ event, envelope }) => [
        event.type === "started" && event.parent_run_id,
        envelope?.root_run_id,
        envelope?.parent_tool_use_id,
        envelope?.thread_id,
      ]),
    ).toEqual([
      [null, "top", undefined, "t1"],
      ["top", "top", "call_1", "t1"],
      ["mid", "top", null, "t2"],
    ]);
  });

  it("may be told of a parent in another process", async () => {
    const sink = new Told();
    const traceparent = `00-${"1".repeat(32)}-${"2".repeat(16)}-01`;
    const parent = {
      parent_run_id: "p",
      root_run_id: "r",
      parent_tool_use_id: "call_9",
      traceparent,
      tracestate: "a=b",
      thread_id: "t9",
    };
    await runAgent({ sink, ...base, parent }, () => 1);
    expect(sink.only("started").parent_run_id).toBe("p");
    expect(sink.items[0]?.envelope).toMatchObject({
      root_run_id: "r",
      parent_tool_use_id: "call_9",
      traceparent,
      tracestate: "a=b",
      thread_id: "t9",
    });
  });

  it("are none where the parent is null, or another tenant's", async () => {
    const sink = new Told();
    await runAgent({ sink, ...base, threadId: "t1", budget: { requests: 0 } }, async () => {
      await runAgent({ agent: "detached", parent: null }, (run) => run.model("m", () => 1));
      await runAgent({ agent: "other", tenant: "globex" }, (run) => run.model("m", () => 1));
    });
    const started = sink.items.filter(({ event }) => event.type === "started").slice(1);
    for (const { event, envelope } of started) {
      expect(event).toMatchObject({ parent_run_id: null });
      expect(envelope).toMatchObject({ root_run_id: event.run_id });
      expect(envelope?.thread_id).toBeUndefined();
    }
  });

  it("go on when their parent has ended", async () => {
    const sink = new Told();
    let child = Promise.resolve("");
    await runAgent({ sink, ...base, runId: "top" }, (run) =>
      run.tool("spawn", { id: "s" }, () => {
        child = runAgent({ agent: "late" }, async (late) => {
          await new Promise((resolve) => setTimeout(resolve, 5));
          expect(late.signal.aborted).toBe(false);
          return late.tool("work", () => "done");
        });
      }),
    );
    expect(sink.said().at(-1)).toBe("complete");
    expect(await child).toBe("done");
    expect(sink.said().slice(-4)).toEqual([
      "complete",
      "tool_start work",
      "tool_complete work",
      "complete",
    ]);
    const late = sink.items.find(({ event }) => event.type === "started" && event.agent === "late");
    expect(late).toMatchObject({
      event: { parent_run_id: "top" },
      envelope: { root_run_id: "top", parent_tool_use_id: "s" },
    });
  });

  it("leave no trace of the run outside it", async () => {
    await runAgent({ sink: new Told(), ...base, runId: "r1" }, (run) =>
      run.tool("a", { id: "call_1" }, () =>
        expect(currentRun()).toEqual({
          tenantId: "acme",
          runId: "r1",
          rootRunId: "r1",
          threadId: undefined,
          toolUseId: "call_1",
        }),
      ),
    );
    expect(currentRun()).toBeUndefined();
  });
});

function hostile(): object {
  const fail = () => {
    throw new Error("trap");
  };
  return new Proxy({}, { get: fail, has: fail, getPrototypeOf: fail, ownKeys: fail });
}

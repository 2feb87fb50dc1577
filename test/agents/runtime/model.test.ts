import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { PricedCall } from "../../../src/agents/runtime/price.ts";
import { runAgent } from "../../../src/agents/runtime/run-agent.ts";
import { interrupt, isInterruption } from "../../../src/agents/runtime/run-errors.ts";
import { AgentError } from "../../../src/index.ts";
import { rejection, Told } from "./said.ts";

const base = { agent: "support", tenant: "acme" };

describe("a model call", () => {
  it("names who answered after a fallback inside it, also for the price", async () => {
    const sink = new Told();
    const priced: unknown[] = [];
    const price = ({ provider, responseModel }: PricedCall) =>
      void priced.push([provider, responseModel]);
    await runAgent({ sink, ...base, price }, (run) =>
      run.model("small-1", { provider: "openai" }, (call) => {
        const usage = { input_tokens: 1, output_tokens: 1 };
        call.report({ usage, provider: "anthropic", responseModel: "claude-x" });
      }),
    );
    expect(sink.only("model_start")).toMatchObject({ provider: "openai" });
    expect(sink.only("model_complete")).toMatchObject({ provider: "anthropic" });
    expect(priced).toEqual([["anthropic", "claude-x"]]);
  });

  it("is told with what was asked and what is known of the answer", async () => {
    const sink = new Told();
    const answer = await runAgent({ sink, ...base }, (run) =>
      run.model("small-1", { provider: "openai", input: "hi", id: "m1" }, async (call) => {
        call.firstOutput();
        call.firstOutput();
        call.report({ usage: { input_tokens: 31, output_tokens: 7 }, output: "draft" });
        call.report({
          responseModel: "small-1-0613",
          responseId: "resp_1",
          finishReasons: ["stop"],
        });
        call.report({ output: "hello" });
        return call.modelCallId;
      }),
    );
    expect(answer).toBe("m1");
    const names = { tenant_id: "acme", model_call_id: "m1", model: "small-1" };
    expect(sink.only("model_start")).toMatchObject({
      ...names,
      provider: "openai",
      input: [{ role: "user", parts: [{ type: "text", content: "hi" }] }],
    });
    expect(sink.only("model_complete")).toMatchObject({
      ...names,
      usage: { input_tokens: 31, output_tokens: 7 },
      response_model: "small-1-0613",
      response_id: "resp_1",
      finish_reasons: ["stop"],
      output: [
        { role: "assistant", parts: [{ type: "text", content: "hello" }], finish_reason: "stop" },
      ],
      first_output_ms: expect.any(Number),
      duration_ms: expect.any(Number),
    });
  });

  it("says nothing that nobody said", async () => {
    const sink = new Told();
    await runAgent({ sink, ...base, runId: "r" }, (run) =>
      run.model("small-1", (call) =>
        call.report({
          usage: null,
          responseModel: null,
          responseId: undefined,
          finishReasons: null,
        }),
      ),
    );
    const { model_call_id } = sink.only("model_start");
    const names = { run_id: "r", tenant_id: "acme", model_call_id, model: "small-1" };
    expect(sink.only("model_start")).toEqual({ type: "model_start", ...names });
    const known = Object.entries(sink.only("model_complete")).filter(([, value]) => value != null);
    expect(Object.fromEntries(known)).toEqual({
      type: "model_complete",
      ...names,
      duration_ms: expect.any(Number),
    });
  });

  it("leaves out figures that are no tokens, and says so", async () => {
    const sink = new Told();
    const heard: string[] = [];
    const onError = (error: unknown) => heard.push(String(error));
    await runAgent({ sink, ...base, onError }, (run) =>
      run.model("m", (call) =>
        call.report({
          usage: { input_tokens: 1.5, output_tokens: 2, cache_read_input_tokens: -1 },
        }),
      ),
    );
    expect(sink.only("model_complete").usage).toEqual({ output_tokens: 2 });
    expect(sink.only("complete").usage).toMatchObject({ input_tokens: 0, output_tokens: 2 });
    expect(heard).toEqual([
      "TypeError: usage.input_tokens: expected a whole number from 0, got 1.5",
      "TypeError: usage.cache_read_input_tokens: expected a whole number from 0, got -1",
    ]);
  });

  it("says so where usage has other names than ours, as a provider's own has", async () => {
    const sink = new Told();
    const heard: string[] = [];
    const onError = (error: unknown) => heard.push(String(error));
    await runAgent({ sink, ...base, onError }, async (run) => {
      for (const usage of [{ prompt_tokens: 31, completion_tokens: 7 }, {}]) {
        // As a program without types may report it.
        await run.model("m", (call) => Reflect.apply(call.report, call, [{ usage }]));
      }
    });
    const told = sink.events.filter((event) => event.type === "model_complete");
    expect(told[0]?.usage ?? null).toBeNull();
    expect(told[1]?.usage).toEqual({});
    expect(heard).toEqual([
      "TypeError: usage: expected some of input_tokens, output_tokens, cache_read_input_tokens, " +
        "cache_write_input_tokens, reasoning_output_tokens, got none of them",
    ]);
  });

  it("says so once as a process warning without onError, and names unknown fields", async () => {
    const emitted = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    onTestFinished(() => emitted.mockRestore());
    const report = { usage: { promptTokens: 31 }, resposeModel: "m-1" };
    for (let n = 0; n < 2; n += 1) {
      await runAgent({ sink: new Told(), ...base }, (run) =>
        run.model("m", (call) => Reflect.apply(call.report, call, [report])),
      );
    }
    expect(emitted.mock.calls.map(([line]) => String(line))).toEqual([
      "entelix-otel: runAgent: Error: unknown option `report.resposeModel`: did you mean `report.responseModel`?",
      expect.stringMatching(
        /^entelix-otel: runAgent: TypeError: usage: expected some of input_tok/,
      ),
    ]);
  });

  it("does not fail for a report that throws when it is read", async () => {
    const sink = new Told();
    const heard: string[] = [];
    const onError = (error: unknown) => heard.push(String(error));
    const fail = () => {
      throw new Error("not now");
    };
    const answer = await runAgent({ sink, ...base, onError }, (run) =>
      run.model("m", (call) => {
        call.report({ responseId: "resp_1" });
        call.report(new Proxy({}, { ownKeys: fail }));
        call.report(Object.defineProperty({}, "output", { enumerable: true, get: fail }));
        return 1;
      }),
    );
    expect(answer).toBe(1);
    expect(sink.only("model_complete")).toMatchObject({ response_id: "resp_1" });
    expect(heard).toEqual(["Error: not now", "Error: not now"]);
  });

  it("is told as answered, whatever a report holds that is not as it should be", async () => {
    const sink = new Told();
    const heard: string[] = [];
    const onError = (error: unknown) => heard.push(String(error));
    const odd: unknown = JSON.parse('{"finishReasons":"stop","usage":"many","responseId":7}');
    const textless: unknown = Object.create(null);
    const computed = {
      output_tokens: 4,
      get input_tokens(): number {
        throw new Error("not counted");
      },
    };
    const answers = await runAgent({ sink, ...base, onError }, async (run) => [
      await run.model("odd", (call) => {
        call.report(Object(odd));
        call.report(Object({ responseModel: textless }));
        return 1;
      }),
      await run.model("computed", (call) => {
        call.report({ usage: computed, finishReasons: ["stop"] });
        return 2;
      }),
    ]);
    expect(answers).toEqual([1, 2]);
    expect(sink.said()).toEqual([
      "started support",
      "model_start odd",
      "model_complete odd",
      "model_start computed",
      "model_complete computed",
      "complete",
    ]);
    const told = sink.events.filter((event) => event.type === "model_complete");
    expect(told[0]).toMatchObject({ response_id: "7" });
    expect(told[0]?.usage ?? null).toBeNull();
    expect(told[0]?.finish_reasons ?? null).toBeNull();
    expect(told[0]?.response_model ?? null).toBeNull();
    expect(told[1]).toMatchObject({ usage: { output_tokens: 4 }, finish_reasons: ["stop"] });
    expect(heard).toEqual([
      "TypeError: usage: expected an object, got string",
      "TypeError: responseModel: expected a text, got object",
      "TypeError: finishReasons: expected a list of texts, got string",
    ]);
  });

  it("fails with what its function throws; the run decides", async () => {
    const sink = new Told();
    const error = AgentError.http(529, "overloaded");
    await runAgent({ sink, ...base }, async (run) => {
      const caught = await rejection(
        run.model("m", () => {
          throw error;
        }),
      );
      expect(caught).toBe(error);
      await run.model("m", () => "again");
    });
    expect(sink.said()).toEqual([
      "started support",
      "model_start m",
      "model_error m model_dispatch",
      "model_start m",
      "model_complete m",
      "complete",
    ]);
    expect(sink.only("model_error")).toMatchObject({
      error: "provider returned 529: overloaded",
      envelope: { provider_status: 529 },
    });
  });

  it("that fails or is cut off has its usage, counted once for run and budget", async () => {
    const sink = new Told();
    const usage = { input_tokens: 100, output_tokens: 3 };
    const price = () => "0.5";
    await runAgent({ sink, ...base, price }, async (run) => {
      const fails = run.model("small-1", (call) => {
        call.report({ usage, responseModel: "small-1-0613", responseId: "resp_1" });
        throw new Error("busy");
      });
      await rejection(fails);
      void run.model("small-2", async (call) => {
        call.report({ usage });
        await new Promise(() => {});
      });
    });
    const use = { usage, cost_usd: "0.5" };
    expect(sink.events.filter(({ type }) => type === "model_error")).toMatchObject([
      { model: "small-1", ...use, response_model: "small-1-0613", response_id: "resp_1" },
      { model: "small-2", ...use, envelope: { wire_code: "cancelled" } },
    ]);
    expect(sink.only("complete").usage).toMatchObject({
      requests: 2,
      input_tokens: 200,
      output_tokens: 6,
      cost_usd: "1.0",
    });
  });

  it("that fails and exceeds the budget ends the run", async () => {
    const sink = new Told();
    const budget = { totalTokens: 50 };
    const failed = runAgent({ sink, ...base, budget }, (run) =>
      run.model("small-1", (call) => {
        call.report({ usage: { input_tokens: 100, output_tokens: 3 } });
        throw new Error("busy");
      }),
    );
    await rejection(failed);
    expect(sink.only("failed").kind).toEqual({ type: "usage_limit_exceeded" });
  });

  it("that pauses pauses the run", async () => {
    const sink = new Told();
    const error = await rejection(
      runAgent({ sink, ...base }, (run) =>
        run.model("m", () => {
          throw interrupt();
        }),
      ),
    );
    expect(isInterruption(error)).toBe(true);
    expect(sink.said()).toEqual([
      "started support",
      "model_start m",
      "model_error m unclassified",
      "interrupted custom",
    ]);
  });

  it("in a tool leaves the sub-agents that it starts in the tool", async () => {
    const sink = new Told();
    await runAgent({ sink, ...base }, (run) =>
      run.tool("ask", { id: "call_1" }, () =>
        run.model("m", () => runAgent({ agent: "expert" }, () => 1)),
      ),
    );
    const child = sink.items.find(
      ({ event }) => event.type === "started" && event.agent === "expert",
    );
    expect(child?.envelope?.parent_tool_use_id).toBe("call_1");
  });

  it("wants a name", async () => {
    const run = runAgent({ sink: new Told(), ...base }, (run) => run.model("", () => 1));
    expect(String(await rejection(run))).toContain("model: expected a name");
  });
});

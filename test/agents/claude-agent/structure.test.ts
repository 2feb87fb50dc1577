import { describe, expect, it } from "vitest";
import { observe, play, prompts } from "./observed.ts";
import {
  failed,
  INIT,
  REQUESTING,
  result,
  returned,
  type ScriptedProcess,
  says,
  text,
  totals,
  uses,
} from "./scripted-sdk.ts";

describe("a prompt", () => {
  it("is a run with its model and tool calls", async () => {
    const seen = observe();
    const { messages, process } = await play(seen, async (sdk) => {
      await sdk.prompt("hi");
      sdk.send(says("m1", text("I look.")), says("m1", uses("t1", "Read", { file: "a" })));
      await sdk.tool("t1", "Read", { file: "a" }, "the text");
      sdk.send(says("m2", text("It is done.")), result("It is done."));
    });
    expect(seen.lines()).toEqual([
      "started claude",
      "model_start claude-sonnet-4-5",
      "tool_start Read t1",
      "tool_complete Read t1",
      "model_complete claude-sonnet-4-5",
      "model_start claude-sonnet-4-5",
      "model_complete claude-sonnet-4-5",
      "complete",
    ]);
    expect(seen.tree()).toEqual([
      "invoke_agent claude complete",
      "  chat claude-sonnet-4-5 complete",
      "  execute_tool Read complete",
      "  chat claude-sonnet-4-5 complete",
    ]);
    expect(messages.map((message) => Reflect.get(Object(message), "type"))).toEqual([
      ...["system", "assistant", "assistant", "user", "assistant", "result"],
    ]);
    const [started] = seen.of("started");
    expect(started?.envelope.thread_id).toBe(process?.sessionId);
    expect(started?.event.parent_run_id).toBeNull();
    expect(new Set(seen.told.map(({ event }) => event.tenant_id))).toEqual(new Set(["acme"]));
    const [complete] = seen.of("complete");
    expect(complete?.event.usage).toEqual({
      requests: 2,
      tool_calls: 1,
      input_tokens: 60,
      output_tokens: 5,
      cache_read_input_tokens: 30,
      cache_write_input_tokens: 20,
      cost_usd: "0.01",
    });
    expect(seen.errors).toEqual([]);
    expect(seen.agent.counts).toEqual({
      refused: 0,
      forgotten: 0,
      sessionsForgotten: 0,
      faults: 0,
      sinkFailures: 0,
    });
  });

  it("is a run each, in one conversation, in the streaming input mode", async () => {
    const seen = observe();
    await play(
      seen,
      async (sdk) => {
        for (const said of ["one", "two"]) {
          await sdk.prompt(said);
          sdk.send(says(`m-${said}`, text(said)), result(said));
        }
      },
      { prompt: prompts() },
    );
    expect(seen.tree()).toEqual([
      "invoke_agent claude complete",
      "  chat claude-sonnet-4-5 complete",
      "invoke_agent claude complete",
      "  chat claude-sonnet-4-5 complete",
    ]);
    const runs = seen.of("started");
    expect(runs.map(({ envelope }) => envelope.details?.input)).toEqual([
      [{ role: "user", parts: [{ type: "text", content: "one" }] }],
      [{ role: "user", parts: [{ type: "text", content: "two" }] }],
    ]);
    expect(runs.map(({ envelope }) => envelope.thread_id)).toEqual(["s1", "s1"]);
  });

  it("that comes while another one is worked on is part of it, or the next", async () => {
    const seen = observe();
    await play(
      seen,
      async (sdk) => {
        await sdk.prompt("one");
        sdk.send(says("m1", text("one")));
        await sdk.hook("UserPromptSubmit", { prompt: "two" });
        sdk.send(result("one"), INIT, says("m2", text("two")), result("two"));
        await sdk.settle();
      },
      { prompt: prompts() },
    );
    expect(seen.of("complete")).toHaveLength(2);
    const asked = seen.of("started").map(({ envelope }) => JSON.stringify(envelope.details?.input));
    expect(asked[1]).toContain("two");
  });

  it("that is a command without a model is a run without calls", async () => {
    const seen = observe();
    await play(
      seen,
      async (sdk) =>
        sdk.send(INIT, says("x", text("cost: 0"), { message: synthetic("cost: 0") }), result("")),
      { prompt: prompts() },
    );
    expect(seen.lines()).toEqual(["started claude", "complete"]);
  });

  it("has the name of the option, else of the SDK's agent", async () => {
    const work = async (sdk: ScriptedProcess) => sdk.send(INIT, result("ok"));
    const byOption = observe({ agent: "support" });
    await play(byOption, work, { options: { agent: "reviewer" } });
    const bySdk = observe();
    await play(bySdk, work, { options: { agent: "reviewer" } });
    expect(byOption.lines()[0]).toBe("started support");
    expect(bySdk.lines()[0]).toBe("started reviewer");
  });
});

const synthetic = (said: string) => ({
  id: "x",
  role: "assistant",
  model: "<synthetic>",
  content: [text(said)],
});

describe("a model call", () => {
  it("is one for all messages with its ID, whatever comes in between", async () => {
    const seen = observe();
    await play(seen, async (sdk) => {
      await sdk.prompt("hi");
      sdk.send(says("m1", uses("t1", "Bash", { command: "a" })));
      await sdk.before("t1", "Bash", { command: "a" });
      sdk.send(says("m1", uses("t2", "Nope")), failed("t2", "No such tool"));
      await sdk.after("t1", "Bash", "a");
      sdk.send(says("m2", text("done")), result("done"));
    });
    expect(seen.of("model_complete").map(({ event }) => event.response_id)).toEqual(["m1", "m2"]);
    expect(seen.of("model_complete").map(({ event }) => event.output)).toEqual([
      [
        {
          role: "assistant",
          parts: [
            { type: "tool_call", id: "t1", name: "Bash", arguments: { command: "a" } },
            { type: "tool_call", id: "t2", name: "Nope", arguments: {} },
          ],
          finish_reason: "unknown",
        },
      ],
      [{ role: "assistant", parts: [{ type: "text", content: "done" }], finish_reason: "stop" }],
    ]);
    // Its figures are not final: the run has those of the result.
    expect(seen.of("model_complete").map(({ event }) => event.usage)).toEqual([null, null]);
    const [, second] = seen.of("model_start");
    expect(second?.event.input).toEqual([
      { role: "user", parts: [{ type: "tool_call_response", id: "t2", response: "No such tool" }] },
      { role: "user", parts: [{ type: "tool_call_response", id: "t1", response: "a" }] },
    ]);
    expect(second?.event.provider).toBe("anthropic");
    expect(seen.of("model_complete")[1]?.event.response_model).toBe("claude-sonnet-4-5-20250929");
  });

  it("ends with its last part, however long its tools take", async () => {
    const seen = observe();
    await play(seen, async (sdk) => {
      await sdk.prompt("hi");
      sdk.send(says("m1", uses("t1", "Bash")));
      await sdk.tool("t1", "Bash", {}, "late");
      sdk.send(says("m2", text("done")), result("done"));
    });
    const [chat] = seen.trees()[0]?.children ?? [];
    const tool = seen.trees()[0]?.children[1];
    expect(chat?.span).toBe("chat claude-sonnet-4-5");
    expect(Date.parse(chat?.end ?? "")).toBeLessThanOrEqual(Date.parse(tool?.start ?? ""));
  });

  it("has its start, its first output and its finish reason with partial messages", async () => {
    const seen = observe();
    const event = (type: string, more: object = {}) => ({
      type: "stream_event",
      parent_tool_use_id: null,
      event: { type, ...more },
    });
    await play(seen, async (sdk) => {
      await sdk.prompt("hi");
      sdk.send(REQUESTING);
      await sdk.settle();
      expect(seen.lines()).toEqual(["started claude", "model_start claude-sonnet-4-5"]);
      sdk.send(
        event("message_start", { message: { id: "m1", model: "claude-x" } }),
        says("m1", text("done")),
        event("message_delta", { delta: { stop_reason: "max_tokens" } }),
        event("message_stop"),
      );
      await sdk.settle();
      expect(seen.of("model_complete")).toHaveLength(1);
      sdk.send(result("done"));
    });
    const [answer] = seen.of("model_complete");
    expect(answer?.event.finish_reasons).toEqual(["max_tokens"]);
    expect(answer?.event.first_output_ms).toEqual(expect.any(Number));
    expect(seen.of("model_start")).toHaveLength(1);
  });

  it("has the system prompt, if it is the application's text", async () => {
    const seen = observe();
    await play(seen, async (sdk) => sdk.send(INIT, says("m1", text("ok")), result("ok")), {
      options: { systemPrompt: "Be kind." },
    });
    expect(seen.of("model_start")[0]?.event.system_instructions).toBe("Be kind.");
  });
});

describe("tool calls", () => {
  it("run in parallel, and the model sees the one that fails", async () => {
    const seen = observe();
    await play(seen, async (sdk) => {
      await sdk.prompt("hi");
      sdk.send(says("m1", uses("t1", "Bash")), says("m1", uses("t2", "Bash")));
      await Promise.all([sdk.before("t1", "Bash", { n: 1 }), sdk.before("t2", "Bash", { n: 2 })]);
      const failure = {
        tool_use_id: "t2",
        tool_name: "Bash",
        error: "Exit code 3",
        duration_ms: 4,
      };
      await sdk.hook("PostToolUseFailure", failure);
      sdk.send(failed("t2", "Exit code 3\nstderr"));
      await sdk.after("t1", "Bash", "one");
      sdk.send(says("m2", text("done")), result("done"));
    });
    expect(seen.tree()).toEqual([
      "invoke_agent claude complete",
      "  chat claude-sonnet-4-5 complete",
      "  execute_tool Bash complete",
      "  execute_tool Bash error internal !",
      "  chat claude-sonnet-4-5 complete",
    ]);
    const [error] = seen.of("tool_error");
    expect(error?.event).toMatchObject({
      tool_use_id: "t2",
      error: "Exit code 3",
      error_for_llm: "Exit code 3\nstderr",
      kind: "internal",
      duration_ms: 4,
      envelope: { wire_code: "tool_result_error", origin: "tool" },
    });
    expect(seen.of("tool_complete")[0]?.event).toMatchObject({ output: "one", duration_ms: 7 });
    expect(seen.of("tool_start").map(({ event }) => event.input)).toEqual([{ n: 1 }, { n: 2 }]);
    expect(seen.of("complete")[0]?.event.usage?.tool_calls).toBe(2);
  });

  it("of MCP servers show no words of the server to operators", async () => {
    const seen = observe();
    await play(seen, async (sdk) => {
      await sdk.prompt("hi");
      await sdk.before("t1", "mcp__shop__pay", {});
      const failure = { tool_use_id: "t1", tool_name: "mcp__shop__pay", error: "card 4711" };
      await sdk.hook("PostToolUseFailure", failure);
      sdk.send(failed("t1", [text("card 4711")]), result("done"));
    });
    const [error] = seen.of("tool_error");
    expect(error?.event.error).toBe("the result of mcp__shop__pay says that it failed");
    expect(error?.event.error_for_llm).toBe("card 4711");
  });

  it("fail as the option says", async () => {
    const asked: unknown[] = [];
    const seen = observe({
      isFailure: (given) => {
        asked.push(given);
        return JSON.stringify(given).includes("limit") ? "rate_limit" : false;
      },
    });
    await play(seen, async (sdk) => {
      await sdk.prompt("hi");
      await sdk.before("t1", "Api", {});
      sdk.send(returned("t1", "limit reached", { tool_use_result: { status: 429 } }));
      await sdk.before("t2", "Api", {});
      sdk.send(failed("t2", "nothing found"), result("done"));
    });
    expect(asked[0]).toEqual({
      content: [text("limit reached")],
      isError: false,
      output: { status: 429 },
    });
    expect(seen.lines().filter((line) => line.startsWith("tool"))).toEqual([
      "tool_start Api t1",
      "tool_error Api t1 tool_result_error",
      "tool_start Api t2",
      "tool_complete Api t2",
    ]);
    expect(seen.of("tool_error")[0]?.event.kind).toBe("rate_limit");
  });

  it("have a start where hooks are turned off", async () => {
    const seen = observe();
    await play(seen, async (sdk) => {
      sdk.send(INIT, says("m1", uses("t1", "Bash", { n: 1 })));
      await sdk.settle();
      expect(seen.lines().at(-1)).toBe("tool_start Bash t1");
      sdk.send(returned("t1", "ok"), result("ok"));
    });
    expect(seen.lines()).toContain("tool_complete Bash t1");
  });

  it("that still run when the result comes are cancelled, and their tools did not fail", async () => {
    const seen = observe();
    await play(seen, async (sdk) => {
      await sdk.prompt("hi");
      await sdk.before("t1", "Monitor", {});
      sdk.send(result("done"));
    });
    expect(seen.tree()).toEqual([
      "invoke_agent claude complete",
      "  execute_tool Monitor cancelled",
    ]);
  });

  it("have a limit", async () => {
    const seen = observe({ limits: { openCalls: 2 } });
    await play(seen, async (sdk) => {
      await sdk.prompt("hi");
      for (const id of ["t1", "t2", "t3"]) await sdk.before(id, "Bash", {});
      sdk.send(returned("t2", "ok"), returned("t3", "ok"), result("done"));
    });
    expect(seen.lines().filter((line) => line.startsWith("tool_error"))).toEqual([
      "tool_error Bash t1 cancelled",
    ]);
    expect(seen.agent.counts.forgotten).toBe(1);
  });
});

describe("compaction", () => {
  it("is a step of its run, and counts in the run's tokens", async () => {
    const seen = observe();
    await play(seen, async (sdk) => {
      await sdk.prompt("hi");
      sdk.send(says("m1", text("one")));
      await sdk.hook("PreCompact", { trigger: "auto", custom_instructions: null });
      await sdk.hook("PostCompact", { trigger: "auto", compact_summary: "short" });
      sdk.send({
        type: "system",
        subtype: "compact_boundary",
        compact_metadata: { trigger: "auto" },
      });
      sdk.send(says("m2", text("two")), result("two", totals(50, 9, 0.05)));
    });
    expect(seen.tree()).toEqual([
      "invoke_agent claude complete",
      "  chat claude-sonnet-4-5 complete",
      "  step compaction complete",
      "  chat claude-sonnet-4-5 complete",
    ]);
    expect(seen.of("complete")[0]?.event.usage?.input_tokens).toBe(300);
    expect(JSON.stringify(seen.told)).not.toContain("short");
  });

  it("that fails is a failed step", async () => {
    const seen = observe();
    await play(seen, async (sdk) => {
      await sdk.prompt("/compact");
      await sdk.hook("PreCompact", { trigger: "manual", custom_instructions: null });
      const status = { type: "system", subtype: "status", status: null };
      sdk.send({ ...status, compact_result: "failed", compact_error: "too short" }, result(""));
    });
    expect(seen.of("step_error")[0]?.event.error).toBe("too short");
    expect(seen.of("complete")).toHaveLength(1);
  });
});

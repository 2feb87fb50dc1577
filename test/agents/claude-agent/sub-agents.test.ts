import { describe, expect, it } from "vitest";
import { observe, play, prompts } from "./observed.ts";
import {
  apiError,
  failed,
  type Message,
  result,
  resultError,
  returned,
  type ScriptedProcess,
  says,
  text,
  totals,
  uses,
} from "./scripted-sdk.ts";

const inOuter = { parent_tool_use_id: "t1", agent_id: "a1", subagent_type: "planner" };

const taskStarted = (id: string, call: string, type: string, more: Message = {}): Message => ({
  type: "system",
  subtype: "task_started",
  task_id: id,
  tool_use_id: call,
  task_type: "local_agent",
  subagent_type: type,
  is_backgrounded: false,
  ...more,
});

const taskUpdated = (id: string, patch: object): Message => ({
  type: "system",
  subtype: "task_updated",
  task_id: id,
  patch,
});

/** A sub-agent that starts another one, which calls a tool. */
async function nested(sdk: ScriptedProcess): Promise<void> {
  await sdk.prompt("hi");
  const outer = { prompt: "plan it", subagent_type: "planner" };
  sdk.send(says("m1", uses("t1", "Agent", outer)));
  await sdk.before("t1", "Agent", outer);
  sdk.send(taskStarted("a1", "t1", "planner", { prompt: "plan it" }));
  await sdk.hook("SubagentStart", { agent_id: "a1", agent_type: "planner" });
  const inner = { prompt: "look", subagent_type: "finder" };
  sdk.send(says("m2", uses("t2", "Agent", inner), inOuter));
  await sdk.before("t2", "Agent", inner, { agent_id: "a1", agent_type: "planner" });
  sdk.send(taskStarted("a2", "t2", "finder", { prompt: "look", parent_task_id: "a1" }));
  await sdk.hook("SubagentStart", { agent_id: "a2", agent_type: "finder" });
  const ofInner = { agent_id: "a2", agent_type: "finder" };
  await sdk.tool("t3", "Grep", { pattern: "x" }, "found", ofInner);
  await sdk.hook("SubagentStop", { ...ofInner, last_assistant_message: "it is there" });
  sdk.send(taskUpdated("a2", { status: "completed" }));
  const answer = { status: "completed", agentId: "a2" };
  await sdk.after("t2", "Agent", answer, { agent_id: "a1", agent_type: "planner" });
  sdk.send(says("m3", text("the plan"), inOuter));
  await sdk.hook("SubagentStop", { agent_id: "a1", last_assistant_message: "the plan" });
  sdk.send(taskUpdated("a1", { status: "completed" }));
  await sdk.after("t1", "Agent", { status: "completed", agentId: "a1" });
  sdk.send(says("m4", text("done")), result("done", totals(100, 50, 0.2)));
}

describe("sub-agents", () => {
  it("may give their calls the ID of the call that started them", async () => {
    const seen = observe();
    await play(seen, async (sdk) => {
      await sdk.prompt("hi");
      const outer = { prompt: "plan it", subagent_type: "planner" };
      sdk.send(says("m1", uses("t1", "Agent", outer)));
      await sdk.before("t1", "Agent", outer);
      sdk.send(taskStarted("a1", "t1", "planner", { prompt: "plan it" }));
      const ofInner = { agent_id: "a1", agent_type: "planner" };
      for (const found of ["one", "two"]) {
        const input = { pattern: found };
        await sdk.tool("t1", "Grep", input, found, { ...ofInner, tool_input: input });
      }
      await sdk.hook("SubagentStop", { ...ofInner, last_assistant_message: "the plan" });
      await sdk.after("t1", "Agent", { status: "completed", agentId: "a1" }, { tool_input: outer });
      sdk.send(result("done"));
    });
    expect(seen.tree()).toEqual([
      "invoke_agent claude complete",
      "  chat claude-sonnet-4-5 complete",
      "  execute_tool Agent complete",
      "    invoke_agent planner complete",
      "      execute_tool Grep complete",
      "      execute_tool Grep complete",
    ]);
    expect(seen.errors).toEqual([]);
  });

  it("have the model of the agent above as the requested one only if it answers", async () => {
    const seen = observe();
    await play(seen, async (sdk) => {
      await sdk.prompt("hi");
      const outer = { prompt: "plan it", subagent_type: "planner" };
      sdk.send(says("m1", uses("t1", "Agent", outer)));
      await sdk.before("t1", "Agent", outer);
      sdk.send(taskStarted("a1", "t1", "planner", { prompt: "plan it" }));
      for (const [id, model] of [
        ["m2", "claude-haiku-4-5-20251001"],
        ["m3", "claude-sonnet-4-5-20250929"],
      ] as const) {
        const message = { id, role: "assistant", model, content: [text("plan")] };
        sdk.send(says(id, text("plan"), { ...inOuter, message }));
      }
      await sdk.after("t1", "Agent", { status: "completed", agentId: "a1" });
      sdk.send(result("done"));
    });
    const answered = seen
      .of("model_complete")
      .map(({ event }) => [event.model, event.response_model]);
    expect(answered).toEqual([
      [null, "claude-haiku-4-5-20251001"],
      ["claude-sonnet-4-5", "claude-sonnet-4-5-20250929"],
      ["claude-sonnet-4-5", "claude-sonnet-4-5-20250929"],
    ]);
  });

  it("are runs below the calls that started them, two deep", async () => {
    const seen = observe();
    await play(seen, nested);
    expect(seen.tree()).toEqual([
      "invoke_agent claude complete",
      "  chat claude-sonnet-4-5 complete",
      "  execute_tool Agent complete",
      "    invoke_agent planner complete",
      "      chat claude-sonnet-4-5 complete",
      "      execute_tool Agent complete",
      "        invoke_agent finder complete",
      "          execute_tool Grep complete",
      "      chat claude-sonnet-4-5 complete",
      "  chat claude-sonnet-4-5 complete",
    ]);
    const [main, outer, inner] = seen.of("started");
    expect(outer?.event.parent_run_id).toBe(main?.event.run_id);
    expect(outer?.envelope).toMatchObject({
      parent_tool_use_id: "t1",
      root_run_id: main?.event.run_id,
      thread_id: main?.envelope.thread_id,
    });
    expect(inner?.event.parent_run_id).toBe(outer?.event.run_id);
    expect(inner?.envelope.parent_tool_use_id).toBe("t2");
    expect(inner?.envelope.details?.input).toEqual([
      { role: "user", parts: [{ type: "text", content: "look" }] },
    ]);
    const answers = seen.of("complete").map(({ envelope }) => envelope.details?.output);
    expect(JSON.stringify(answers[0])).toContain("it is there");
    expect(JSON.stringify(answers[1])).toContain("the plan");
    expect(new Set(seen.spans().map((span) => span.spanContext().traceId)).size).toBe(1);
  });

  it("have no tokens of their own; those of the prompt contain theirs", async () => {
    const seen = observe();
    await play(seen, nested);
    expect(seen.of("complete").map(({ event }) => event.usage ?? null)).toEqual([
      null,
      null,
      expect.objectContaining({
        input_tokens: 600,
        output_tokens: 50,
        cost_usd: "0.2",
        tool_calls: 3,
      }),
    ]);
  });

  it("of which only messages tell are known by their call", async () => {
    const seen = observe();
    await play(seen, async (sdk) => {
      await sdk.prompt("hi");
      const input = { prompt: "look", subagent_type: "finder" };
      sdk.send(says("m1", uses("t1", "Task", input)));
      await sdk.before("t1", "Task", input);
      const inside = { parent_tool_use_id: "t1" };
      sdk.send(says("m2", uses("t2", "Grep"), inside), returned("t2", "found", inside));
      await sdk.after("t1", "Task", "it is there");
      sdk.send(result("done"));
    });
    expect(seen.tree()).toEqual([
      "invoke_agent claude complete",
      "  chat claude-sonnet-4-5 complete",
      "  execute_tool Task complete",
      "    invoke_agent finder complete",
      "      chat claude-sonnet-4-5 complete",
      "      execute_tool Grep complete",
    ]);
  });

  it("of which only hooks tell stand below the prompt", async () => {
    const seen = observe();
    await play(seen, async (sdk) => {
      await sdk.prompt("hi");
      await sdk.hook("SubagentStart", { agent_id: "a1", agent_type: "finder" });
      await sdk.tool("t1", "Grep", {}, "found", { agent_id: "a1" });
      await sdk.hook("SubagentStop", { agent_id: "a1", last_assistant_message: "there" });
      sdk.send(result("done"));
    });
    expect(seen.tree()).toEqual([
      "invoke_agent claude complete",
      "  invoke_agent finder complete",
      "    execute_tool Grep complete",
    ]);
  });

  it("in the background run on when the prompt has its result", async () => {
    const seen = observe();
    await play(
      seen,
      async (sdk) => {
        await sdk.prompt("hi");
        await sdk.before("t1", "Agent", { prompt: "watch" });
        sdk.send(taskStarted("a1", "t1", "watcher", { is_backgrounded: true }));
        await sdk.after("t1", "Agent", { status: "async_launched", agentId: "a1" });
        sdk.send(result("started"));
        await sdk.tool("t2", "Read", {}, "text", { agent_id: "a1" });
        await sdk.hook("SubagentStop", { agent_id: "a1", last_assistant_message: "seen" });
        sdk.send(taskUpdated("a1", { status: "completed" }));
        await sdk.prompt("<task-notification>");
        sdk.send(result("reported"));
      },
      { prompt: prompts() },
    );
    expect(seen.lines()).toEqual([
      "started claude",
      "tool_start Agent t1",
      "started watcher",
      "tool_complete Agent t1",
      "complete",
      "tool_start Read t2",
      "tool_complete Read t2",
      "complete",
      "started claude",
      "complete",
    ]);
    expect(seen.tree()).toEqual([
      "invoke_agent claude complete",
      "  execute_tool Agent complete",
      "    invoke_agent watcher complete",
      "      execute_tool Read complete",
      "invoke_agent claude complete",
    ]);
  });

  it("that the process leaves behind are cancelled", async () => {
    const seen = observe();
    await play(seen, async (sdk) => {
      await sdk.prompt("hi");
      await sdk.before("t1", "Agent", { prompt: "watch" });
      sdk.send(taskStarted("a1", "t1", "watcher", { is_backgrounded: true }));
      await sdk.after("t1", "Agent", { status: "async_launched", agentId: "a1" });
      sdk.send(result("started"));
    });
    expect(seen.tree()).toEqual([
      "invoke_agent claude complete",
      "  execute_tool Agent complete",
      "    invoke_agent watcher failed cancelled !",
    ]);
  });

  it.each([
    ["failed", { status: "failed", error: "it broke" }, "failed unclassified !"],
    ["were killed", { status: "killed" }, "failed cancelled !"],
  ])("that %s say so", async (_, patch, line) => {
    const seen = observe();
    await play(seen, async (sdk) => {
      await sdk.prompt("hi");
      await sdk.before("t1", "Agent", { prompt: "look" });
      sdk.send(taskStarted("a1", "t1", "finder"), taskUpdated("a1", patch));
      sdk.send(failed("t1", "the agent failed"), result("done"));
    });
    expect(seen.tree()).toEqual([
      "invoke_agent claude complete",
      "  execute_tool Agent error internal !",
      `    invoke_agent finder ${line}`,
    ]);
  });

  it("whose model failed fail by it, also in the background", async () => {
    const seen = observe();
    await play(seen, async (sdk) => {
      await sdk.prompt("hi");
      await sdk.before("t1", "Agent", { prompt: "look" });
      sdk.send({ ...taskStarted("a1", "t1", "finder"), is_backgrounded: true });
      const below = { parent_tool_use_id: "t1", agent_id: "a1" };
      sdk.send({ ...apiError("overloaded", "API Error: 529"), ...below });
      sdk.send(taskUpdated("a1", { status: "failed", error: "it ended early" }), result("done"));
    });
    expect(seen.tree().at(-2)).toBe("    invoke_agent finder failed model_dispatch !");
    const [failed] = seen.of("failed");
    expect(failed?.event.envelope).toMatchObject({ origin: "model", provider_status: 529 });
  });

  it("are cancelled with the prompt, innermost first", async () => {
    const seen = observe();
    await play(seen, async (sdk) => {
      await sdk.prompt("hi");
      await sdk.before("t1", "Agent", { prompt: "plan" });
      sdk.send(taskStarted("a1", "t1", "planner"));
      await sdk.before("t2", "Agent", { prompt: "look" }, { agent_id: "a1" });
      sdk.send(taskStarted("a2", "t2", "finder"));
      await sdk.before("t3", "Bash", {}, { agent_id: "a2" });
      throw new Error("gone");
    });
    expect(seen.tree()).toEqual([
      "invoke_agent claude failed unclassified !",
      "  execute_tool Agent cancelled",
      "    invoke_agent planner failed cancelled !",
      "      execute_tool Agent cancelled",
      "        invoke_agent finder failed cancelled !",
      "          execute_tool Bash cancelled",
    ]);
    expect(seen.of("failed").map(({ event }) => event.error)).toEqual([
      ...["operation cancelled", "operation cancelled", "gone"],
    ]);
  });

  it("that a prompt's error ends are cancelled, too", async () => {
    const seen = observe();
    await play(seen, async (sdk) => {
      await sdk.prompt("hi");
      await sdk.before("t1", "Agent", { prompt: "plan" });
      sdk.send(taskStarted("a1", "t1", "planner"));
      sdk.send(resultError("error_max_turns", ["Reached maximum number of turns (2)"]));
    });
    expect(seen.tree()).toEqual([
      "invoke_agent claude failed usage_limit_exceeded !",
      "  execute_tool Agent cancelled",
      "    invoke_agent planner failed cancelled !",
    ]);
  });

  it("that are told to go on are a run more", async () => {
    const seen = observe();
    await play(seen, async (sdk) => {
      await sdk.prompt("hi");
      await sdk.before("t1", "Agent", { prompt: "look" });
      sdk.send(taskStarted("a1", "t1", "finder"), taskUpdated("a1", { status: "completed" }));
      await sdk.after("t1", "Agent", { status: "completed", agentId: "a1" });
      await sdk.before("t2", "SendMessage", { to: "a1" });
      sdk.send(taskStarted("a1", "t2", "finder", { is_backgrounded: true }));
      sdk.send(taskUpdated("a1", { status: "completed" }));
      await sdk.after("t2", "SendMessage", "sent");
      sdk.send(result("done"));
    });
    expect(seen.tree()).toEqual([
      "invoke_agent claude complete",
      "  execute_tool Agent complete",
      "    invoke_agent finder complete",
      "  execute_tool SendMessage complete",
      "    invoke_agent finder complete",
    ]);
  });

  it("have a limit", async () => {
    const seen = observe({ limits: { openAgents: 1 } });
    await play(seen, async (sdk) => {
      await sdk.prompt("hi");
      for (const id of ["1", "2"]) {
        await sdk.before(`t${id}`, "Agent", { prompt: "look" });
        sdk.send(taskStarted(`a${id}`, `t${id}`, `finder-${id}`));
      }
      sdk.send(taskUpdated("a2", { status: "completed" }), result("done"));
    });
    expect(seen.lines().filter((line) => line.startsWith("failed"))).toEqual([
      "failed cancelled: operation cancelled",
    ]);
    expect(seen.agent.counts.forgotten).toBe(1);
  });
});

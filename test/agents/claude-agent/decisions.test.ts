import { describe, expect, it } from "vitest";
import { LONG_WAIT_MS } from "../../../src/agents/runtime/verdict.ts";
import type { ToolDecision } from "../../../src/entries/claude-agent.ts";
import { observe, play } from "./observed.ts";
import {
  failed,
  result,
  returned,
  type ScriptedOptions,
  says,
  text,
  uses,
} from "./scripted-sdk.ts";

const INPUT = { command: "rm a" };
const CALL = { tool_use_id: "t1", tool_name: "Bash", tool_input: INPUT };

/** A turn in which the model asks for one call. */
function turn(
  permission: (sdk: Parameters<Parameters<typeof play>[1]>[0]) => Promise<unknown>,
  seen: ReturnType<typeof observe>,
  options: ScriptedOptions = {},
  details?: Parameters<typeof play>[3],
) {
  return play(
    seen,
    async (sdk) => {
      await sdk.prompt("hi");
      sdk.send(says("m1", uses("t1", "Bash", INPUT)));
      await permission(sdk);
      sdk.send(says("m2", text("done")), result("done"));
    },
    { options },
    details,
  );
}

const decisions = (seen: ReturnType<typeof observe>) =>
  seen.told.flatMap(({ event, envelope }) =>
    event.type === "tool_call_approved" || event.type === "tool_call_denied"
      ? [{ type: event.type, id: event.tool_use_id, ...envelope.details?.decision }]
      : [],
  );

const calls = (seen: ReturnType<typeof observe>) =>
  seen.lines().filter((line) => line.startsWith("tool"));

describe("canUseTool", () => {
  it("approves: before the call, by whom, after which wait", async () => {
    const asked: [ToolDecision, unknown][] = [];
    const seen = observe({
      decidedBy: (decision, metadata) => {
        asked.push([decision, metadata]);
        return "ann";
      },
    });
    const given: unknown[] = [];
    const { process } = await turn(
      async (sdk) => {
        await sdk.before("t1", "Bash", INPUT);
        const answer = await sdk.ask("t1", "Bash", INPUT);
        expect(answer).toEqual({ behavior: "allow", updatedInput: { command: "rm a" } });
        await sdk.after("t1", "Bash", "gone");
      },
      seen,
      {
        canUseTool: async (...args) => {
          given.push(args);
          return { behavior: "allow", updatedInput: { ...INPUT } };
        },
      },
      { metadata: { room: 7 } },
    );
    expect(calls(seen)).toEqual([
      "tool_call_approved Bash t1",
      "tool_start Bash t1",
      "tool_complete Bash t1",
    ]);
    expect(decisions(seen)).toEqual([
      {
        type: "tool_call_approved",
        id: "t1",
        outcome: "approved",
        by: "user",
        person: "ann",
        wait_ms: expect.any(Number),
      },
    ]);
    expect(asked).toEqual([
      [{ outcome: "approved", tool: "Bash", toolUseId: "t1", reason: "" }, { room: 7 }],
    ]);
    expect(given).toEqual([["Bash", INPUT, expect.objectContaining({ toolUseID: "t1" })]]);
    expect(process?.params.options?.canUseTool).toBeDefined();
    const span = seen.find("execute_tool Bash");
    expect(span?.attributes).toMatchObject({
      "entelix.tool.outcome": "complete",
      "entelix.approval.outcome": "approved",
      "entelix.approval.by": "user",
    });
  });

  it("edits: the call has the new input, the decision the old one", async () => {
    const seen = observe();
    await turn(
      async (sdk) => {
        await sdk.before("t1", "Bash", INPUT);
        await sdk.ask("t1", "Bash", INPUT);
        await sdk.after("t1", "Bash", "shown");
      },
      seen,
      { canUseTool: async () => ({ behavior: "allow", updatedInput: { command: "cat a" } }) },
    );
    expect(decisions(seen)).toMatchObject([
      { id: "t1", outcome: "edited", by: "user", proposed_input: { command: "rm a" } },
    ]);
    expect(seen.of("tool_start").map(({ event }) => event.input)).toEqual([{ command: "cat a" }]);
  });

  it("is asked for long: an event says so before the decision, and only of the call that waits", async () => {
    const seen = observe();
    await turn(
      async (sdk) => {
        await sdk.before("t1", "Bash", INPUT);
        await sdk.ask("t1", "Bash", INPUT);
        await sdk.after("t1", "Bash", "ok");
      },
      seen,
      {
        canUseTool: async () => {
          await new Promise((resolve) => setTimeout(resolve, LONG_WAIT_MS + 50));
          return { behavior: "allow" };
        },
      },
    );
    expect(calls(seen).slice(0, 3)).toEqual([
      "tool_call_asked Bash t1",
      "tool_call_approved Bash t1",
      "tool_start Bash t1",
    ]);
  });

  it("denies: the call has no start, and the run goes on", async () => {
    const seen = observe();
    await turn(
      async (sdk) => {
        await sdk.before("t1", "Bash", INPUT);
        await sdk.ask("t1", "Bash", INPUT);
        sdk.send(failed("t1", "not today"));
      },
      seen,
      { canUseTool: async () => ({ behavior: "deny", message: "not today" }) },
    );
    expect(calls(seen)).toEqual(["tool_call_denied Bash t1"]);
    expect(seen.of("tool_call_denied")[0]?.event.reason).toBe("not today");
    expect(decisions(seen)).toMatchObject([{ id: "t1", outcome: "denied", by: "user" }]);
    expect(seen.tree()).toEqual([
      "invoke_agent claude complete",
      "  chat claude-sonnet-4-5 complete",
      "  execute_tool Bash denied",
      "  chat claude-sonnet-4-5 complete",
    ]);
  });

  it("denies and interrupts: the run is cancelled", async () => {
    const seen = observe();
    await play(
      seen,
      async (sdk) => {
        await sdk.prompt("hi");
        await sdk.before("t1", "Bash", INPUT);
        await sdk.ask("t1", "Bash", INPUT);
        sdk.send(failed("t1", "stop"));
        sdk.send(result("", { subtype: "error_during_execution", is_error: true, errors: [] }));
      },
      {
        options: { canUseTool: async () => ({ behavior: "deny", message: "no", interrupt: true }) },
      },
    );
    expect(seen.lines()).toEqual([
      "started claude",
      "tool_call_denied Bash t1",
      "failed cancelled: operation cancelled",
    ]);
  });

  it("counts as policy where the option says so, and names no person", async () => {
    const seen = observe({ permissionsBy: "policy", decidedBy: () => "ann" });
    await turn(
      async (sdk) => {
        await sdk.before("t1", "Bash", INPUT);
        await sdk.ask("t1", "Bash", INPUT);
        await sdk.after("t1", "Bash", "gone");
      },
      seen,
      { canUseTool: async () => ({ behavior: "allow" }) },
    );
    const [decision] = decisions(seen);
    expect(decision).toMatchObject({ outcome: "approved", by: "policy" });
    expect(decision).not.toHaveProperty("person");
  });

  it.each([
    ["throws", () => Promise.reject(new Error("closed")), "closed"],
    ["answers elsewhere", () => Promise.resolve(null), undefined],
  ])("that %s decides nothing", async (_, canUseTool, message) => {
    const seen = observe();
    await turn(
      async (sdk) => {
        await sdk.before("t1", "Bash", INPUT);
        const answer = await sdk.ask("t1", "Bash", INPUT).catch((error: Error) => error.message);
        expect(answer ?? undefined).toBe(message);
        await sdk.after("t1", "Bash", "gone");
      },
      seen,
      { canUseTool },
    );
    expect(decisions(seen)).toEqual([]);
    expect(calls(seen)).toEqual(["tool_start Bash t1", "tool_complete Bash t1"]);
  });

  it("of a sub-agent is about a call of the sub-agent", async () => {
    const seen = observe();
    await turn(
      async (sdk) => {
        await sdk.before("t1", "Agent", { prompt: "look" });
        sdk.send({
          type: "system",
          subtype: "task_started",
          task_type: "local_agent",
          task_id: "a1",
          tool_use_id: "t1",
          subagent_type: "helper",
        });
        await sdk.before("t2", "Bash", INPUT, { agent_id: "a1", agent_type: "helper" });
        await sdk.ask("t2", "Bash", INPUT, { agentID: "a1" });
        sdk.send(returned("t1", "done"));
      },
      seen,
      { canUseTool: async () => ({ behavior: "deny", message: "no" }) },
    );
    expect(seen.tree()).toContain("      execute_tool Bash denied");
  });
});

describe("two open calls with one ID", () => {
  const asks = (order: string) => ({ order });
  const named = (order: string) => ({
    tool_use_id: "t1",
    tool_name: "look_up",
    tool_input: asks(order),
  });

  it("each have the decision that was made about them, in any order of the reports", async () => {
    const seen = observe({ decidedBy: (_, { user }) => String(user) });
    let allowA: (answer: object) => void = () => {};
    const answerA = new Promise<object>((resolve) => {
      allowA = resolve;
    });
    const canUseTool = async (_: string, input: object) => {
      if (JSON.stringify(input) === JSON.stringify(asks("A"))) return answerA;
      setImmediate(() => allowA({ behavior: "allow" }));
      return { behavior: "deny", message: "not B" };
    };
    await play(
      seen,
      async (sdk) => {
        await sdk.prompt("hi");
        // The hook of the first call comes before the message with it.
        await sdk.before("t1", "look_up", asks("A"));
        for (const order of ["A", "B"]) {
          sdk.send(says("m1", uses("t1", "look_up", asks(order))));
        }
        await sdk.before("t1", "look_up", asks("B"));
        await Promise.all(["A", "B"].map((order) => sdk.ask("t1", "look_up", asks(order))));
        await sdk.hook("PermissionDenied", { ...named("B"), reason: "not B" });
        sdk.send(failed("t1", "not B"));
        await sdk.after("t1", "look_up", "state of A", { tool_input: asks("A") });
        sdk.send(result("done", { permission_denials: [named("B")] }));
      },
      { options: { canUseTool } },
      { metadata: { user: "ann" } },
    );
    const spans = seen.spans().filter(({ name }) => name === "execute_tool look_up");
    expect(
      spans.map(({ attributes }) => [
        attributes["entelix.tool.outcome"],
        attributes["gen_ai.tool.call.result"],
        attributes["gen_ai.tool.call.arguments"],
      ]),
    ).toEqual([
      ["denied", undefined, undefined],
      ["complete", "state of A", '{"order":"A"}'],
    ]);
    expect(decisions(seen)).toMatchObject([
      { id: "t1", outcome: "denied", person: "ann" },
      { id: "t1", outcome: "approved", person: "ann" },
    ]);
    expect(seen.errors).toEqual([]);
  });

  it("are cut off together when the run fails", async () => {
    const seen = observe();
    await play(seen, async (sdk) => {
      await sdk.prompt("hi");
      for (const order of ["A", "B"]) {
        sdk.send(says("m1", uses("t1", "look_up", asks(order))));
        await sdk.before("t1", "look_up", asks(order));
      }
      throw new Error("the process died");
    });
    const cut = seen.of("tool_error").map(({ event }) => event.envelope.cancelled);
    expect(cut).toEqual([true, true]);
    const keys = seen.of("tool_error").map(({ envelope }) => envelope.details?.call_key);
    expect(keys).toEqual([undefined, expect.any(String)]);
  });
});

describe("hooks of the application", () => {
  it("are called as before, and the given objects are not changed", async () => {
    const calledWith: unknown[] = [];
    const own = async (...args: unknown[]) => {
      calledWith.push(args);
      return { systemMessage: "mine" };
    };
    const matcher = { matcher: "Bash", hooks: [own], timeout: 9 };
    const options = { hooks: { PreToolUse: [matcher], Stop: [{ hooks: [own] }] } };
    const before = structuredClone({ ...options, hooks: undefined });
    const seen = observe();
    const { process } = await turn(
      async (sdk) => {
        const answers = await sdk.before("t1", "Bash", INPUT);
        expect(answers).toEqual([{ systemMessage: "mine" }, {}]);
        await sdk.after("t1", "Bash", "gone");
        expect(await sdk.hook("Stop", {})).toEqual([{ systemMessage: "mine" }]);
      },
      seen,
      options,
    );
    expect(calledWith).toHaveLength(2);
    expect(options.hooks.PreToolUse).toEqual([matcher]);
    expect({ ...options, hooks: undefined }).toEqual(before);
    expect(process?.params.options?.hooks?.PreToolUse?.[0]).toMatchObject({
      matcher: "Bash",
      timeout: 9,
    });
    expect(calls(seen)).toEqual(["tool_start Bash t1", "tool_complete Bash t1"]);
  });

  it("that throw still throw", async () => {
    const seen = observe();
    const hooks = { PreToolUse: [{ hooks: [() => Promise.reject(new Error("mine"))] }] };
    await turn(
      async (sdk) => {
        await expect(sdk.before("t1", "Bash", INPUT)).rejects.toThrow("mine");
        await sdk.after("t1", "Bash", "gone");
      },
      seen,
      { hooks },
    );
    expect(calls(seen)).toEqual(["tool_start Bash t1", "tool_complete Bash t1"]);
  });

  const output = (specific: object) => async () => ({ hookSpecificOutput: specific });

  it.each([
    ["PreToolUse", { permissionDecision: "deny", permissionDecisionReason: "rule" }],
    ["PermissionRequest", { decision: { behavior: "deny", message: "rule" } }],
  ])("%s denies: a rule", async (event, specific) => {
    const seen = observe();
    await turn(
      async (sdk) => {
        await sdk.before("t1", "Bash", INPUT);
        if (event === "PermissionRequest") {
          const { tool_use_id: _, ...request } = CALL;
          await sdk.hook("PermissionRequest", request, "t1");
        }
        sdk.send(failed("t1", "rule"));
      },
      seen,
      { hooks: { [event]: [{ hooks: [output(specific)] }] } },
    );
    expect(calls(seen)).toEqual(["tool_call_denied Bash t1"]);
    expect(decisions(seen)).toEqual([
      { type: "tool_call_denied", id: "t1", outcome: "denied", by: "policy" },
    ]);
    expect(seen.of("tool_call_denied")[0]?.event.reason).toBe("rule");
  });

  it.each([
    ["PreToolUse", { permissionDecision: "allow", updatedInput: { command: "cat a" } }],
    ["PermissionRequest", { decision: { behavior: "allow", updatedInput: { command: "cat a" } } }],
  ])("%s allows another input: a rule that edits", async (event, specific) => {
    const seen = observe();
    await turn(
      async (sdk) => {
        await sdk.before("t1", "Bash", INPUT);
        if (event === "PermissionRequest") {
          await sdk.hook("PermissionRequest", { tool_name: "Bash", tool_input: INPUT }, "t1");
        }
        await sdk.after("t1", "Bash", "shown");
      },
      seen,
      { hooks: { [event]: [{ hooks: [output(specific)] }] } },
    );
    expect(decisions(seen)).toMatchObject([
      { id: "t1", outcome: "edited", by: "policy", proposed_input: INPUT },
    ]);
    expect(seen.of("tool_start")[0]?.event.input).toEqual({ command: "cat a" });
  });

  it("that deny are one denial, whatever else reports it", async () => {
    const seen = observe();
    const { tool_use_id, tool_name } = CALL;
    const denied = { type: "system", subtype: "permission_denied", message: "rule" };
    await turn(
      async (sdk) => {
        // The hook of the application answers before ours is called.
        await sdk.before("t1", "Bash", INPUT);
        await sdk.before("t1", "Bash", INPUT);
        sdk.send({ ...denied, tool_use_id, tool_name }, failed("t1", "rule"));
      },
      seen,
      { hooks: { PreToolUse: [{ hooks: [output({ permissionDecision: "deny" })] }] } },
    );
    expect(calls(seen)).toEqual(["tool_call_denied Bash t1"]);
  });

  it("older ones block with a word of their own", async () => {
    const seen = observe();
    await turn(
      async (sdk) => {
        await sdk.before("t1", "Bash", INPUT);
        sdk.send(failed("t1", "blocked"));
      },
      seen,
      { hooks: { PreToolUse: [{ hooks: [async () => ({ decision: "block", reason: "old" })] }] } },
    );
    expect(seen.of("tool_call_denied")[0]?.event.reason).toBe("old");
  });

  it("PermissionRequest without an ID makes a decision that names no call", async () => {
    const seen = observe();
    await turn(
      async (sdk) => {
        await sdk.before("t1", "Bash", INPUT);
        await sdk.hook("PermissionRequest", { tool_name: "Bash", tool_input: INPUT });
        sdk.send(failed("t1", "rule"));
      },
      seen,
      {
        hooks: {
          PermissionRequest: [
            { hooks: [output({ decision: { behavior: "deny", message: "r" } })] },
          ],
        },
      },
    );
    expect(decisions(seen)).toEqual([
      { type: "tool_call_denied", id: "", outcome: "denied", by: "policy" },
    ]);
  });

  it("PermissionRequest that leaves it to canUseTool decides nothing", async () => {
    const seen = observe();
    let answer: (value: unknown) => void = () => {};
    await turn(
      async (sdk) => {
        await sdk.before("t1", "Bash", INPUT);
        const asked = sdk.ask("t1", "Bash", INPUT);
        await sdk.hook("PermissionRequest", { tool_name: "Bash", tool_input: INPUT }, "t1");
        expect(calls(seen)).toEqual([]);
        answer({ behavior: "allow" });
        await asked;
        await sdk.after("t1", "Bash", "gone");
      },
      seen,
      {
        canUseTool: () => new Promise((resolve) => (answer = resolve)),
        hooks: { PermissionRequest: [{ hooks: [async () => ({})] }] },
      },
    );
    expect(calls(seen)).toEqual([
      "tool_call_approved Bash t1",
      "tool_start Bash t1",
      "tool_complete Bash t1",
    ]);
  });
});

describe("rules of the SDK", () => {
  const denied = { type: "system", subtype: "permission_denied", message: "rule" };

  it.each([
    ["a message", { ...denied, tool_use_id: "t1", tool_name: "Bash" }],
    [
      "the result of the call",
      failed("t1", "rule", {
        tool_result_meta: [{ id: "t1", permission_decision: { decision: "reject" } }],
      }),
    ],
  ])("deny, as %s says", async (_, message) => {
    const seen = observe();
    await turn(async (sdk) => {
      await sdk.before("t1", "Bash", INPUT);
      sdk.send(message, failed("t1", "rule"));
    }, seen);
    expect(calls(seen)).toEqual(["tool_call_denied Bash t1"]);
    expect(seen.of("tool_call_denied")[0]?.event.reason).toBe("rule");
    expect(decisions(seen)).toMatchObject([{ by: "policy", outcome: "denied" }]);
  });

  it("deny, as the hook of the classifier says", async () => {
    const seen = observe();
    await turn(async (sdk) => {
      await sdk.before("t1", "Bash", INPUT);
      await sdk.hook("PermissionDenied", { ...CALL, reason: "dangerous" });
      sdk.send(failed("t1", "dangerous"));
    }, seen);
    expect(calls(seen)).toEqual(["tool_call_denied Bash t1"]);
  });

  it("deny, as the result of the run says at last", async () => {
    const seen = observe();
    await play(seen, async (sdk) => {
      await sdk.prompt("hi");
      await sdk.before("t1", "Bash", INPUT);
      sdk.send(result("done", { permission_denials: [CALL] }));
    });
    expect(calls(seen)).toEqual(["tool_call_denied Bash t1"]);
  });
});

describe("a decision that comes late", () => {
  it("denies a call that seemed to have begun: the call is cancelled", async () => {
    const seen = observe();
    await turn(async (sdk) => {
      await sdk.before("t1", "Bash", INPUT);
      // What is known to happen in a call shows that it has begun.
      sdk.send({ type: "tool_progress", tool_use_id: "t1", tool_name: "Bash" });
      await sdk.hook("PermissionDenied", { ...CALL, reason: "dangerous" });
      sdk.send(failed("t1", "dangerous"));
    }, seen);
    expect(calls(seen)).toEqual([
      "tool_start Bash t1",
      "tool_error Bash t1 cancelled",
      "tool_call_denied Bash t1",
    ]);
  });

  it("holds back what happens meanwhile, in its order", async () => {
    const seen = observe();
    await turn(async (sdk) => {
      await sdk.before("t1", "Bash", INPUT);
      sdk.send(says("m1", text("meanwhile")));
      await sdk.before("t2", "Read", {});
      await sdk.after("t2", "Read", "text");
      expect(calls(seen)).toEqual([]);
      await sdk.hook("PermissionDenied", { ...CALL, reason: "no" });
      expect(calls(seen)).toEqual([
        "tool_start Read t2",
        "tool_complete Read t2",
        "tool_call_denied Bash t1",
      ]);
      sdk.send(failed("t1", "no"));
    }, seen);
    const times = seen.told.map(({ envelope }) => Number(envelope.sequence));
    expect(times).toEqual([...times].sort((a, b) => a - b));
  });

  it("is not waited for longer than a moment", async () => {
    const seen = observe();
    await turn(async (sdk) => {
      await sdk.before("t1", "Bash", INPUT);
      await expect.poll(() => calls(seen), { timeout: 5_000 }).toEqual(["tool_start Bash t1"]);
      await sdk.after("t1", "Bash", "gone");
    }, seen);
    expect(calls(seen)).toEqual(["tool_start Bash t1", "tool_complete Bash t1"]);
  });
});

describe("a call that is deferred", () => {
  it("pauses the run: no failure; the next query is linked to it", async () => {
    const seen = observe();
    const deferred = { id: "t1", name: "Bash", input: INPUT };
    const more = { terminal_reason: "tool_deferred", deferred_tool_use: deferred };
    const { process } = await play(seen, async (sdk) => {
      await sdk.prompt("hi");
      await sdk.before("t1", "Bash", INPUT);
      sdk.send(result("", more));
    });
    expect(seen.lines()).toEqual([
      "started claude",
      "tool_start Bash t1",
      "interrupted approval_pending",
    ]);
    expect(seen.tree()).toEqual([
      "invoke_agent claude interrupted",
      "  execute_tool Bash interrupted",
    ]);
    const resume = process?.sessionId ?? "";
    await play(seen, async (sdk) => sdk.send(result("done")), { options: { resume } });
    const [first, second] = seen.of("started");
    expect(second?.envelope.resumed_from_run_id).toBe(first?.event.run_id);
    expect(second?.envelope.thread_id).toBe(resume);
  });
});

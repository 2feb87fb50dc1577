import { describe, expect, it } from "vitest";
import { claudeAgent } from "../../../src/entries/claude-agent.ts";
import { observe, play, prompts } from "./observed.ts";
import {
  failed,
  INIT,
  result,
  resultError,
  type ScriptedProcess,
  says,
  scripted,
  text,
  uses,
} from "./scripted-sdk.ts";

const forever = () => new Promise<void>(() => {});

/** Asks for a call that never ends. */
async function hangs(sdk: ScriptedProcess): Promise<void> {
  await sdk.prompt("hi");
  sdk.send(says("m1", uses("t1", "Bash")));
  await sdk.before("t1", "Bash", {});
  sdk.send(says("m1", text("more")));
  await forever();
}

describe("a reader", () => {
  it("that leaves cancels the run, and ends the SDK's stream", async () => {
    const seen = observe();
    const { processes, query } = scripted(hangs);
    for await (const message of seen.agent.query(query, { prompt: "hi" })) {
      if (JSON.stringify(message).includes("more")) break;
    }
    expect(seen.lines().slice(-3)).toEqual([
      "tool_error Bash t1 cancelled",
      "model_complete claude-sonnet-4-5",
      "failed cancelled: operation cancelled",
    ]);
    expect(processes[0]?.closes).toBe(1);
    expect(seen.ended().every((times) => times === 1)).toBe(true);
  });

  it("that leaves after the result changes nothing", async () => {
    const seen = observe();
    const { query } = scripted(async (sdk) => {
      await sdk.prompt("hi");
      sdk.send(result("ok"));
      await forever();
    });
    for await (const message of seen.agent.query(query, { prompt: "hi" })) {
      if (message.type === "result") break;
    }
    expect(seen.lines()).toEqual(["started claude", "complete"]);
  });

  it("that throws cancels the run, and gets its own error", async () => {
    const seen = observe();
    const { query } = scripted(hangs);
    const read = async () => {
      for await (const _ of seen.agent.query(query, { prompt: "hi" })) throw new Error("mine");
    };
    await expect(read()).rejects.toThrow("mine");
    expect(seen.lines().at(-1)).toBe("failed cancelled: operation cancelled");
  });

  it("that is slow does not change when things happened", async () => {
    const seen = observe();
    const { query } = scripted(async (sdk) => {
      for (const said of ["one", "two"]) {
        await sdk.prompt(said);
        await sdk.tool(`t-${said}`, "Bash", {}, said);
        sdk.send(result(said));
      }
    });
    const stream = seen.agent.query(query, { prompt: prompts() });
    await expect.poll(() => seen.of("complete").length).toBe(2);
    const types: unknown[] = [];
    for await (const { type } of stream) types.push(type);
    expect(types).toEqual(["system", "user", "result", "system", "user", "result"]);
    expect(seen.lines()).toEqual([
      ...["started claude", "tool_start Bash t-one", "tool_complete Bash t-one", "complete"],
      ...["started claude", "tool_start Bash t-two", "tool_complete Bash t-two", "complete"],
    ]);
  });

  it("gets the error of the stream behind the messages, once", async () => {
    const seen = observe();
    const { query } = scripted(async (sdk) => {
      sdk.send(INIT);
      throw new Error("gone");
    });
    const stream = seen.agent.query(query, { prompt: "hi" });
    expect((await stream.next()).value).toMatchObject({ subtype: "init" });
    await expect(stream.next()).rejects.toThrow("gone");
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  it("that reads ahead gets the messages in order", async () => {
    const seen = observe();
    const { query } = scripted(async (sdk) => sdk.send(INIT, result("ok")));
    const stream = seen.agent.query(query, { prompt: "hi" });
    const read = await Promise.all([stream.next(), stream.next(), stream.next()]);
    expect(read.map(({ value }) => value?.type)).toEqual(["system", "result", undefined]);
  });
});

describe("the returned query", () => {
  it("has the methods of the SDK's", async () => {
    const seen = observe();
    const { processes, query } = scripted(hangs);
    const stream = seen.agent.query(query, { prompt: "hi" });
    expect(await stream.setPermissionMode("plan")).toEqual({
      mode: `plan of ${processes[0]?.sessionId}`,
    });
    expect(await stream.interrupt()).toEqual({ still_queued: [] });
    expect(processes[0]?.interrupts).toBe(1);
    stream.close();
    expect(processes[0]?.closes).toBe(1);
    expect(seen.lines().at(-1)).toBe("failed cancelled: operation cancelled");
  });

  it("ends with `await using`", async () => {
    const seen = observe();
    const { processes, query } = scripted(hangs);
    const stream = seen.agent.query(query, { prompt: "hi" });
    await stream[Symbol.asyncDispose]();
    expect(processes[0]?.closes).toBe(1);
    expect(seen.of("failed")).toHaveLength(1);
  });
});

describe("interrupt()", () => {
  it("cancels the run and its calls, and the next prompt is a run of its own", async () => {
    const seen = observe();
    let go: () => void = () => {};
    const interrupted = new Promise<void>((resolve) => (go = resolve));
    const { query } = scripted(async (sdk) => {
      await sdk.prompt("one");
      sdk.send(says("m1", uses("t1", "Bash")));
      await sdk.before("t1", "Bash", {});
      sdk.send({ type: "tool_progress", tool_use_id: "t1", tool_name: "Bash" });
      await interrupted;
      sdk.send(failed("t1", "The user doesn't want to proceed"));
      sdk.send(resultError("error_during_execution", ["[ede_diagnostic]"]));
      await sdk.prompt("two");
      sdk.send(says("m2", text("two")), result("two"));
    });
    const stream = seen.agent.query(query, { prompt: prompts() });
    for await (const { type } of stream) {
      if (type !== "tool_progress") continue;
      await stream.interrupt();
      go();
    }
    expect(seen.tree()).toEqual([
      "invoke_agent claude failed cancelled !",
      "  chat claude-sonnet-4-5 complete",
      "  execute_tool Bash cancelled",
      "invoke_agent claude complete",
      "  chat claude-sonnet-4-5 complete",
    ]);
  });

  it("in the middle of an answer cancels the model call that gave it", async () => {
    const seen = observe();
    const { query } = scripted(async (sdk) => {
      await sdk.prompt("one");
      sdk.send(says("m1", text("whole")), says("m2", text("ha"), { aborted: true }));
      await sdk.settle();
      await stream.interrupt();
      const ending = { terminal_reason: "aborted_streaming" };
      sdk.send(resultError("error_during_execution", ["it stopped"], ending));
    });
    const stream = seen.agent.query(query, { prompt: prompts() });
    for await (const _ of stream);
    expect(seen.tree()).toEqual([
      "invoke_agent claude failed cancelled !",
      "  chat claude-sonnet-4-5 complete",
      "  chat claude-sonnet-4-5 error !",
    ]);
    const [cut] = seen.of("model_error");
    expect(cut?.event).toMatchObject({ kind: { type: "cancelled" }, response_id: "m2" });
  });

  it("between two prompts cancels neither", async () => {
    const seen = observe();
    const { query } = scripted(async (sdk) => {
      await sdk.prompt("one");
      sdk.send(result("one"));
      await sdk.settle();
      await stream.interrupt();
      await sdk.prompt("two");
      sdk.send(resultError("error_during_execution", ["it broke"]));
    });
    const stream = seen.agent.query(query, { prompt: prompts() });
    for await (const _ of stream);
    expect(seen.lines()).toContain("failed unclassified: it broke");
  });
});

describe("an abort controller", () => {
  it.each([
    ["a user", undefined, "failed cancelled: operation cancelled"],
    [
      "a timeout",
      new DOMException("late", "TimeoutError"),
      "failed deadline_exceeded: deadline exceeded",
    ],
  ])("by %s ends the run", async (_, reason, line) => {
    const seen = observe();
    const abortController = new AbortController();
    const { query } = scripted(hangs);
    const read = async () => {
      for await (const message of seen.agent.query(query, {
        prompt: "hi",
        options: { abortController },
      })) {
        if (JSON.stringify(message).includes("more")) abortController.abort(reason);
      }
    };
    await expect(read()).rejects.toThrow("aborted by user");
    expect(seen.lines().at(-1)).toBe(line);
    expect(seen.of("tool_error")[0]?.event.envelope.cancelled).toBe(true);
  });

  it("ends it, too, where the process tells of a failed call and a result before it stops", async () => {
    const seen = observe();
    const abortController = new AbortController();
    const script = async (sdk: ScriptedProcess) => {
      await sdk.prompt("hi");
      sdk.send(says("m1", uses("t1", "mcp__shop__look")));
      await sdk.before("t1", "mcp__shop__look", {});
      sdk.send(failed("t1", "The tool call was interrupted"), result("done"));
      abortController.abort();
    };
    await play(seen, script, { options: { abortController } });
    expect(seen.of("tool_error")[0]?.event.envelope.cancelled).toBe(true);
    expect(seen.lines().at(-1)).toBe("failed cancelled: operation cancelled");
  });
});

describe("two queries at once", () => {
  it("of two tenants have a trace each, without content of the other", async () => {
    const seen = observe({ tenant: ({ customer }) => String(customer) });
    const script = (name: string) => async (sdk: ScriptedProcess) => {
      await sdk.prompt(`asked by ${name}`);
      sdk.send(says("m1", uses("t1", "Bash", { of: name })));
      await sdk.before("t1", "Bash", { of: name });
      await sdk.settle();
      await sdk.after("t1", "Bash", `done for ${name}`);
      sdk.send(result(`answer for ${name}`));
    };
    const names = ["acme", "globex"];
    await Promise.all(
      names.map((customer) => play(seen, script(customer), {}, { metadata: { customer } })),
    );
    for (const name of names) {
      const other = names.find((each) => each !== name) ?? "";
      const own = seen.told.filter(({ event }) => event.tenant_id === name);
      expect(own.map(({ event }) => event.type)).toEqual([
        ...["started", "model_start", "tool_start", "tool_complete", "model_complete", "complete"],
      ]);
      expect(JSON.stringify(own)).not.toContain(other);
      expect(new Set(own.map(({ event }) => event.run_id)).size).toBe(1);
    }
    expect(new Set(seen.spans().map((span) => span.spanContext().traceId)).size).toBe(2);
  });
});

describe("an error of ours", () => {
  it("of what the SDK gives does not reach it", async () => {
    const seen = observe();
    const odd = new Proxy(
      {},
      {
        get(_, name) {
          if (name === "then") return undefined;
          throw new Error("odd");
        },
      },
    );
    const { messages } = await play(seen, async (sdk) => {
      await sdk.prompt("hi");
      sdk.send({ type: "assistant", message: odd }, { type: 7 }, { type: "user", message: null });
      expect(await sdk.hook("PreToolUse", { tool_name: odd })).toEqual([{}]);
      sdk.send(result("ok"));
    });
    expect(messages).toHaveLength(5);
    expect(seen.lines().at(-1)).toBe("complete");
    expect(seen.agent.counts.faults).toBe(1);
  });

  it("in an option is named where it is given", () => {
    const sink = { send: () => {} };
    // @ts-expect-error: what a program without types may give
    expect(() => claudeAgent({ tenant: "acme" })).toThrow("sink: expected");
    expect(() => claudeAgent({ sink, tenant: "" })).toThrow("tenant: expected");
    // @ts-expect-error: likewise
    expect(() => claudeAgent({ sink, tenant: "a", permissionsBy: "x" })).toThrow("permissionsBy");
    expect(() => claudeAgent({ sink, tenant: "a", limits: { openCalls: 0 } })).toThrow(RangeError);
  });
});

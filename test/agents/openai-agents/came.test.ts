import {
  Agent,
  getCurrentSpan,
  run,
  setTraceProcessors,
  setTracingDisabled,
  tool,
} from "@openai/agents-core";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { OpenAIAgentsProcessor } from "../../../src/agents/openai-agents/openai-agents-processor.ts";
import type { ToolError } from "../../../src/entries/events.ts";
import type { IsFailure } from "../../../src/entries/runtime.ts";
import type { AgentEvent } from "../../../src/index.ts";
import { asks, ScriptedModel, says } from "./scripted-model.ts";

/** The events of an agent whose one tool does this, in its span; the SDK shows its errors to the model. */
async function told(
  work: () => unknown,
  around: (inside: () => unknown) => unknown = (inside) => inside(),
  isFailure?: IsFailure,
): Promise<readonly AgentEvent[]> {
  const events: AgentEvent[] = [];
  const sink = { send: (event: AgentEvent) => void events.push(event) };
  const processor = new OpenAIAgentsProcessor({ sink, tenant: "acme", isFailure });
  setTracingDisabled(false);
  setTraceProcessors([processor]);
  const look = tool({
    name: "look",
    description: "looks",
    parameters: z.object({}),
    execute: async () => around(() => processor.withSpan(getCurrentSpan(), work)),
  });
  const model = new ScriptedModel([[asks("look")], [says("done")]]);
  await run(new Agent({ name: "support", tools: [look], model }), "hi");
  await processor.forceFlush();
  return events;
}

const errorsIn = (events: readonly AgentEvent[]): readonly ToolError[] =>
  events.filter((event) => event.type === "tool_error");

const refused = Object.assign(new Error("no way"), { code: "ECONNREFUSED" });

describe("what withSpan sees of a call", () => {
  it("classifies the error that was thrown, and not its text", async () => {
    const error = new Error("step 2 failed", { cause: refused });
    const events = await told(async () => {
      throw error;
    });
    expect(errorsIn(events)).toMatchObject([
      { error: "step 2 failed", kind: "transient", envelope: { wire_code: "transport_failure" } },
    ]);
  });

  it("takes an error that the tool's code caught for none of the call", async () => {
    const events = await told(
      () => {
        throw refused;
      },
      (inside) => {
        try {
          return inside();
        } catch {
          throw new Error("something else");
        }
      },
    );
    expect(errorsIn(events)).toMatchObject([
      { error: "something else", kind: "internal", envelope: { wire_code: "unclassified" } },
    ]);
  });

  it("counts a result that says that the call failed", async () => {
    const result = { isError: true, content: [{ type: "text", text: "no such index" }] };
    expect(errorsIn(await told(async () => result))).toMatchObject([
      {
        error_for_llm: "no such index",
        kind: "internal",
        envelope: { wire_code: "tool_result_error" },
      },
    ]);
  });

  it("judges what the SDK was given, where the code made something else of the result", async () => {
    const seen: unknown[] = [];
    const isFailure: IsFailure = (result) => {
      seen.push(result);
      return undefined;
    };
    const result = { isError: true, content: [] };
    const events = await told(
      () => result,
      (inside) => {
        inside();
        return "recovered";
      },
      isFailure,
    );
    expect([errorsIn(events), seen]).toEqual([[], ["recovered"]]);
  });
});

describe("a tool that still works when its run ends", () => {
  it("is cancelled, and did not fail", async () => {
    const events: AgentEvent[] = [];
    const sink = { send: (event: AgentEvent) => void events.push(event) };
    const processor = new OpenAIAgentsProcessor({ sink, tenant: "acme" });
    setTracingDisabled(false);
    setTraceProcessors([processor]);
    let finish = () => {};
    const finished = new Promise<string>((resolve) => {
      finish = () => resolve("late");
    });
    const shared = { parameters: z.object({}), errorFunction: null };
    const fails = tool({
      ...shared,
      name: "fails",
      description: "fails",
      execute: () => Promise.reject(new Error("no way")),
    });
    const slow = tool({ ...shared, name: "slow", description: "slow", execute: () => finished });
    const model = new ScriptedModel([[asks("slow"), asks("fails")]]);
    await run(new Agent({ name: "support", tools: [slow, fails], model }), "hi").catch(() => {});
    finish();
    await processor.forceFlush();
    expect(errorsIn(events).map(({ tool, envelope }) => [tool, envelope.cancelled])).toEqual([
      ["fails", undefined],
      ["slow", true],
    ]);
    expect(events.filter(({ type }) => type === "tool_complete")).toEqual([]);
    expect(events.at(-1)).toMatchObject({
      type: "failed",
      kind: { type: "tool_error_terminal", tool_name: "fails" },
    });
  });
});

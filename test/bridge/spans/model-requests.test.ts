import { describe, expect, it } from "vitest";
import type { ModelComplete, ModelParameters, ModelStart } from "../../../src/entries/events.ts";
import { bench, RunEvents } from "../../support/run-events.ts";

const RUN = "018f3c7a-0000-7000-8000-000000000002";
const run = new RunEvents(RUN);

const PARAMETERS: ModelParameters = {
  temperature: 0.2,
  top_p: 0.9,
  top_k: 40,
  max_tokens: 512,
  frequency_penalty: -0.5,
  presence_penalty: 0.25,
  seed: -7,
  choice_count: 3,
  stop_sequences: ["END", "\n\n"],
  stream: true,
  tool_choice: "refund",
  reasoning_effort: "high",
};

const ASKED = {
  provider: "anthropic",
  server_address: "api.anthropic.com",
  server_port: 443,
  parameters: PARAMETERS,
};

const SHOWN = {
  "gen_ai.provider.name": "anthropic",
  "server.address": "api.anthropic.com",
  "server.port": 443,
  "gen_ai.request.temperature": 0.2,
  "gen_ai.request.top_p": 0.9,
  "gen_ai.request.top_k": 40,
  "gen_ai.request.max_tokens": 512,
  "gen_ai.request.frequency_penalty": -0.5,
  "gen_ai.request.presence_penalty": 0.25,
  "gen_ai.request.seed": -7,
  "gen_ai.request.choice.count": 3,
  "gen_ai.request.stop_sequences": ["END", "\n\n"],
  "gen_ai.request.stream": true,
  "gen_ai.request.reasoning.level": "high",
  "entelix.request.tool_choice": "refund",
};

/** Attributes of the one chat span, without those that every one has. */
function chatAttributes(start: Partial<ModelStart>, end: Partial<ModelComplete> = {}) {
  const test = bench();
  test.at(0, run.started());
  test.at(1, run.modelStart("m1", start));
  test.at(2, run.modelComplete("m1", end));
  test.at(3, run.complete());
  const { attributes } = test.find("chat small-1");
  const {
    "gen_ai.operation.name": _operation,
    "gen_ai.agent.name": _agent,
    "gen_ai.request.model": _model,
    "entelix.run_id": _run,
    "entelix.tenant_id": _tenant,
    "entelix.model.call_id": _call,
    "entelix.model.outcome": _outcome,
    ...rest
  } = attributes;
  return rest;
}

describe("what a model was asked with", () => {
  it("stands on its span, whether the start says it or only the end", () => {
    expect(chatAttributes(ASKED)).toEqual(SHOWN);
    expect(chatAttributes({}, ASKED)).toEqual(SHOWN);
  });

  it("is nothing where nobody says it", () => {
    expect(chatAttributes({})).toEqual({});
    const none = Object.fromEntries(Object.keys(PARAMETERS).map((name) => [name, null]));
    const nothing = { provider: null, server_address: null, server_port: null, parameters: none };
    expect(chatAttributes(nothing, nothing)).toEqual({});
  });

  it("is not repeated where it is what it is without being asked for", () => {
    expect(chatAttributes({ parameters: { stream: false, choice_count: 1 } })).toEqual({});
  });

  it("counts as absent where it is no such value, and no port stands without a host", () => {
    const parameters: object = {
      temperature: Number.NaN,
      top_p: "0.9",
      top_k: 2.5,
      max_tokens: Number.POSITIVE_INFINITY,
      seed: 2 ** 60,
      stop_sequences: [1, null],
      stream: "true",
      tool_choice: { type: "function" },
      reasoning_effort: "",
    };
    expect(chatAttributes({ parameters, server_port: 80 })).toEqual({});
    const wrong: object = { server_address: "h", server_port: 70_000, parameters: "none" };
    expect(chatAttributes(wrong)).toEqual({ "server.address": "h" });
  });

  it("shows at most 32 stop sequences", () => {
    const stop_sequences = Array.from({ length: 40 }, (_, n) => `stop ${n}`);
    expect(chatAttributes({ parameters: { stop_sequences } })).toEqual({
      "gen_ai.request.stop_sequences": stop_sequences.slice(0, 32),
    });
  });
});

describe("agent, conversation and tool", () => {
  it("stand on the spans of calls, the conversation only where the run has a thread", () => {
    for (const thread_id of ["th-1", undefined]) {
      const test = bench();
      const envelope = thread_id === undefined ? {} : { thread_id };
      test.at(0, run.started("support"), envelope);
      test.at(1, run.modelStart("m1"), envelope);
      test.at(2, run.modelComplete("m1"), envelope);
      test.at(3, run.toolStart("c1", "fetch"), {
        ...envelope,
        details: { tool_description: "Fetches a page." },
      });
      test.at(4, run.toolComplete("c1", "fetch"), envelope);
      test.at(5, run.complete(), envelope);
      for (const name of ["chat small-1", "execute_tool fetch"]) {
        const { attributes } = test.find(name);
        expect(attributes["gen_ai.agent.name"]).toBe("support");
        expect(attributes["gen_ai.conversation.id"]).toBe(thread_id);
      }
      const tool = test.find("execute_tool fetch").attributes;
      expect(tool["gen_ai.tool.description"]).toBe("Fetches a page.");
    }
  });

  it("are there also where the run's start comes after the call", () => {
    const test = bench();
    test.at(1, run.modelStart("m1"));
    test.at(0, run.started("support"), { thread_id: "th-1" });
    test.at(2, run.modelComplete("m1"));
    test.at(3, run.complete());
    expect(test.find("chat small-1").attributes).toMatchObject({
      "gen_ai.agent.name": "support",
      "gen_ai.conversation.id": "th-1",
    });
  });

  it("a description is text, and cut at 4,096 characters", () => {
    const test = bench();
    const wrong: object = { tool_description: 5 };
    test.at(0, run.started());
    test.at(1, run.toolStart("c1", "a"), { details: { tool_description: "x".repeat(5_000) } });
    test.at(1, run.toolStart("c2", "b"), { details: wrong });
    test.at(2, run.complete());
    const description = "gen_ai.tool.description";
    expect(test.find("execute_tool a").attributes[description]).toBe("x".repeat(4_096));
    expect(test.find("execute_tool b").attributes[description]).toBeUndefined();
  });
});

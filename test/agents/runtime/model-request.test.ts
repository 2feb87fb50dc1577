import { describe, expect, it } from "vitest";
import { parametersIn } from "../../../src/agents/runtime/model-parameters.ts";
import { runAgent } from "../../../src/agents/runtime/run-agent.ts";
import { serverOf } from "../../../src/agents/runtime/server-address.ts";
import type { ModelParameters } from "../../../src/entries/events.ts";
import { rejection, Told } from "./said.ts";

const base = { agent: "support", tenant: "acme", runId: "r" };

describe("what a model is asked with", () => {
  it("is in the event of its start", async () => {
    const sink = new Told();
    const parameters: ModelParameters = { temperature: 0, stop_sequences: ["END"], stream: true };
    const options = { parameters, serverAddress: "http://localhost:11434/v1" };
    await runAgent({ sink, ...base }, (run) => run.model("small-1", options, () => "hi"));
    expect(sink.only("model_start")).toMatchObject({
      server_address: "localhost",
      server_port: 11434,
      parameters,
    });
  });

  it("may be embeddings", async () => {
    const sink = new Told();
    const options = { operation: "embeddings", parameters: { dimension_count: 3 } } as const;
    await runAgent({ sink, ...base }, (run) =>
      run.model("vector-1", options, (call) => {
        call.report({ usage: { input_tokens: 4 } });
        return [1, 2, 3];
      }),
    );
    expect(sink.only("model_start")).toMatchObject(options);
    expect(sink.only("model_complete")).toMatchObject({
      operation: "embeddings",
      usage: { input_tokens: 4 },
    });
  });

  it("is refused where it is of another type", async () => {
    const wrong: object[] = [
      { parameters: "hot" },
      { parameters: null },
      { serverAddress: 80 },
      { operation: "rerank" },
    ];
    const errors: unknown[] = [];
    for (const options of wrong) {
      const run = runAgent({ sink: new Told(), ...base }, (agent) =>
        agent.model("small-1", options, () => "hi"),
      );
      errors.push((await rejection(run)) as Error);
    }
    expect(errors.map((error) => (error as Error).message)).toEqual([
      "model small-1: expected parameters to be an object, got string",
      "model small-1: expected parameters to be an object, got null",
      "model small-1: expected serverAddress to be a text, got number",
      'model small-1: operation: expected chat or embeddings, got "rerank"',
    ]);
  });
});

describe("parameters", () => {
  it("that are no such values are left out", () => {
    const given = {
      temperature: "hot",
      top_p: Number.NaN,
      top_k: 40,
      seed: null,
      stop_sequences: ["a", 1],
      stream: "yes",
      tool_choice: {},
      reasoning_effort: "high",
      other: 1,
    };
    expect(parametersIn(given)).toEqual({
      top_k: 40,
      stop_sequences: ["a"],
      reasoning_effort: "high",
    });
    for (const none of [{}, null, "text", { stop_sequences: [1] }]) {
      expect(parametersIn(none)).toBeUndefined();
    }
  });

  it("are bounded, and reading them never throws", () => {
    const many = Array.from({ length: 40 }, () => "x".repeat(300));
    const found = parametersIn({ stop_sequences: many, tool_choice: "y".repeat(300) });
    expect(found?.stop_sequences).toEqual(Array(32).fill("x".repeat(256)));
    expect(found?.tool_choice).toBe("y".repeat(256));
    expect(parametersIn({ stop_sequences: "END" })).toEqual({ stop_sequences: ["END"] });
    const hostile = new Proxy(
      {},
      {
        get: () => {
          throw new Error("no");
        },
      },
    );
    expect(parametersIn(hostile)).toBeUndefined();
  });
});

describe("the address of a server", () => {
  it.each([
    ["api.openai.com", { server_address: "api.openai.com" }],
    ["localhost:11434", { server_address: "localhost", server_port: 11434 }],
    ["[::1]:8080", { server_address: "::1", server_port: 8080 }],
    ["https://api.openai.com/v1", { server_address: "api.openai.com", server_port: 443 }],
    ["http://user:secret@h/v1?key=k", { server_address: "h", server_port: 80 }],
    ["https://[2001:db8::1]:9/x", { server_address: "2001:db8::1", server_port: 9 }],
    ["host:99999", { server_address: "host" }],
    ["user:secret@host", {}],
    ["host/path", {}],
    ["https://", {}],
    ["", {}],
    [undefined, {}],
    [5, {}],
  ])("of %s is %o", (given, server) => {
    expect(serverOf(given)).toEqual(server);
  });
});

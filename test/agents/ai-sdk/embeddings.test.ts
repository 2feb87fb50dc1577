import { describe, expect, it } from "vitest";
import type { AiSdkTelemetry } from "../../../src/entries/ai-sdk.ts";
import { runAgent } from "../../../src/entries/runtime.ts";
import { asks, FakeCall, listen, text } from "./fake-sdk.ts";
import { inSpan, listen6 } from "./fake-sdk-6.ts";

type Embeds = "ai.embed" | "ai.embedMany";

/** A chunk of values, and what its attempts answer: the tokens, or an error. */
interface Chunk {
  readonly values: readonly string[];
  readonly attempts: readonly (number | Error)[];
}

let ids = 0;
const MODEL = { provider: "openai.embedding", modelId: "vector-1" };
const BUSY = Object.assign(new Error("slow down"), { statusCode: 429 });

const answered = (values: readonly string[], tokens: number) => ({
  embeddings: values.map(() => [1, 2, 3]),
  usage: { tokens },
});

/** Calls the telemetry as `embed` and `embedMany` of the AI SDK 7.0.173 do, one chunk after another. */
async function embed7(
  telemetry: AiSdkTelemetry,
  operationId: Embeds,
  chunks: readonly Chunk[],
): Promise<void> {
  ids += 1;
  const callId = `embed-${ids}`;
  const of = { callId, functionId: "index", ...MODEL };
  const value = chunks.flatMap(({ values }) => values);
  await telemetry.onStart({ ...of, operationId, value, runtimeContext: {} });
  let last: unknown;
  for (const { attempts, values } of chunks) {
    for (const attempt of attempts) {
      ids += 1;
      const call = { ...of, embedCallId: `call-${ids}`, values, dimensions: 3 };
      telemetry.onEmbedStart(call);
      last = attempt;
      if (attempt instanceof Error) continue;
      telemetry.onEmbedEnd({ ...call, ...answered(values, attempt) });
    }
    if (last instanceof Error) break;
  }
  if (last instanceof Error) {
    telemetry.onError({ callId, error: last });
    throw last;
  }
  telemetry.onEnd({ ...of, operationId });
}

/** The same with the spans of 6.0.326. */
async function embed6(
  telemetry: AiSdkTelemetry,
  operationId: Embeds,
  chunks: readonly Chunk[],
): Promise<void> {
  const base = {
    "ai.model.provider": MODEL.provider,
    "ai.model.id": MODEL.modelId,
    "ai.telemetry.functionId": "index",
  };
  const shown = (values: readonly string[]) => values.map((value) => JSON.stringify(value));
  const all = shown(chunks.flatMap(({ values }) => values));
  await inSpan(telemetry.tracer, operationId, { ...base, "ai.values": all }, async () => {
    for (const { attempts, values } of chunks) {
      for (const [at, attempt] of attempts.entries()) {
        const attributes = { ...base, "ai.values": shown(values) };
        const work = async () => {
          if (attempt instanceof Error) throw attempt;
          return answered(values, attempt);
        };
        try {
          await inSpan(telemetry.tracer, `${operationId}.doEmbed`, attributes, work);
        } catch (error) {
          if (at === attempts.length - 1) throw error;
        }
      }
    }
  });
}

const VERSIONS = [
  { version: 7, embed: embed7, listen },
  { version: 6, embed: embed6, listen: listen6 },
];

describe.each(VERSIONS)("embeddings of the AI SDK $version", ({ embed, listen: hear, version }) => {
  it("outside any run are a run, with a model call for each chunk", async () => {
    const heard = hear({ price: ({ usage }) => String(usage.input_tokens) });
    const chunks = [
      { values: ["a", "b"], attempts: [20] },
      { values: ["c"], attempts: [10] },
    ];
    await embed(heard.telemetry, "ai.embedMany", chunks);
    expect(heard.types()).toEqual([
      "started",
      "model_start",
      "model_complete",
      "model_start",
      "model_complete",
      "complete",
    ]);
    const parts = (...texts: string[]) => texts.map((content) => ({ type: "text", content }));
    const { sentIn, ...started } = heard.ofType("started")[0] ?? {};
    expect(started).toMatchObject({ agent: "index", parent_run_id: null });
    expect(sentIn?.details?.input).toEqual([{ role: "user", parts: parts("a", "b", "c") }]);
    expect(heard.ofType("model_start")[0]).toMatchObject({
      operation: "embeddings",
      model: "vector-1",
      provider: "openai",
      input: [{ role: "user", parts: parts("a", "b") }],
    });
    expect(heard.ofType("model_complete")[0]).toMatchObject({
      operation: "embeddings",
      usage: { input_tokens: 20 },
      cost_usd: "20",
      parameters: { dimension_count: 3 },
    });
    expect(heard.ofType("complete")[0]?.usage).toMatchObject({ requests: 2, input_tokens: 30 });
    expect(heard.telemetry.counts.otherOperations).toBe(0);
  });

  it("in a tool are model calls of it, and count for its run and budget", async () => {
    const heard = hear({ price: () => "0.5" });
    const { sink, telemetry } = heard;
    const run = runAgent(
      { agent: "rag", sink, tenant: "acme", budget: { costUsd: "9" } },
      (agent) =>
        agent.tool("search", {}, () =>
          embed(telemetry, "ai.embed", [{ values: ["q"], attempts: [7] }]),
        ),
    );
    await run;
    expect(heard.types()).toEqual([
      "started",
      "tool_start",
      "model_start",
      "model_complete",
      "tool_complete",
      "complete",
    ]);
    const [started] = heard.ofType("started");
    const [model] = heard.ofType("model_start");
    expect(model?.run_id).toBe(started?.run_id);
    const [tool] = heard.ofType("tool_start");
    expect(model?.sentIn.details?.tool_use_id).toBe(tool?.tool_use_id);
    expect(heard.ofType("complete")[0]?.usage).toMatchObject({ input_tokens: 7, cost_usd: "0.5" });
  });

  it("in a tool of the SDK add to the usage of the agent", async () => {
    const heard = hear();
    const call = new FakeCall(heard.telemetry);
    await call.start();
    await call.tool(asks("search", "c1"), () =>
      embed(heard.telemetry, "ai.embed", [{ values: ["q"], attempts: [7] }]),
    );
    await call.finish([text("found")]);
    expect(heard.ofType("started")).toHaveLength(1);
    expect(heard.ofType("model_start")[0]?.sentIn.details?.tool_use_id).toBe("c1");
    expect(heard.ofType("complete")[0]?.usage).toMatchObject({ requests: 2, input_tokens: 17 });
  });

  it("are one call however often the SDK tries, also beside a chunk with equal values", async () => {
    const heard = hear();
    const chunks = [
      { values: ["a"], attempts: [BUSY, 1] },
      { values: ["a"], attempts: [2] },
    ];
    await embed(heard.telemetry, "ai.embedMany", chunks);
    await embed(heard.telemetry, "ai.embed", [{ values: ["a"], attempts: [BUSY, BUSY, 3] }]);
    const ends = heard
      .ofType("model_complete")
      .map(({ retries, usage }) => [usage?.input_tokens, retries]);
    expect(ends).toEqual([
      [1, 1],
      [2, undefined],
      [3, 2],
    ]);
    expect(heard.ofType("model_start")).toHaveLength(3);
    expect(heard.ofType("model_error")).toEqual([]);
  });

  it("that fail have the model as the origin, also in a run around them", async () => {
    const heard = hear();
    const chunks = [{ values: ["a"], attempts: [BUSY, BUSY] }];
    await expect(embed(heard.telemetry, "ai.embed", chunks)).rejects.toThrow("slow down");
    const failure = { kind: { type: "model_dispatch" }, envelope: { provider_status: 429 } };
    expect(heard.ofType("model_error")).toMatchObject([{ ...failure, retries: 1 }]);
    expect(heard.ofType("model_error")[0]?.operation).toBe("embeddings");
    expect(heard.ofType("failed")).toMatchObject([failure]);
    const { sink, telemetry } = heard;
    const run = runAgent({ agent: "rag", sink, tenant: "acme" }, () =>
      embed(telemetry, "ai.embed", chunks),
    );
    await expect(run).rejects.toThrow("slow down");
    expect(heard.ofType("failed")[1]).toMatchObject({ ...failure, error: "slow down" });
    expect(heard.ofType("failed")[1]?.envelope.origin).toBe("model");
    expect(heard.ofType("started").map(({ agent }) => agent)).toEqual(["index", "rag"]);
  });

  it("that are aborted are cancelled", async () => {
    const heard = hear();
    const stop = new DOMException("left", "AbortError");
    const chunks = [{ values: ["a"], attempts: [stop] }];
    await expect(embed(heard.telemetry, "ai.embed", chunks)).rejects.toBe(stop);
    expect(heard.ofType("model_error")[0]?.kind).toEqual({ type: "cancelled" });
    expect(heard.ofType("failed")[0]?.kind).toEqual({ type: "cancelled" });
  });

  it(`end with the run around them (${version})`, async () => {
    const heard = hear();
    const { sink, telemetry } = heard;
    let release = () => {};
    const open = new Promise<void>((resolve) => {
      release = resolve;
    });
    let embedded: Promise<unknown> | undefined;
    await runAgent({ agent: "rag", sink, tenant: "acme" }, async () => {
      embedded =
        version === 6
          ? inSpan(telemetry.tracer, "ai.embed", {}, () =>
              inSpan(telemetry.tracer, "ai.embed.doEmbed", {}, () => open),
            )
          : lasting(telemetry, open);
      await Promise.resolve();
      await Promise.resolve();
    });
    release();
    await embedded;
    expect(heard.types()).toEqual(["started", "model_start", "model_error", "complete"]);
    expect(heard.ofType("model_error")[0]?.kind).toEqual({ type: "cancelled" });
  });
});

/** A call that is answered when `open` resolves. */
async function lasting(telemetry: AiSdkTelemetry, open: Promise<void>): Promise<void> {
  const call = { callId: "lasting", embedCallId: "once", ...MODEL, values: ["a"] };
  await telemetry.onStart({ ...call, operationId: "ai.embed" });
  telemetry.onEmbedStart(call);
  await open;
  telemetry.onEmbedEnd({ ...call, ...answered(["a"], 1) });
  telemetry.onEnd({ ...call, operationId: "ai.embed" });
}

describe("chunks of the AI SDK 7 that are open at once", () => {
  it("all end with the one error that the SDK reports", async () => {
    const { telemetry, ...heard } = listen();
    const call = { callId: "both", ...MODEL, functionId: "index" };
    await telemetry.onStart({ ...call, operationId: "ai.embedMany" });
    for (const id of ["one", "two"])
      telemetry.onEmbedStart({ ...call, embedCallId: id, values: [id] });
    telemetry.onError({ ...call, error: BUSY });
    telemetry.onEmbedEnd({ ...call, embedCallId: "two", ...answered(["two"], 1) });
    expect(heard.ofType("model_error").map(({ error }) => error)).toEqual([
      "slow down",
      "slow down",
    ]);
    expect(heard.types().at(-1)).toBe("failed");
  });
});

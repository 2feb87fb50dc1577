import { describe, expect, it } from "vitest";
import { setUnclassifiedWarning } from "../../../src/index.ts";
import { STOP_REASONS } from "../../support/stops.ts";
import { settled } from "../contract/driver.ts";
import { agentRun, answered, asked, listen, REQUEST, tool } from "./fake-mastra.ts";

// How Mastra 1.71.0 ends the spans of an agent whose `abortSignal` fired, from runs of Mastra itself.

setUnclassifiedWarning(() => {});

const ends = ({ sent }: ReturnType<typeof listen>) =>
  sent.flatMap(({ event }) => {
    if (event.type === "tool_error") {
      return [`tool_error ${event.envelope.cancelled === true ? "cut" : "failed"}`];
    }
    if (event.type === "complete") return ["complete"];
    if (event.type !== "failed" && event.type !== "model_error") return [];
    return [`${event.type} ${event.kind?.type}`];
  });

/** A model call whose client threw, and whose run ended so. */
async function modelThrew(thrown: unknown, end: Readonly<Record<string, unknown>>) {
  const heard = listen();
  const run = agentRun(heard.telemetry);
  const { generation, inference, step } = asked(run);
  const broken = new ReadableStream({ pull: (controller) => controller.error(thrown) });
  const stream = inference.insideSync(() => broken);
  await settled(stream.getReader().read());
  generation.end({ attributes: { finishReason: "aborted" }, output: { text: "" } });
  inference.end();
  step.end();
  run.end(end);
  return ends(heard);
}

/** A tool call whose code threw. */
async function toolThrew(heard: ReturnType<typeof listen>, thrown: unknown) {
  const run = agentRun(heard.telemetry);
  const { generation, inference, step } = asked(run);
  const slow = tool(step, "slow", "c1");
  await settled(slow.inside(() => Promise.reject(thrown)));
  slow.end({ errorInfo: {}, attributes: { success: false } });
  // Old versions say it twice.
  slow.end({ errorInfo: {}, attributes: { success: false } });
  inference.end(answered("tool-calls", ""));
  step.end();
  return { generation, run };
}

const ABORTED = { output: { status: "aborted", reason: "abort" } };

describe("a stop of an agent", () => {
  it.each(STOP_REASONS)("in a model call, with %s", async (_, reason) => {
    const thrown = reason ?? new DOMException("aborted", "AbortError");
    const stopped = ["model_error cancelled", "failed cancelled"];
    expect(await modelThrew(thrown, ABORTED)).toEqual(stopped);
  });

  it.each(STOP_REASONS)("in a tool, with %s", async (_, reason) => {
    const heard = listen();
    const thrown = reason ?? new DOMException("aborted", "AbortError");
    const { generation, run } = await toolThrew(heard, thrown);
    generation.end(answered("tool-calls", ""));
    run.end();
    expect(ends(heard)).toEqual(["tool_error cut", "failed cancelled"]);
  });
});

describe("a failure", () => {
  it("of the model stays one, also if the run was stopped after it", async () => {
    const overloaded = Object.assign(new Error("overloaded"), { statusCode: 529 });
    const failed = "model_error model_dispatch";
    expect(await modelThrew(overloaded, ABORTED)).toEqual([failed, "failed cancelled"]);
  });

  it("of the model without a stop is an outage", async () => {
    const down = new Error("down");
    const end = { errorInfo: { message: "down" } };
    const outage = ["model_error model_dispatch", "failed model_dispatch"];
    expect(await modelThrew(down, end)).toEqual(outage);
  });

  it("of a tool whose model is asked again comes before that", async () => {
    const heard = listen();
    const { generation, run } = await toolThrew(heard, new Error("no such order"));
    const step = generation.child("model_step");
    const again = step.child("model_inference", { attributes: REQUEST });
    expect(ends(heard)).toEqual(["tool_error failed"]);
    expect(heard.types().lastIndexOf("model_start")).toBe(heard.types().length - 1);
    again.end(answered());
    generation.end(answered());
    run.end({ output: { text: "answer-mark" } });
    expect(ends(heard)).toEqual(["tool_error failed", "complete"]);
  });

  it("of a tool in the last step of a run is one: the run has an output", async () => {
    const heard = listen();
    const { generation, run } = await toolThrew(heard, new Error("no such order"));
    generation.end(answered("tool-calls", ""));
    run.end({ output: { text: "" } });
    expect(ends(heard)).toEqual(["tool_error failed", "complete"]);
  });

  it("of a tool is one, where Mastra shows no outputs", async () => {
    const heard = listen();
    const { generation, run } = await toolThrew(heard, new Error("no such order"));
    generation.end({ ...answered("tool-calls", ""), output: undefined });
    run.end();
    expect(ends(heard)).toEqual(["tool_error failed", "complete"]);
  });
});

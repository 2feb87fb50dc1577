import { context } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentRun } from "../../../src/agents/runtime/agent-run.ts";
import { runAgent, startRun } from "../../../src/agents/runtime/run-agent.ts";
import { interrupt, isInterruption, isRunEnded } from "../../../src/agents/runtime/run-errors.ts";
import { FanOutSink } from "../../../src/entries/sinks.ts";
import { AgentError, Bridge } from "../../../src/index.ts";
import { collectSpans, fingerprint, type SpanNode, toTrees } from "../../support/spans.ts";
import { forever, rejection, Told } from "./said.ts";

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterAll(() => {
  context.disable();
});

const base = { agent: "support", tenant: "acme" };
const tick = () => new Promise((resolve) => setImmediate(resolve));

/** What the events of steps and what is in them say of their places, by name. */
function places(sink: Told): string[] {
  const names = new Map<string, string>();
  const lines: string[] = [];
  for (const { event, envelope } of sink.items) {
    if (event.type === "step_start") names.set(event.step_id, event.step);
    if (event.type === "tool_start") names.set(event.tool_use_id, event.tool);
    const starts = /^(started|.*_start|tool_call_denied)$/.test(event.type);
    if (!starts) continue;
    const { step_id = "", tool_use_id = "" } = envelope?.details ?? {};
    const what =
      event.type === "started"
        ? event.agent
        : "step" in event
          ? event.step
          : "tool" in event
            ? event.tool
            : "model";
    const where = [names.get(step_id), names.get(tool_use_id)].filter((it) => it !== undefined);
    lines.push([what, ...where].join(" in "));
  }
  return lines;
}

const nested = async (run: AgentRun) => {
  await run.step("outer", async () => {
    await tick();
    await run.tool("t1", async () => {
      await run.step("inner", async () => {
        await runAgent({ agent: "kid" }, () => 1);
        await run.tool("t2", () => runAgent({ agent: "grandkid" }, () => 1));
      });
      await runAgent({ agent: "niece" }, (niece) => niece.step("own", () => 1));
    });
    await run.model("small-1", () => 1);
    await run.tool("t3", { approve: () => ({ denied: "no" }) }, () => 1).catch(() => {});
  });
  await run.tool("t4", () => 1);
};

describe("run.step", () => {
  it("sends its start and its end around what it runs, and gives what that gives", async () => {
    const sink = new Told();
    const given = await runAgent({ sink, ...base }, (run) =>
      run.step("plan", { input: "x" }, async () => {
        await tick();
        return 7;
      }),
    );
    expect(given).toBe(7);
    expect(sink.said()).toEqual([
      "started support",
      "step_start plan",
      "step_complete plan",
      "complete",
    ]);
    const { step_id } = sink.only("step_start");
    expect(sink.only("step_start")).toMatchObject({ input: "x" });
    expect(sink.only("step_complete")).not.toHaveProperty("output");
    expect(sink.only("step_complete").step_id).toBe(step_id);
  });

  it("of a retrieval says the query and the documents", async () => {
    const sink = new Told();
    await runAgent({ sink, ...base }, (run) =>
      run.step("docs", { kind: "retrieval", input: "where?" }, () => [{ id: "d1" }]),
    );
    expect(sink.only("step_start")).toMatchObject({ kind: "retrieval", input: "where?" });
    expect(sink.only("step_complete").output).toEqual([{ id: "d1" }]);
  });

  it("is named by what starts inside: calls, steps, denials and sub-agents", async () => {
    const sink = new Told();
    await runAgent({ sink, ...base }, nested);
    expect(places(sink)).toEqual([
      "support",
      "outer",
      "t1 in outer",
      "inner in outer in t1",
      "kid in inner",
      "t2 in inner in t1",
      "grandkid in inner",
      "niece in outer",
      "own",
      "model in outer",
      "t3 in outer",
      "t4",
    ]);
  });

  it("is no place for a run of another tenant, or without a parent", async () => {
    const sink = new Told();
    await runAgent({ sink, ...base }, (run) =>
      run.step("s", async () => {
        await runAgent({ agent: "stranger", tenant: "globex" }, () => 1);
        await runAgent({ agent: "free", parent: null }, () => 1);
      }),
    );
    expect(places(sink)).toEqual(["support", "s", "stranger", "free"]);
  });

  it("that throws is a step_error, and the caller gets what was thrown", async () => {
    const sink = new Told();
    const thrown = Object.assign(new Error("busy"), { status: 429 });
    const given = await runAgent({ sink, ...base }, async (run) => {
      const first = await rejection(run.step("a", () => Promise.reject(thrown)));
      return first === thrown;
    });
    expect(given).toBe(true);
    expect(sink.only("step_error")).toMatchObject({
      step: "a",
      envelope: { wire_code: "rate_limited", provider_status: 429, origin: "run" },
    });
    expect(sink.said().at(-1)).toBe("complete");
  });

  it("leaves the origin of a failure to the call that it came out of", async () => {
    const sink = new Told();
    const failed = (run: AgentRun) =>
      run.step("a", () => run.model("m", () => Promise.reject(AgentError.http(503, "down"))));
    await rejection(runAgent({ sink, ...base }, failed));
    expect(sink.only("step_error").envelope.origin).toBe("model");
    expect(sink.only("failed")).toMatchObject({
      kind: { type: "model_dispatch" },
      envelope: { origin: "model" },
    });
  });

  it("that pauses is interrupted, whether it or a tool in it asks, and the run pauses after it", async () => {
    for (const inTool of [false, true]) {
      const sink = new Told();
      const ask = () => {
        throw interrupt({ type: "custom" }, { question: "which?" });
      };
      const error = await rejection(
        runAgent({ sink, ...base }, (run) =>
          run.step("a", () => (inTool ? run.tool("t", ask) : ask())),
        ),
      );
      expect(isInterruption(error)).toBe(true);
      expect(sink.only("step_error").envelope.wire_code).toBe("interrupted");
      expect(sink.said().slice(-2)).toEqual(["step_error a", "interrupted custom"]);
    }
  });

  it("that is open when its run ends is cut: its caller gets an error, and nothing follows the end", async () => {
    const sink = new Told();
    const run = await startRun({ sink, ...base });
    const open = run.step("a", forever);
    await tick();
    await run.complete();
    expect(await rejection(open)).toMatchObject({ detail: { type: "cancelled" } });
    expect(sink.said().slice(-2)).toEqual(["step_error a", "complete"]);
    expect(sink.only("step_error").envelope).toMatchObject({ cancelled: true });
    expect(isRunEnded(await rejection(run.step("b", () => 1)))).toBe(true);
    expect(sink.said()).not.toContain("step_start b");
  });

  it("takes a name and a function, and nothing else", async () => {
    const wrong: unknown[][] = [
      ["", () => 1],
      [7, () => 1],
      ["a", {}],
      ["a", { kind: "other" }, () => 1],
    ];
    await runAgent({ sink: new Told(), ...base }, async (run) => {
      for (const args of wrong) {
        const call = async () => Reflect.apply(run.step, run, args);
        expect(await rejection(call())).toBeInstanceOf(TypeError);
      }
    });
  });
});

describe("the spans of run.step", () => {
  const draw = ({ span, children }: SpanNode): unknown =>
    children.length === 0 ? span : [span, ...children.map(draw)];

  it("hold what runs inside, live and played again", async () => {
    const live = collectSpans();
    const tracer = live.provider.getTracer("client");
    const told = new Told();
    const bridge = new Bridge({ tracerProvider: live.provider });
    await runAgent({ sink: new FanOutSink([bridge, told]), ...base }, async (run) => {
      await nested(run);
      await run.step("fetching", async () => {
        await tick();
        tracer.startSpan("GET").end();
      });
    });
    expect(toTrees(live.spans()).map(draw)).toEqual([
      [
        "invoke_agent support",
        [
          "step outer",
          [
            "execute_tool t1",
            ["step inner", "invoke_agent kid", ["execute_tool t2", "invoke_agent grandkid"]],
            ["invoke_agent niece", "step own"],
          ],
          "chat small-1",
          "execute_tool t3",
        ],
        "execute_tool t4",
        ["step fetching", "GET"],
      ],
    ]);
    const again = collectSpans();
    const replay = new Bridge({ tracerProvider: again.provider, mode: "replay" });
    for (const { event, envelope } of told.items) await replay.send(event, envelope);
    const ours = live.spans().filter(({ name }) => name !== "GET");
    expect(again.spans().map(fingerprint)).toEqual(ours.map(fingerprint));
    await bridge.shutdown();
  });
});

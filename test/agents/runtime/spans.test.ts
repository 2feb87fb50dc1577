import { context } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { carried } from "../../../src/agents/runtime/active-run.ts";
import { runAgent, startRun } from "../../../src/agents/runtime/run-agent.ts";
import { interrupt } from "../../../src/agents/runtime/run-errors.ts";
import { MemorySessionLog } from "../../../src/entries/audit.ts";
import { entelixDialect } from "../../../src/entries/replay.ts";
import { FanOutSink } from "../../../src/entries/sinks.ts";
import { AgentError, Bridge } from "../../../src/index.ts";
import { collectSpans, type SpanNode, toTrees } from "../../support/spans.ts";
import { forever, rejection, Told } from "./said.ts";

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterAll(() => {
  context.disable();
});

const tick = () => new Promise((resolve) => setImmediate(resolve));

function bridged() {
  const collected = collectSpans();
  const tracer = collected.provider.getTracer("client");
  const bridge = new Bridge({ tracerProvider: collected.provider });
  const base = { sink: bridge, agent: "support", tenant: "acme" };
  /** What an instrumented client does. */
  const fetched = async (name: string) => {
    await tick();
    tracer.startSpan(name).end();
  };
  return {
    ...collected,
    bridge,
    base,
    fetched,
    trees: () => toTrees(collected.spans()).map(draw).sort(),
  };
}

/** A span with what stands below it, by name: the clocks of two libraries may differ a little. */
type Drawn = string | readonly [string, ...Drawn[]];

function draw({ span, status, attributes, children }: SpanNode): Drawn {
  const said = attributes["entelix.run.outcome"] ?? attributes["entelix.tool.outcome"];
  const line = [span, said, status === "unset" ? undefined : status]
    .filter((part) => part !== undefined)
    .join(" ");
  return children.length === 0 ? line : [line, ...children.map(draw).sort()];
}

describe("spans of a run", () => {
  it("stand below the run that started a sub-agent beside a tool call, live and played again", async () => {
    const { base, trees, bridge } = bridged();
    const told = new Told();
    const sink = new FanOutSink([bridge, told]);
    await runAgent({ ...base, sink }, async (run) => {
      let kidIsDone = () => {};
      const slow = run.tool("slow", () => new Promise<void>((done) => (kidIsDone = done)));
      await runAgent({ agent: "kid" }, () => 1);
      kidIsDone();
      await slow;
    });
    const expected = [
      "invoke_agent support complete",
      "execute_tool slow complete",
      "invoke_agent kid complete",
    ];
    expect(trees()).toEqual([expected]);
    const again = bridged();
    for (const { event, envelope } of told.items) await again.bridge.send(event, envelope);
    expect(again.trees()).toEqual([expected]);
  });

  it("stand where the code ran that made them", async () => {
    const { base, fetched, trees } = bridged();
    await runAgent(base, async (run) => {
      await fetched("in the run");
      await Promise.all([
        run.tool("a", { id: "same" }, () => fetched("in a")),
        run.tool("b", { id: "same" }, () => fetched("in b")),
        run.model("m", () => fetched("in m")),
      ]);
      await run.tool("ask", () =>
        runAgent({ agent: "expert" }, (expert) => expert.tool("c", () => fetched("in c"))),
      );
      await fetched("in the run again");
    });
    expect(trees()).toEqual([
      [
        "invoke_agent support complete",
        ["chat m", "in m"],
        ["execute_tool a complete", "in a"],
        [
          "execute_tool ask complete",
          ["invoke_agent expert complete", ["execute_tool c complete", "in c"]],
        ],
        ["execute_tool b complete", "in b"],
        "in the run",
        "in the run again",
      ],
    ]);
  });

  it("stand there too where calls of one id begin at once and the audit log takes its time", async () => {
    const { provider, spans } = collectSpans();
    const bridge = new Bridge({ tracerProvider: provider, audit: new MemorySessionLog() });
    const tracer = provider.getTracer("client");
    await runAgent({ sink: bridge, agent: "support", tenant: "acme" }, (run) =>
      Promise.all(
        ["a", "b", "c"].map((name) =>
          run.tool(name, { id: "same" }, async () => {
            tracer.startSpan(`in ${name}`).end();
            await runAgent({ agent: `under ${name}` }, tick);
          }),
        ),
      ),
    );
    await bridge.shutdown();
    const below = spans().map(({ name, parentSpanContext }) => {
      const parent = spans().find((one) => one.spanContext().spanId === parentSpanContext?.spanId);
      return `${parent?.name} > ${name}`;
    });
    expect(below.filter((line) => line.startsWith("execute_tool")).sort()).toEqual([
      "execute_tool a > in a",
      "execute_tool a > invoke_agent under a",
      "execute_tool b > in b",
      "execute_tool b > invoke_agent under b",
      "execute_tool c > in c",
      "execute_tool c > invoke_agent under c",
    ]);
  });

  it("of approvals, pauses and failures are as their events say", async () => {
    const { base, trees } = bridged();
    await rejection(
      runAgent(base, (run) =>
        run.tool("ask", () => {
          throw interrupt();
        }),
      ),
    );
    await rejection(
      runAgent({ ...base, terminalToolErrors: ["auth"] }, (run) =>
        run.tool("pay", () => {
          throw AgentError.http(401, "no");
        }),
      ),
    );
    expect(trees()).toEqual([
      ["invoke_agent support failed error", "execute_tool pay error error"],
      ["invoke_agent support interrupted", "execute_tool ask interrupted"],
    ]);
  });

  it("say which limit of the budget was reached, also after a recording", async () => {
    const { base, spans } = bridged();
    const sink = new Told();
    const both = new FanOutSink([base.sink, sink]);
    const budget = { costUsd: "0.50" };
    await rejection(runAgent({ ...base, sink: both, budget }, async (run) => run.addCost("0.75")));
    const breach = { axis: "cost_usd", limit: "0.50", observed: "0.75" };
    const { type, ...fields } = sink.only("failed");
    expect(
      entelixDialect.decode(
        JSON.parse(JSON.stringify({ timestamp: "2026-04-29T12:00:00Z", type, ...fields })),
      ),
    ).toMatchObject({
      outcome: "event",
      event: { envelope: { breach, origin: "run" } },
      unknownValues: [],
    });
    expect(spans()[0]?.attributes).toMatchObject({
      "entelix.breach.axis": "cost_usd",
      "entelix.breach.limit": "0.50",
      "entelix.breach.observed": "0.75",
      "entelix.failure.origin": "run",
    });
  });

  it("end with the run: calls that hang, calls that nobody awaits", async () => {
    const { base, trees, bridge } = bridged();
    await rejection(
      runAgent({ ...base, deadlineMs: 5 }, async (run) => {
        void run.tool("hang", forever);
        void run.model("m", forever);
        await forever();
      }),
    );
    await runAgent(base, (run) => {
      void run.tool("forgotten", forever);
    });
    expect(trees()).toEqual([
      ["invoke_agent support complete", "execute_tool forgotten cancelled"],
      ["invoke_agent support failed error", "chat m error", "execute_tool hang cancelled"],
    ]);
    await bridge.shutdown();
    expect(trees()).toHaveLength(2);
  });

  it("of a sub-agent that outlives its parent stay under the call that began it", async () => {
    const { base, trees, fetched } = bridged();
    let child: Promise<unknown> = Promise.resolve();
    await runAgent(base, (run) =>
      run.tool("spawn", () => {
        child = runAgent({ agent: "late" }, (late) => late.tool("work", () => fetched("in work")));
      }),
    );
    await child;
    expect(trees()).toEqual([
      [
        "invoke_agent support complete",
        [
          "execute_tool spawn complete",
          ["invoke_agent late complete", ["execute_tool work complete", "in work"]],
        ],
      ],
    ]);
  });

  it("of a resumed run are linked to the run that paused", async () => {
    const { base, spans } = bridged();
    await rejection(
      runAgent({ ...base, runId: "018f3c7a-0000-7000-8000-000000000001" }, () => {
        throw interrupt();
      }),
    );
    const resumedFromRunId = "018f3c7a-0000-7000-8000-000000000001";
    await runAgent({ ...base, resumedFromRunId }, () => 1);
    const [, resumed] = spans();
    expect(resumed?.attributes["entelix.run.resumed_from"]).toBe(resumedFromRunId);
    expect(resumed?.links.map(({ context }) => context.spanId)).toEqual(["8000000000000001"]);
  });

  it("of a handle hold what is done within it", async () => {
    const { base, trees, fetched } = bridged();
    const run = await startRun(base);
    await fetched("outside");
    await run.within(() => fetched("within"));
    await run.tool("a", () => fetched("in a"));
    await run.complete();
    expect(trees()).toEqual([
      ["invoke_agent support complete", ["execute_tool a complete", "in a"], "within"],
      "outside",
    ]);
  });

  it("of two tenants at once are two traces, though one runs inside the other", async () => {
    const { base, spans, fetched } = bridged();
    await Promise.all(
      ["acme", "globex"].map((tenant) =>
        runAgent({ ...base, tenant }, (run) =>
          run.tool("a", async () => {
            await fetched(tenant);
            await runAgent({ agent: "other", tenant: `${tenant}-2` }, (other) =>
              other.tool("b", () => fetched(`${tenant}-2`)),
            );
          }),
        ),
      ),
    );
    const traces = new Map<string, Set<unknown>>();
    for (const span of spans()) {
      const { traceId } = span.spanContext();
      const tenant = span.attributes["entelix.tenant_id"] ?? span.name;
      traces.set(traceId, (traces.get(traceId) ?? new Set()).add(tenant));
    }
    expect([...traces.values()].map((tenants) => [...tenants]).sort()).toEqual([
      ["acme"],
      ["acme-2"],
      ["globex"],
      ["globex-2"],
    ]);
  });

  it("hold the usage of chat once: the run's is the sum of its model calls", async () => {
    const { base, spans } = bridged();
    await runAgent(base, async (run) => {
      const ask = (input_tokens: number, output_tokens: number) =>
        run.model("m", (call) => call.report({ usage: { input_tokens, output_tokens } }));
      await ask(10, 3);
      await runAgent({ agent: "expert" }, (expert) =>
        expert.model("m", (call) => call.report({ usage: { input_tokens: 5, output_tokens: 2 } })),
      );
      await ask(1, 1);
    });
    const figure = (name: string, of: RegExp) =>
      spans()
        .filter((span) => of.test(span.name))
        .reduce((sum, { attributes }) => sum + Number(attributes[name] ?? 0), 0);
    const names = ["gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"];
    expect(names.map((name) => figure(name, /^chat/))).toEqual([16, 6]);
    expect(names.map((name) => figure(name, /^invoke_agent/))).toEqual([16, 6]);
  });
});

describe("a sink without contexts", () => {
  it("or with a broken one, runs the code once all the same", () => {
    const place = { tenantId: "acme", runId: "r", rootRunId: "r", sink: new Told() };
    expect(carried(place.sink, {}, place, () => 7)).toBe(7);
    const broken = {
      send() {},
      withSpan(): never {
        throw new Error("no context");
      },
    };
    expect(carried(broken, {}, place, () => 7)).toBe(7);
    let calls = 0;
    const breaksAfter = {
      send() {},
      inside<T>(_place: object, work: () => T): T {
        work();
        throw new Error("too late");
      },
    };
    expect(carried(breaksAfter, {}, place, () => (calls += 1))).toBe(1);
    expect(() =>
      carried(breaksAfter, {}, place, () => {
        throw new Error("of the code");
      }),
    ).toThrow("of the code");
    expect(calls).toBe(1);
  });

  const odd: Record<string, (work: () => unknown) => unknown> = {
    "calls nothing": () => undefined,
    "breaks afterwards": (work) => {
      work();
      throw new Error("too late");
    },
    "calls twice": (work) => [work(), work()],
    "calls later": async (work) => {
      await tick();
      return work();
    },
  };
  for (const [name, inside] of Object.entries(odd)) {
    it(`or with one that ${name}, has every run and call end as its code did`, async () => {
      const sink = Object.assign(new Told(), {
        withSpan: (_place: object, work: () => unknown) => inside(work),
      });
      let calls = 0;
      const base = { sink, agent: "support", tenant: "acme", deadlineMs: 2_000 };
      const result = await runAgent(base, async (run) => {
        await run.tool("fails", () => Promise.reject(new Error("down"))).catch(() => {});
        return run.tool("counts", () => (calls += 1));
      });
      expect(result).toBe(1);
      expect(sink.said()).toEqual([
        "started support",
        "tool_start fails",
        "tool_error fails internal unclassified",
        "tool_start counts",
        "tool_complete counts",
        "complete",
      ]);
    });
  }
});

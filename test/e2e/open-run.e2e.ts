import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freshRun, happening } from "./support/events.ts";
import { traceId } from "./support/fresh-ids.ts";
import { Player } from "./support/player.ts";
import { Stack } from "./support/stack.ts";
import { treesOf } from "./support/stored-span.ts";
import { untilHolds } from "./support/until.ts";

const SERVICE = "e2e-agent";
const OPEN = { "entelix.run.open": "true" };

describe.each([
  { how: "every trace kept", env: {} },
  { how: "tail sampling", env: { TRACE_SAMPLER: "tail_sampling", ROOT_WAIT: "1s" } },
])("a run that is still open, $how,", ({ env }) => {
  let stack: Stack;
  const player = () =>
    new Player({
      options: { serviceName: SERVICE, endpoint: stack.endpoint },
      bridge: { limits: { markerAfterMs: 50 } },
      env: { OTEL_BSP_SCHEDULE_DELAY: "100" },
    });

  beforeAll(async () => {
    stack = await Stack.start({ servers: ["jaeger", "collector"], collectorEnv: env });
  });
  afterAll(() => stack?.stop());

  it("is found by its marker, and later as a whole", async () => {
    const run = freshRun();
    const id = traceId(run.run_id);
    const agent = player();
    agent.tell([happening(run.started("slow")), happening(run.toolStart("tu-1", "wait"))]);
    await untilHolds("the marker is found", async () => {
      const tags = { ...OPEN, "entelix.run_id": run.run_id };
      expect(await stack.jaeger.search({ service: SERVICE, tags })).toEqual([id]);
    });
    const [marker, ...others] = await stack.jaeger.trace(id);
    expect(others).toEqual([]);
    expect(marker).toMatchObject({
      name: "entelix.run.open",
      parentSpanId: id.slice(16),
      status: "unset",
      attributes: {
        "entelix.run_id": run.run_id,
        "entelix.tenant_id": "acme",
        "entelix.run.open": true,
        "gen_ai.agent.name": "slow",
      },
    });

    agent.tell([happening(run.toolError("tu-1", { tool: "wait" })), happening(run.failed())]);
    expect(await agent.end()).toMatchObject({ errors: [], events: 4, spans: { exported: 3 } });
    await untilHolds("the whole trace is there", async () => {
      const [root, ...more] = treesOf(await stack.jaeger.trace(id));
      expect(more).toEqual([]);
      expect(root?.span).toBe("invoke_agent slow");
      expect(root?.children.map(({ span }) => span).sort()).toEqual([
        "entelix.run.open",
        "execute_tool wait",
      ]);
    });
  });

  it("is found when its process was killed", async () => {
    const run = freshRun("globex");
    const id = traceId(run.run_id);
    const agent = player();
    agent.tell([happening(run.started("doomed"))]);
    const tags = { ...OPEN, "entelix.tenant_id": "globex" };
    await untilHolds("the marker is found", async () => {
      expect(await stack.jaeger.search({ service: SERVICE, tags })).toEqual([id]);
    });
    await agent.kill();
    expect((await stack.jaeger.trace(id)).map(({ name }) => name)).toEqual(["entelix.run.open"]);
  });
});

import { describe, expect, it } from "vitest";
import { withCurrentRun } from "../../../src/agents/runtime/active-run.ts";
import { LangChainHandler } from "../../../src/entries/langchain.ts";
import { tellsCallIds } from "./abilities.ts";
import { ASKED, add, plainTool, reactAgent, run } from "./agents.ts";
import { observe } from "./observed.ts";
import { says } from "./scripted-model.ts";

const agent = (tenant: string) =>
  reactAgent(
    [says("", ["ask", `${tenant}_1`], ["ask", `${tenant}_2`]), says("done")],
    [plainTool("ask", () => add.invoke({ a: 1, b: 1 }))],
  );

describe("tenants", () => {
  it("two at once never mix", async () => {
    const seen = observe();
    const tenants = ["acme", "globex", "initech", "acme"];
    await Promise.all(
      tenants.map((tenant_id) => run(seen, agent(tenant_id), ASKED, { metadata: { tenant_id } })),
    );
    expect(
      seen
        .of("started")
        .map(({ event }) => event.tenant_id)
        .sort(),
    ).toEqual([...tenants].sort());
    const tenantOf = new Map(
      seen.of("started").map(({ event }) => [event.run_id, event.tenant_id]),
    );
    for (const { event } of seen.told) expect(event.tenant_id).toBe(tenantOf.get(event.run_id));
    const asked = seen.of("tool_start").filter(({ event }) => event.tool === "ask");
    expect(asked).toHaveLength(8);
    for (const { event } of asked) {
      if (tellsCallIds) expect(event.tool_use_id.startsWith(event.tenant_id)).toBe(true);
      else expect(event.tool_use_id).toMatch(/^[0-9a-f-]{36}$/);
    }
    expect(seen.trees()).toHaveLength(4);
  });

  it("a function alone decides, whatever the metadata says of a tenant", async () => {
    const seen = observe({ tenant: (metadata) => `org-${metadata.org}` });
    const metadata = { org: 7, tenant_id: "forged" };
    await run(seen, agent("a"), ASKED, { metadata });
    expect(new Set(seen.told.map(({ event }) => event.tenant_id))).toEqual(new Set(["org-7"]));
  });

  it("a run of another tenant inside one stands alone", async () => {
    const seen = observe();
    const outer = { tenantId: "acme", runId: "r1", rootRunId: "r1", sink: seen.sink };
    await withCurrentRun(outer, () =>
      run(seen, agent("globex"), ASKED, { metadata: { tenant_id: "globex" } }),
    );
    const [started] = seen.of("started");
    expect(started?.event).toMatchObject({ tenant_id: "globex", parent_run_id: null });
    expect(started?.envelope.root_run_id).toBe(undefined);
  });

  it("an empty one is refused at once", () => {
    const { sink } = observe();
    expect(() => new LangChainHandler({ sink, tenant: "" })).toThrow("tenant: expected a text");
  });
});

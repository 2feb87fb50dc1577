import { describe, expect, it } from "vitest";
import { RunIds } from "../../../src/entries/context.ts";
import { bench, RunEvents } from "../../support/run-events.ts";

const A = "018f3c7a-0000-7000-8000-00000000000a";
const B = "018f3c7a-0000-7000-8000-00000000000b";
const hex = (uuid: string) => uuid.replaceAll("-", "");
const of = (runId: string, tenant: string) => new RunEvents(runId, tenant);

/** Traces that hold spans of more than one tenant. */
function mixed(test: ReturnType<typeof bench>): string[] {
  const tenants = new Map<string, Set<unknown>>();
  for (const span of test.spans()) {
    const { traceId } = span.spanContext();
    const seen = tenants.get(traceId) ?? new Set();
    tenants.set(traceId, seen.add(span.attributes["entelix.tenant_id"]));
  }
  return [...tenants].filter(([, seen]) => seen.size > 1).map(([trace]) => trace);
}

describe("the same run id of two tenants", () => {
  it("is the first one's; the other gets hashed ids, and that is counted", () => {
    const test = bench();
    test.at(0, of(A, "acme").started());
    test.at(1, of(A, "globex").started());
    test.at(2, of(A, "initech").started());
    for (const tenant of ["globex", "acme", "initech"]) test.at(3, of(A, tenant).complete());
    const trace = (tenant: string) =>
      test.find("invoke_agent react", "entelix.tenant_id", tenant).trace;
    expect(trace("acme")).toBe(hex(A));
    expect(trace("globex")).toBe(RunIds.hashed("globex", A).traceId);
    expect(trace("initech")).toBe(RunIds.hashed("initech", A).traceId);
    expect(test.diagnostics()).toMatchObject({
      adjustments: { tenant_conflicts: 2 },
      tenantConflicts: { globex: 1, initech: 1 },
    });
  });

  it("stays so after the first one's run has ended, and for its redelivered events", () => {
    const test = bench();
    test.at(0, of(A, "acme").started());
    test.at(1, of(A, "acme").complete());
    test.at(2, of(A, "globex").started());
    test.at(3, of(A, "globex").complete());
    test.at(3, of(A, "globex").complete());
    test.at(1, of(A, "acme").complete());
    expect(mixed(test)).toEqual([]);
    expect(test.spans()).toHaveLength(2);
    expect(test.diagnostics().ignored.second_terminal).toBe(2);
  });

  it("takes the events of each tenant, also of one whose start never came", () => {
    const test = bench();
    const other = of(A, "globex");
    test.at(0, of(A, "acme").started());
    test.at(1, other.approved("call_1"));
    test.at(2, other.toolStart("call_1"));
    test.at(3, other.toolComplete("call_1"));
    test.at(4, other.denied("call_2"));
    test.at(5, other.failed());
    test.at(6, of(A, "acme").complete());
    const { traceId, spanId } = RunIds.hashed("globex", A);
    const [run] = test.trees().filter((node) => node.trace === traceId);
    expect(run).toMatchObject({
      span_id: spanId,
      status: "error",
      start: "2026-04-29T12:00:01Z",
      end: "2026-04-29T12:00:05Z",
      attributes: {
        "entelix.tenant_id": "globex",
        "entelix.run_id": A,
        "entelix.run.start_unseen": true,
        "entelix.failure.kind": "model_dispatch",
      },
      children: [
        { attributes: { "entelix.tool.outcome": "complete" }, start: "2026-04-29T12:00:02Z" },
        { attributes: { "entelix.tool.outcome": "denied" } },
      ],
    });
    expect(test.find("invoke_agent react")).toMatchObject({
      trace: hex(A),
      status: "unset",
      end: "2026-04-29T12:00:06Z",
      children: [],
    });
    expect(mixed(test)).toEqual([]);
    const { adjustments, ignored, tenantConflicts } = test.diagnostics();
    expect([adjustments.tenant_conflicts, tenantConflicts]).toEqual([1, { globex: 1 }]);
    expect(Object.values(ignored).every((count) => count === 0)).toBe(true);
  });

  it("is each tenant's own where the start comes late, whoever was first", () => {
    const test = bench();
    test.at(0, of(A, "acme").toolStart("call_1"));
    test.at(1, of(A, "globex").toolStart("call_1"));
    test.at(2, of(A, "globex").started("second"));
    test.at(3, of(A, "acme").started("first"));
    for (const tenant of ["globex", "acme"]) test.at(4, of(A, tenant).complete());
    expect(test.find("invoke_agent first").trace).toBe(hex(A));
    expect(test.find("invoke_agent second").trace).toBe(RunIds.hashed("globex", A).traceId);
    expect(test.spans()).toHaveLength(4);
    expect(test.diagnostics().tenantConflicts).toEqual({ globex: 1 });
  });

  it("is another run for each also where it is no UUID, which is no conflict", () => {
    const test = bench();
    test.at(0, of("r1", "acme").started());
    test.at(1, of("r1", "globex").toolStart("call_1"));
    for (const tenant of ["globex", "acme"]) test.at(2, of("r1", tenant).complete());
    expect(new Set(test.spans().map((span) => span.spanContext().traceId))).toEqual(
      new Set(["acme", "globex"].map((tenant) => RunIds.hashed(tenant, "r1").traceId)),
    );
    expect(test.diagnostics().tenantConflicts).toEqual({});
  });

  it("of a tenant that has its own run of that id is that run's", () => {
    const test = bench();
    test.at(0, of(A, "acme").started());
    test.at(0, of(A, "globex").started());
    test.at(1, of(A, "globex").toolStart("call_1"));
    test.at(2, of(A, "acme").complete());
    expect(test.diagnostics().openRuns).toBe(1);
    test.at(3, of(A, "globex").complete());
    const call = test.find("execute_tool fetch");
    expect(call.trace).toBe(RunIds.hashed("globex", A).traceId);
    expect(call.end).toBe("2026-04-29T12:00:03Z");
  });
});

describe("a parent in another tenant", () => {
  it("is linked; the run is a trace of its own", () => {
    const test = bench();
    test.at(0, of(A, "acme").started("top"));
    test.at(1, of(B, "globex").started("child", A));
    test.at(2, of(B, "globex").complete());
    test.at(3, of(A, "acme").complete());
    expect(test.find("invoke_agent child")).toMatchObject({
      trace: hex(B),
      parent: undefined,
      links: ["800000000000000a"],
      linkKinds: ["parent_of_other_tenant"],
      attributes: { "entelix.parent_run_id": A },
    });
    expect(test.diagnostics().tenantConflicts).toEqual({ globex: 1 });
  });

  it("is linked when it has ended, too", () => {
    const test = bench();
    test.at(0, of(A, "acme").started("top"));
    test.at(1, of(A, "acme").complete());
    test.at(2, of(B, "globex").started("child", A));
    test.at(3, of(B, "globex").complete());
    expect(test.find("invoke_agent child").linkKinds).toEqual(["parent_of_other_tenant"]);
    expect(mixed(test)).toEqual([]);
  });
});

describe("a trace that is taken without its root run", () => {
  it("by a derived parent stays the tenant's when another one starts that run", () => {
    const test = bench();
    test.at(0, of(B, "acme").started("child", A));
    test.at(1, of(A, "globex").started("root"));
    test.at(2, of(A, "globex").complete());
    test.at(3, of(A, "acme").started("true root"));
    test.at(4, of(A, "acme").complete());
    test.at(5, of(B, "acme").complete());
    expect(test.find("invoke_agent child").trace).toBe(hex(A));
    expect(test.find("invoke_agent root").trace).toBe(RunIds.hashed("globex", A).traceId);
    expect(test.find("invoke_agent true root").trace).toBe(hex(A));
    expect(mixed(test)).toEqual([]);
  });

  it("by a root run id, likewise", () => {
    const test = bench();
    test.at(0, of(B, "acme").started("child", "unknown"), { root_run_id: A });
    test.at(1, of(A, "globex").started("root"));
    test.at(2, of(A, "globex").complete());
    test.at(3, of(B, "acme").complete());
    expect(test.find("invoke_agent child").trace).toBe(hex(A));
    expect(mixed(test)).toEqual([]);
  });

  it("by a traceparent, likewise", () => {
    const test = bench();
    const traceparent = `00-${hex(A)}-aaaabbbbccccdddd-01`;
    test.at(0, of(B, "acme").started("first"), { traceparent });
    test.at(1, of(A, "globex").started("root"));
    test.at(2, of(A, "globex").complete());
    test.at(3, of(B, "acme").complete());
    expect(test.find("invoke_agent first").trace).toBe(hex(A));
    expect(mixed(test)).toEqual([]);
  });

  it("is the tenant's as long as any of its runs is open, however many have ended since", () => {
    const test = bench({ limits: { closedRuns: 2 } });
    test.at(0, of(A, "acme").started("root"));
    test.at(1, of(B, "acme").started("background", A));
    test.at(2, of(A, "acme").complete());
    for (let n = 0; n < 5; n++) {
      const id = `018f3c7a-0000-7000-9000-00000000000${n}`;
      test.at(3, of(id, "acme").started("filler", "unseen"));
      test.at(3, of(id, "acme").complete());
    }
    test.at(4, of(A, "globex").started("thief"));
    test.at(5, of(A, "globex").complete());
    test.at(6, of(B, "acme").complete());
    expect(mixed(test)).toEqual([]);
    expect(test.find("invoke_agent thief").trace).toBe(RunIds.hashed("globex", A).traceId);
  });
});

describe("a traceparent into another tenant's trace", () => {
  it.each([
    ["of an open run", A, false],
    ["of an ended run", A, true],
    ["of an open run whose ids are hashed", "r1", false],
    ["of an ended run whose ids are hashed", "r1", true],
  ])("%s is a link, not a parent", (_name, runId, ended) => {
    const test = bench();
    test.at(0, of(runId, "acme").started("victim"));
    if (ended) test.at(1, of(runId, "acme").complete());
    const trace = (RunIds.fromUuid(runId) ?? RunIds.hashed("acme", runId)).traceId;
    test.at(2, of(B, "globex").started("guest"), {
      traceparent: `00-${trace}-aaaabbbbccccdddd-01`,
    });
    test.at(3, of(B, "globex").complete());
    test.at(4, of(runId, "acme").complete());
    expect(test.find("invoke_agent guest")).toMatchObject({
      trace: hex(B),
      parent: undefined,
      links: ["aaaabbbbccccdddd"],
      linkKinds: ["parent_of_other_tenant"],
    });
    expect(mixed(test)).toEqual([]);
  });

  it("that is made from a run's hash, before that run starts, gives the run another hash", () => {
    const test = bench();
    const trace = RunIds.hashed("acme", "r1").traceId;
    test.at(0, of(B, "globex").started("guest"), {
      traceparent: `00-${trace}-aaaabbbbccccdddd-01`,
    });
    test.at(1, of("r1", "acme").started("root"));
    test.at(2, of("r1", "acme").toolStart("call_1"));
    test.at(3, of("r1", "acme").complete());
    test.at(3, of("r1", "acme").complete());
    test.at(4, of(B, "globex").complete());
    expect(mixed(test)).toEqual([]);
    expect(test.spans()).toHaveLength(3);
    expect(test.diagnostics().ignored.second_terminal).toBe(1);
  });

  it("that is one of the tenant's own runs is fine", () => {
    const test = bench();
    test.at(0, of(A, "acme").started("one"));
    test.at(1, of(B, "acme").started("two"), { traceparent: `00-${hex(A)}-800000000000000a-01` });
    test.at(2, of(B, "acme").complete());
    test.at(3, of(A, "acme").complete());
    expect(test.find("invoke_agent two")).toMatchObject({
      trace: hex(A),
      parent: "800000000000000a",
    });
  });
});

describe("a run whose UUID is the hash of another tenant's run", () => {
  it.each([[false], [true]])("does not join its trace (ended: %s)", (ended) => {
    const test = bench();
    const trace = RunIds.hashed("acme", "r1").traceId;
    const uuid = trace.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
    test.at(0, of("r1", "acme").started("victim"));
    if (ended) test.at(1, of("r1", "acme").complete());
    test.at(2, of(uuid, "globex").started("guest"));
    test.at(3, of(uuid, "globex").complete());
    test.at(4, of("r1", "acme").complete());
    expect(test.find("invoke_agent victim").trace).toBe(trace);
    expect(mixed(test)).toEqual([]);
  });
});

describe("tenant names with a zero byte", () => {
  it("can't be mixed up with run ids", () => {
    const test = bench();
    const runs = [of("b\0c", "a"), of("c", "a\0b")];
    for (const run of runs) test.at(0, run.started(), { thread_id: "th" });
    for (const run of runs) test.at(1, run.toolStart("call_1"));
    for (const run of runs) test.at(2, run.complete());
    expect(test.spans()).toHaveLength(4);
    expect(mixed(test)).toEqual([]);
  });
});

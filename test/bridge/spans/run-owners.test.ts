import { describe, expect, it } from "vitest";
import type { SpanInfo } from "../../../src/bridge/spans/custom-attributes.ts";
import { RunOwners } from "../../../src/bridge/spans/run-owners.ts";
import type { EventEnvelope } from "../../../src/index.ts";
import { bench, RunEvents } from "../../support/run-events.ts";

const RUN = "018f3c7a-0000-7000-8000-000000000002";
const run = new RunEvents(RUN);
const ADA: EventEnvelope = {
  session_id: "s-4",
  details: { user_id: "u-17", tags: ["beta", "web"], metadata: { plan: "pro", "a.b": "" } },
};
const OF_ADA = {
  "user.id": "u-17",
  "session.id": "s-4",
  "entelix.run.tags": ["beta", "web"],
  "entelix.run.metadata.plan": "pro",
  "entelix.run.metadata.a.b": "",
};

describe("whose run it is, on the run's span", () => {
  it("is what its `started` says", () => {
    const test = bench();
    test.at(0, run.started(), ADA);
    test.at(1, run.toolStart("c1"));
    test.at(2, run.complete());
    expect(test.find("invoke_agent react").attributes).toMatchObject(OF_ADA);
    expect(test.find("execute_tool fetch").attributes).not.toHaveProperty("user.id");
    expect(test.diagnostics().droppedAttributes).toBe(0);
  });

  it("is not there where nobody says it", () => {
    const test = bench();
    test.at(0, run.started(), { details: { step_id: "s" } });
    test.at(1, run.complete(), { event_id: "e" });
    const names = Object.keys(test.find("invoke_agent react").attributes);
    expect(names.filter((name) => /user|session|tags|metadata/.test(name))).toEqual([]);
  });

  it("is what the event says that opens the run", () => {
    const test = bench();
    test.at(1, run.toolStart("c1"), ADA);
    test.at(2, run.complete());
    expect(test.find("invoke_agent").attributes).toMatchObject(OF_ADA);
  });

  it("is what a `started` says that comes later", () => {
    const test = bench();
    test.at(1, run.toolStart("c1"));
    test.at(0, run.started(), ADA);
    test.at(2, run.complete());
    expect(test.find("invoke_agent react").attributes).toMatchObject(OF_ADA);
  });

  it("holds for the next segment, unless that says another", () => {
    const test = bench();
    test.at(0, run.started(), ADA);
    test.at(1, run.interrupted());
    test.at(2, run.started());
    test.at(3, run.interrupted());
    test.at(4, run.started(), { details: { user_id: "u-18" } });
    test.at(5, run.complete());
    const of = (segment: number) =>
      test.find("invoke_agent react", "entelix.run.segment", segment).attributes;
    expect(of(2)).toMatchObject(OF_ADA);
    expect(of(3)["user.id"]).toBe("u-18");
    expect(of(3)).not.toHaveProperty("session.id");
  });
});

describe("the bounds of whose run it is", () => {
  const read = (envelope: unknown) => {
    const owners = new RunOwners();
    const owner = owners.of(envelope as EventEnvelope);
    return { owner, dropped: owners.dropped };
  };

  it("leave out IDs that are too long", () => {
    const most = "é".repeat(128);
    expect(read({ session_id: most, details: { user_id: most } })).toMatchObject({
      owner: { user: most, session: most },
      dropped: 0,
    });
    const over = { session_id: `${most}x`, details: { user_id: `${most}x` } };
    expect(read(over)).toEqual({ owner: undefined, dropped: 2 });
  });

  it("leave out tags after the 32nd, and cut long ones", () => {
    const tags = Array.from({ length: 40 }, (_, n) => `t${n}`);
    expect(read({ details: { tags } })).toMatchObject({
      owner: { tags: tags.slice(0, 32) },
      dropped: 8,
    });
    const long = read({ details: { tags: ["😀".repeat(100)] } });
    expect(long).toMatchObject({ owner: { tags: ["😀".repeat(64)] }, dropped: 1 });
  });

  it("leave out metadata after the 32nd name, and cut long values", () => {
    const metadata = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`k${n}`, "v"]));
    const many = read({ details: { metadata } });
    expect(many.owner?.metadata?.size).toBe(32);
    expect(many.dropped).toBe(8);
    const wide = read({
      details: { metadata: { "": "x", ["k".repeat(129)]: "x", ok: "é".repeat(1_000) } },
    });
    expect([...(wide.owner?.metadata ?? [])]).toEqual([["ok", "é".repeat(512)]]);
    expect(wide.dropped).toBe(3);
  });

  const hostile = {
    get user_id() {
      throw new Error("hostile");
    },
  };
  const revoked = Proxy.revocable([], {});
  revoked.revoke();
  it.each<[string, unknown, number]>([
    ["null", null, 0],
    ["details that are null", { details: null }, 0],
    ["a text for details", { details: "u-17" }, 0],
    ["numbers", { session_id: 4, details: { user_id: 17, tags: 3, metadata: 5 } }, 0],
    ["tags and metadata of other types", { details: { tags: [1], metadata: { a: 1 } } }, 2],
    ["a getter that throws", { details: hostile }, 0],
    ["a revoked Proxy", { details: { tags: revoked.proxy } }, 1],
  ])("make nothing of %s", (_, envelope, dropped) => {
    expect(read(envelope)).toEqual({ owner: undefined, dropped });
  });

  it("are counted", () => {
    const test = bench();
    test.at(0, run.started(), { session_id: "x".repeat(300) });
    test.at(1, run.complete());
    expect(test.diagnostics().droppedAttributes).toBe(1);
  });
});

describe("the attribute hook", () => {
  it("sees thread and user, and model calls", () => {
    const seen: SpanInfo[] = [];
    const test = bench({
      attributes: (span) => {
        seen.push(span);
        return { "app.op": span.operation };
      },
    });
    test.at(0, run.started(), { ...ADA, thread_id: "t1" });
    test.at(1, run.toolStart("c1"));
    test.at(2, run.modelStart("m1"));
    test.at(3, run.modelComplete("m1"));
    test.at(4, run.complete());
    const common = {
      tenantId: "acme",
      runId: RUN,
      agent: "react",
      thread: "t1",
      user: "u-17",
      tool: undefined,
      model: undefined,
    };
    expect(seen).toEqual([
      { ...common, operation: "invoke_agent" },
      { ...common, operation: "execute_tool", tool: "fetch" },
      { ...common, operation: "chat", model: "small-1" },
    ]);
    expect(test.find("chat small-1").attributes["app.op"]).toBe("chat");
  });
});

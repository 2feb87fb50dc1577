import { describe, expect, it } from "vitest";
import { runAgent } from "../../../src/agents/runtime/run-agent.ts";
import type { RunOptions } from "../../../src/agents/runtime/run-options.ts";
import { Told } from "./said.ts";

const base = { agent: "support", tenant: "acme" };
const ada = {
  user: "u-17",
  session: "s-4",
  tags: ["beta", "web"],
  metadata: { plan: "pro", seats: 3, trial: false },
};

/** What an envelope says of whose run it is. */
function subjects(sink: Told, runId?: string) {
  return sink.items
    .filter(({ event }) => runId === undefined || event.run_id === runId)
    .map(({ envelope }) => ({ session: envelope?.session_id, details: envelope?.details }));
}

const OF_ADA = {
  session: "s-4",
  details: {
    user_id: "u-17",
    tags: ["beta", "web"],
    metadata: { plan: "pro", seats: "3", trial: "false" },
  },
};

describe("whose run it is", () => {
  it("stands in the envelope of every event, as one object", async () => {
    const sink = new Told();
    await runAgent({ sink, ...base, ...ada }, (run) => run.tool("a", () => {}));
    expect(subjects(sink)).toEqual([OF_ADA, OF_ADA, OF_ADA, OF_ADA]);
    const details = new Set(sink.items.map(({ envelope }) => envelope?.details));
    expect(details.size).toBe(1);
    for (const one of details) expect(Object.isFrozen(one)).toBe(true);
  });

  it("is not there unless it is given", async () => {
    const sink = new Told();
    await runAgent({ sink, ...base }, () => {});
    for (const { envelope } of sink.items) {
      const given = Object.entries(envelope ?? {}).filter(([, value]) => value !== undefined);
      expect(given.map(([field]) => field).sort()).toEqual([
        "event_id",
        "root_run_id",
        "sequence",
        "timestamp",
      ]);
    }
  });

  it("is a copy", async () => {
    const sink = new Told();
    const tags = ["beta"];
    const metadata: Record<string, string> = { plan: "pro" };
    await runAgent({ sink, ...base, tags, metadata }, () => {
      tags.push("later");
      metadata.plan = "free";
    });
    expect(subjects(sink)[1]?.details).toEqual({ tags: ["beta"], metadata: { plan: "pro" } });
  });

  it("holds for sub-agents of the tenant, field by field", async () => {
    const sink = new Told();
    await runAgent({ sink, ...base, ...ada }, async () => {
      await runAgent({ agent: "same", runId: "same" }, () => {});
      await runAgent({ agent: "own", runId: "own", user: "u-18", tags: [] }, () => {});
      await runAgent({ agent: "none", runId: "none", parent: null }, () => {});
      await runAgent({ agent: "other", runId: "other", tenant: "globex", sink }, () => {});
    });
    expect(subjects(sink, "same")).toEqual([OF_ADA, OF_ADA]);
    const own = { ...OF_ADA, details: { ...OF_ADA.details, user_id: "u-18", tags: [] } };
    expect(subjects(sink, "own")).toEqual([own, own]);
    const nobody = { session: undefined, details: undefined };
    expect(subjects(sink, "none")).toEqual([nobody, nobody]);
    expect(subjects(sink, "other")).toEqual([nobody, nobody]);
  });

  const wrong: readonly [given: object, message: string][] = [
    [{ user: "" }, "user: expected a text that is not empty, got an empty text"],
    [{ user: 17 }, "user: expected a text that is not empty, got number"],
    [{ session: null }, "session: expected a text that is not empty, got null"],
    [{ tags: "beta" }, "tags: expected a list, got string"],
    [{ tags: ["a", 1] }, "tags[1]: expected a text, got number"],
    [{ metadata: [] }, "metadata: expected an object, got a list"],
    [
      { metadata: { a: { b: 1 } } },
      "metadata.a: expected a text, a number or true or false, got object",
    ],
  ];
  it.each(wrong)("refuses %j", async (given, message) => {
    const options: RunOptions<undefined> = { sink: new Told(), ...base, ...given };
    await expect(runAgent(options, () => 1)).rejects.toThrow(new TypeError(message));
  });
});

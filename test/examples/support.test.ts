import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { Folder } from "../cli/support/folder.ts";
import { type RunList, viewedList, viewedRun } from "../view/support/view-documents.ts";
import { runExample } from "./run-example.ts";

type ViewRun = RunList["runs"][number];

const RECORDED = fileURLToPath(new URL("../../recordings/support/events.ndjson", import.meta.url));

/** The runs of a recording, each conversation in its order. */
async function runsIn(file: string): Promise<readonly ViewRun[]> {
  const { runs } = await viewedList([file]);
  return runs.toSorted(
    (one, other) =>
      (one.thread_id ?? "").localeCompare(other.thread_id ?? "") ||
      (BigInt(one.start_ns) < BigInt(other.start_ns) ? -1 : 1),
  );
}

/** What happened in a run, without what is new each time: IDs, times and durations. */
function told(run: ViewRun) {
  const { key, run_id, trace_id, parent_run_id, resumed_from, start_ns, end_ns, ...rest } = run;
  const { decisions = [], working_ms, waiting_ms, ...story } = rest;
  return {
    ...story,
    isChild: parent_run_id !== undefined,
    resumes: resumed_from !== undefined,
    decisions: decisions.map(({ outcome, person, tool }) => `${person} ${outcome} ${tool}`),
  };
}

describe("the recording of the support agent", () => {
  let runs: readonly ViewRun[];
  beforeAll(async () => {
    runs = await runsIn(RECORDED);
  });
  const of = (thread: string) => runs.filter(({ thread_id }) => thread_id === thread);

  it("has conversations of three tenants, and every end that the demo is to show", () => {
    const ends = runs.map(({ agent, failure_kind, outcome, resumed, tenant_id, thread_id }) => {
      const went = [outcome, failure_kind, resumed && "resumed"].filter(Boolean).join(" ");
      return [tenant_id, thread_id, agent, went];
    });
    expect(ends).toEqual([
      ["acme", "acme-1041", "support", "complete"],
      ["acme", "acme-1041", "support", "complete"],
      ["acme", "acme-1042", "support", "interrupted resumed"],
      ["acme", "acme-1042", "support", "complete"],
      ["acme", "acme-1042", "support", "complete"],
      ["acme", "acme-1043", "support", "complete"],
      ["acme", "acme-1043", "returns-desk", "complete"],
      ["globex", "globex-2201", "support", "complete"],
      ["globex", "globex-2201", "support", "complete"],
      ["globex", "globex-2202", "support", "failed usage_limit_exceeded"],
      ["initech", "initech-3301", "support", "failed tool_error_terminal"],
      ["initech", "initech-3302", "support", "interrupted resumed"],
      ["initech", "initech-3302", "support", "complete"],
      ["initech", "initech-3303", "support", "complete"],
      ["initech", "initech-3304", "support", "interrupted"],
    ]);
  });

  it("has a refund that a person changed, who it was and how long it took", () => {
    const [paused, resumed, later] = of("acme-1042");
    expect(paused?.question).toMatch(/^I was charged twice for order 23/);
    expect(paused?.asked).toBe('refund {"order":23,"euros":41.9}');
    expect(resumed?.resumed_from).toBe(paused?.run_id);
    const [decision] = resumed?.decisions ?? [];
    expect(decision).toMatchObject({ outcome: "edited", person: "ann@acme.test", tool: "refund" });
    expect(decision?.wait_ms).toBeGreaterThan(120_000);
    expect(resumed?.answer).toContain("36.90 EUR go back to your card");
    expect(later?.question).toBe("Why 36.90 and not 41.90?");
  });

  it("has a first attempt of that refund which failed, and one that was paid", async () => {
    const [, resumed] = of("acme-1042");
    const { spans } = await viewedRun([RECORDED], resumed?.run_id ?? "");
    const calls = spans.filter(({ kind }) => kind === "tool");
    expect(
      calls.map(({ attributes, message, name }) => [
        name,
        message,
        attributes["entelix.approval.person"],
        attributes["gen_ai.tool.call.result"] !== undefined,
      ]),
    ).toEqual([
      [
        "execute_tool refund",
        "payment service answered 503: overloaded, nothing was paid",
        "ann@acme.test",
        false,
      ],
      ["execute_tool refund", undefined, undefined, true],
    ]);
  });

  it("has one that a person rejected, and one that waits", () => {
    expect(of("initech-3302")[1]?.decisions).toMatchObject([
      { outcome: "denied", person: "sam@initech.test", tool: "refund" },
    ]);
    expect(of("initech-3304")[0]?.asked).toBe('refund {"order":92,"euros":249}');
  });

  it("has a model call that was refused and retried, a loop that was stopped, and a plain failure", async () => {
    const [retried] = of("globex-2201");
    const { spans } = await viewedRun([RECORDED], retried?.run_id ?? "");
    const calls = spans.filter(({ kind }) => kind === "model");
    expect(calls.map(({ attributes }) => attributes["entelix.error.provider_status"])).toEqual([
      429,
      undefined,
      undefined,
    ]);
    expect(calls[0]?.attributes["entelix.error.retry_after_secs"]).toBe(2);
    expect(of("globex-2202")[0]).toMatchObject({
      error: "'repair_status' tool call limit reached: run limit exceeded (9/8 calls).",
      loop: "repeat",
    });
    expect(of("initech-3301")[0]?.error).toContain("mail gateway answered 401: API key expired");
  });

  it("has a retrieval and a run of another agent below a tool call", async () => {
    const [outer, inner] = of("acme-1043");
    expect(inner?.parent_run_id).toBe(outer?.run_id);
    const { spans } = await viewedRun([RECORDED], outer?.run_id ?? "");
    const names = new Map(spans.map(({ name, span_id }) => [span_id, name]));
    const above = (name: string) => {
      const span = spans.find((one) => one.name === name);
      return names.get(span?.parent_span_id ?? "");
    };
    expect(above("invoke_agent returns-desk")).toBe("execute_tool ask_returns_desk");
    expect(above("retrieval HelpPages")).toBe("execute_tool search_help");
  });

  it("has the cost of every run, by the prices of the program", () => {
    const roots = runs.filter(({ parent_run_id }) => parent_run_id === undefined);
    for (const { cost_usd } of roots) expect(Number(cost_usd)).toBeGreaterThan(0);
    const of = (tenant: string) => {
      const own = roots.filter(({ tenant_id }) => tenant_id === tenant);
      return own.reduce((sum, { cost_usd }) => sum + Number(cost_usd), 0).toFixed(6);
    };
    expect([of("acme"), of("globex"), of("initech")]).toEqual(["0.009954", "0.011381", "0.006686"]);
  });

  it("has no name of a machine's files", () => {
    expect(readFileSync(RECORDED, "utf8")).not.toMatch(/node_modules|file:\/\/|\.mjs|\/tmp\//);
  });

  it("is what examples/support does, run again", async () => {
    using folder = new Folder();
    const file = folder.at("events.ndjson");
    const env = { OTEL_TRACES_EXPORTER: "none", OTEL_METRICS_EXPORTER: "none" };
    const args = ["--record", file, "--pace", "0.004"];
    const { code, err, out } = await runExample("support/main.mjs", args, env);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toContain(
      "acme · I was charged twice for order 23. Please refund me 41.90 EUR.\n" +
        "  waits: Refund 41.90 EUR for order 23?\n",
    );
    expect(out).toContain("acme · ann@acme.test says: edit\n  You are right: ");
    expect((await runsIn(file)).map(told)).toEqual(runs.map(told));
  });
});

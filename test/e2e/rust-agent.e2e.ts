import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readRows, verifyLog } from "../../src/entries/audit.ts";
import { type ExpectedNode, expectTrees } from "../bridge/spans/expected-tree.ts";
import { traceId } from "./support/fresh-ids.ts";
import { list, text } from "./support/json-shape.ts";
import { RustAgent, type RustRun, rustAgentProgram, rustSinkTests } from "./support/rust-agent.ts";
import { type IngestServer, startIngest } from "./support/rust-ingest.ts";
import { drawnRun, ROWS, SCENARIOS } from "./support/rust-scenarios.ts";
import { Stack, shipped } from "./support/stack.ts";
import { treesOf } from "./support/stored-span.ts";
import { untilHolds } from "./support/until.ts";

const SERVICE = "rust-agents";
/** With nothing in the cache, three hundred crates are compiled first, in ms. */
const COMPILING = 30 * 60_000;

const run = promisify(execFile);

describe("agents in other languages, through `entelix-otel serve`", () => {
  let program: string;
  let stack: Stack;
  let server: IngestServer;

  beforeAll(async () => {
    program = await rustAgentProgram();
    stack = await Stack.start({ servers: ["jaeger", "collector"] });
    server = await startIngest(stack, ["acme", "globex"], SERVICE);
  }, COMPILING);
  afterAll(async () => {
    await server.process[Symbol.asyncDispose]();
    await stack.stop();
  });

  const inJaeger = (expected: readonly ExpectedNode[]) =>
    untilHolds(`${expected.length} traces are in Jaeger, each as drawn`, async () => {
      for (const root of expected) {
        expectTrees(treesOf(await stack.jaeger.trace(traceId(root.run))), [root]);
      }
    });
  const eventsOf = (runs: readonly RustRun[]) => runs.reduce((sum, { events }) => sum + events, 0);

  it(
    "has a Rust sink whose own tests pass",
    async () => {
      expect(await rustSinkTests(program)).toBeGreaterThan(40);
    },
    COMPILING,
  );

  it("shows each run of a Rust agent with its tools and its failure kind", async () => {
    const agent = new RustAgent({
      program,
      url: server.process.url,
      token: server.tokenOf("acme"),
      tenant: "acme",
    });
    const counts = await agent.end();
    expect(agent.runs.map(({ scenario }) => scenario)).toEqual(SCENARIOS);
    expect(counts).toEqual({
      accepted: eventsOf(agent.runs),
      duplicate: 0,
      rejected: 0,
      dropped: 0,
      delays: 0,
    });
    await inJaeger(agent.runs.map((run) => drawnRun(run, "acme")));
    const [failed] = agent.runs.filter(({ scenario }) => scenario === "fails");
    const found = await stack.jaeger.search({
      service: SERVICE,
      tags: { "entelix.failure.kind": "tool_error_terminal", "entelix.tenant_id": "acme" },
    });
    expect(found).toEqual([traceId(failed?.runIds[0] ?? "")]);
  });

  it("takes no events of another tenant", async () => {
    const agent = new RustAgent({
      program,
      url: server.process.url,
      token: server.tokenOf("acme"),
      tenant: "globex",
    });
    const counts = await agent.end();
    expect(counts).toMatchObject({ accepted: 0, rejected: eventsOf(agent.runs), dropped: 0 });
  });

  it("loses and doubles nothing when it is killed and started again", async () => {
    const agent = new RustAgent({
      program,
      url: server.process.url,
      token: server.tokenOf("globex"),
      tenant: "globex",
      rounds: 60,
      pauseMs: 50,
    });
    await agent.ran(60);
    await server.process.kill();
    // Agents go on while it is away.
    await agent.ran(120);
    await server.process.start();
    const counts = await agent.end();
    expect(agent.runs).toHaveLength(60 * SCENARIOS.length);
    expect(counts).toMatchObject({ rejected: 0, dropped: 0 });
    expect(counts.accepted + counts.duplicate).toBe(eventsOf(agent.runs));
    expect(counts.delays).toBeGreaterThan(0);
    await inJaeger(agent.runs.map((run) => drawnRun(run, "globex")));
    await untilHolds("the rows of every run are in the log, once", async () => {
      const rows = new Map<string, number>();
      for await (const row of readRows(server.audit, { tenant_id: "globex" })) {
        const run = row.run_id ?? "";
        rows.set(run, (rows.get(run) ?? 0) + 1);
      }
      const rowsOf = ({ runIds }: RustRun) =>
        runIds.reduce((sum, id) => sum + (rows.get(id) ?? 0), 0);
      expect(agent.runs.filter((run) => rowsOf(run) !== ROWS[run.scenario])).toEqual([]);
      expect(rows.size).toBe(agent.runs.flatMap(({ runIds }) => runIds).length);
    });
    expect(await verifyLog(server.audit)).toMatchObject({ ok: true });
  });

  it("takes the ten lines of Python", async () => {
    const { stdout } = await run("python3", ["-B", shipped("examples/python/agent.py"), "acme"], {
      env: {
        ...process.env,
        ENTELIX_OTEL_URL: server.process.url,
        ENTELIX_OTEL_TOKEN: server.tokenOf("acme"),
      },
    });
    const said: unknown = JSON.parse(stdout);
    const runId = text(said, "run_id");
    expect(list(said, "results")).toEqual(["accepted", "accepted", "accepted", "accepted"]);
    await inJaeger([
      {
        span: "invoke_agent support",
        run: runId,
        trace: "run",
        status: "unset",
        attributes: { "entelix.tenant_id": "acme", "entelix.run.outcome": "complete" },
        children: [
          {
            span: "execute_tool lookup_order",
            run: runId,
            status: "unset",
            attributes: { "gen_ai.tool.call.id": "call_1", "entelix.tool.outcome": "complete" },
            children: [],
          },
        ],
      },
    ]);
    const ordinals = [];
    for await (const row of readRows(server.audit, { run_id: runId })) ordinals.push(row.ordinal);
    expect(ordinals).toEqual([1, 2, 3, 4]);
  });

  it("takes the line of curl, and the same lines again", async () => {
    const runId = v7();
    const common = { run_id: runId, tenant_id: "acme", timestamp: new Date().toISOString() };
    const lines = [
      { event_id: v7(), type: "started", agent: "by-hand", ...common },
      {
        event_id: v7(),
        type: "failed",
        error: "operation cancelled",
        envelope: { wire_code: "cancelled", wire_class: "client" },
        kind: { type: "cancelled" },
        ...common,
      },
    ];
    const curl = async () => {
      const running = run("sh", [shipped("examples/curl.sh")], {
        env: {
          ...process.env,
          ENTELIX_OTEL_URL: server.process.url,
          ENTELIX_OTEL_TOKEN: server.tokenOf("acme"),
        },
      });
      running.child.stdin?.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
      const answer: unknown = JSON.parse((await running).stdout);
      return list(answer, "results").map((result) => text(result, "status"));
    };
    expect(await curl()).toEqual(["accepted", "accepted"]);
    expect(await curl()).toEqual(["duplicate", "duplicate"]);
    await inJaeger([
      {
        span: "invoke_agent by-hand",
        run: runId,
        trace: "run",
        status: "error",
        description: "operation cancelled",
        attributes: { "error.type": "cancelled", "entelix.failure.kind": "cancelled" },
        children: [],
      },
    ]);
  });
});

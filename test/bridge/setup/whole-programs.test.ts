import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { codeBlocks, readPage } from "../../docs/pages.ts";
import { deadUrl, OtlpServer } from "../../support/otlp-server.ts";
import { wireTree } from "../../support/wire-tree.ts";
import { runNode, runText } from "./built-program.ts";

/** The programs of the README: an own loop, and LangChain. */
const [OWN = "", LANGCHAIN = ""] = codeBlocks(readPage("README.md"))
  .filter(({ language }) => language === "js")
  .map(({ text }) => text);

const TREE = ["invoke_agent support", "  execute_tool look_up", "  chat small-1"];
const MODEL_REQUEST = ["  step model_request", "    chat FakeBuiltModel"];
const GRAPH = [
  "invoke_agent support",
  ...MODEL_REQUEST,
  "  step tools",
  "    execute_tool look_up",
  ...MODEL_REQUEST,
];

/** A program with a change, as a user makes it. */
function changed(program: string, ...changes: readonly (readonly [string, string])[]): string {
  return changes.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`not in the program: ${from}`);
    return text.replace(from, to);
  }, program);
}

/** Runs a program, whose spans and metrics go to the receiver. */
async function run(program: string) {
  await using server = await OtlpServer.start();
  const ending = await runText(program, {
    OTEL_EXPORTER_OTLP_ENDPOINT: server.url,
  });
  const runs = server.points("entelix.runs").filter(({ value }) => value > 0);
  return {
    ...ending,
    warnings: ending.err.split("\n").filter((line) => line.includes("entelix-otel:")),
    spans: server.spans,
    runs: runs.map(({ attributes, value }) => [attributes["entelix.run.outcome"], value]),
  };
}

describe("the first program of the README", () => {
  it("sends its run", async () => {
    const { code, err, out, runs, spans } = await run(OWN);
    expect({ code, err, out }).toEqual({ code: 0, err: "", out: "Order 17 is sent.\n" });
    expect(wireTree(spans)).toEqual(TREE);
    expect(runs).toEqual([["complete", 1]]);
  });

  const FAILS = [
    '() => ({ state: "sent" })',
    '() => { throw new Error("no such order"); }',
  ] as const;

  it("sends a run that fails, too", async () => {
    const { code, err, out, runs, spans } = await run(changed(OWN, FAILS));
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain("Error: no such order");
    expect(err).not.toContain("lost");
    expect(wireTree(spans)).toEqual(TREE.slice(0, 2));
    expect(spans.find(({ name }) => name === "invoke_agent support")?.attributes).toMatchObject({
      "entelix.run.outcome": "failed",
      "error.type": "tool_error_terminal",
    });
    expect(runs).toEqual([["failed", 1]]);
  });

  const WITHOUT_FINALLY = [
    ["try {", "{"],
    ["} finally {", "}{"],
  ] as const;

  it("says what a run that fails lost where `finally` was left out, and what to do", async () => {
    const { code, spans, warnings } = await run(changed(OWN, FAILS, ...WITHOUT_FINALLY));
    expect([code, spans]).toEqual([1, []]);
    expect(warnings).toEqual([
      "entelix-otel: exit: SpanLossError: 2 spans lost (unconfirmed 2) of 2 that ended: " +
        "call `await shutdown()` of the setup in `finally` and before process.exit, " +
        "or set `handleErrors`",
    ]);
  });

  it("sends it by `handleErrors`", async () => {
    const handled = ["serviceName", "handleErrors: true, serviceName"] as const;
    const { code, runs, warnings } = await run(changed(OWN, FAILS, handled, ...WITHOUT_FINALLY));
    expect({ code, runs, warnings }).toEqual({ code: 1, runs: [["failed", 1]], warnings: [] });
  });

  it("sends its run without a shutdown", async () => {
    const { code, err, runs } = await run(changed(OWN, ["await telemetry.shutdown();", ""]));
    expect({ code, err, runs }).toEqual({ code: 0, err: "", runs: [["complete", 1]] });
  });

  it("names wrong options, and sends where the environment says", async () => {
    const { code, runs, warnings } = await run(
      changed(OWN, ["serviceName:", 'url: "http://127.0.0.1:9", servicename:']),
    );
    expect({ code, runs }).toEqual({ code: 0, runs: [["complete", 1]] });
    expect(warnings.map((line) => line.replace(/^.*entelix-otel: /, ""))).toEqual([
      "unknown option `url`: did you mean `endpoint`?",
      "unknown option `servicename`: did you mean `serviceName`?",
    ]);
  });

  it("says that a run came after the shutdown", async () => {
    const { code, runs, warnings } = await run(
      changed(OWN, ["const answer", "await telemetry.shutdown();\n  const answer"]),
    );
    expect({ code, runs }).toEqual({ code: 0, runs: [] });
    expect(warnings.map((line) => line.replace(/^.*entelix-otel: /, ""))).toEqual([
      "a run that starts after the shutdown is not reported: " +
        "call shutdown() once, at the end of the process",
    ]);
  });

  it("ends where nobody listens, and says what is lost", async () => {
    const dead = await deadUrl();
    const { code, out, warnings } = await run(
      changed(OWN, ["serviceName", `shutdownTimeoutMs: 1000, endpoint: "${dead}", serviceName`]),
    );
    expect({ code, out }).toEqual({ code: 0, out: "Order 17 is sent.\n" });
    const refused = `connect ECONNREFUSED ${dead.replace("http://", "")}`;
    expect(warnings).toContain(
      `entelix-otel: shutdown: SpanLossError: 3 spans lost (unreachable 3) of 3 that ended; ` +
        `last error of an export: ${refused}`,
    );
    expect(warnings).toContain(
      `entelix-otel: shutdown: Error: the last metrics were not sent within 1000 ms; ` +
        `last error of an export: ${refused}`,
    );
  });

  it("says that no provider is registered where a bridge is all there is", async () => {
    const setup = /const telemetry = .*\nconst sink = .*\n/.exec(OWN)?.[0] ?? "";
    const { code, out, spans, warnings } = await run(
      changed(
        OWN,
        [setup, "const sink = new Bridge();\n"],
        ['{ setupTelemetry } from "entelix-otel/telemetry"', '{ Bridge } from "entelix-otel"'],
        ["telemetry.shutdown()", "sink.shutdown()"],
      ),
    );
    expect({ code, out, spans }).toEqual({ code: 0, out: "Order 17 is sent.\n", spans: [] });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("no tracer provider is registered, so runs make no spans");
  });
});

describe("the program of the README with LangChain", () => {
  it("sends its run", async () => {
    const { code, err, out, runs, spans } = await run(LANGCHAIN);
    expect({ code, err, out }).toEqual({ code: 0, err: "", out: "Order 17 is on its way.\n" });
    expect(wireTree(spans)).toEqual(GRAPH);
    expect(runs).toEqual([["complete", 1]]);
  });

  it("says that a run has no tenant where the function gives none", async () => {
    const { code, spans, warnings } = await run(
      changed(LANGCHAIN, ['tenant: "acme"', "tenant: (metadata) => metadata.tenant"]),
    );
    expect([code, spans]).toEqual([0, []]);
    expect(warnings.map((line) => line.replace(/^.*entelix-otel: /, ""))).toEqual([
      "a run without a tenant is not reported: " +
        "TypeError: tenant: expected a text that is not empty, got undefined",
    ]);
  });

  it("says that two bridges send the same run, which counts once", async () => {
    const second = 'new LangChainHandler({ sink: telemetry.createBridge(), tenant: "acme" })';
    const { code, runs, spans, warnings } = await run(
      changed(LANGCHAIN, ["[handler]", `[handler, ${second}]`]),
    );
    expect([code, spans.length, runs]).toEqual([0, 2 * GRAPH.length, [["complete", 1]]]);
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(GRAPH.length);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("two bridges of one tracer provider got the same run");
  });
});

describe("a recording", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "entelix-otel-recording-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const program = (path: string, end: string) => `
    import { runAgent } from "entelix-otel/runtime";
    import { RecorderSink } from "entelix-otel/sinks";
    const sink = new RecorderSink({ path: ${JSON.stringify(path)} });
    await runAgent({ sink, agent: "support", tenant: "acme" }, () => "sent");
    ${end}`;

  it.each([
    ["idle", ""],
    ["shutdown", "await sink.shutdown(); process.exit();"],
  ])("is complete where its program ends by %s", async (way, end) => {
    const path = join(folder, way);
    const { code, err } = await runText(program(path, end));
    expect([code, err]).toEqual([0, ""]);
    const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).type)).toEqual(["started", "complete"]);
  });

  it.each([
    ["exit", "process.exit(3);", 3],
    ["throw", 'throw new Error("no such order");', 1],
  ])("says what is lost where its program ends by %s", async (way, end, status) => {
    const path = join(folder, way);
    const { code, err } = await runText(program(path, end));
    expect(code).toBe(status);
    const [said] = err.split("\n").filter((line) => line.startsWith("entelix-otel:"));
    expect(said?.replace(/\d+ bytes/, "N bytes")).toBe(
      `entelix-otel: recording to ${path}: the last N bytes were not written: ` +
        "call `await shutdown()` of the recorder in `finally` and before process.exit",
    );
    const quiet = await runText(program(path, end), { OTEL_LOG_LEVEL: "none" });
    expect(quiet.err).not.toContain("entelix-otel:");
  });
});

const PROGRAMS = join(import.meta.dirname, "end-programs");

/** Runs a program of the folder. */
async function play(
  program: string,
  args: readonly string[] = [],
  isReady?: (output: string) => boolean,
) {
  await using server = await OtlpServer.start();
  const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: server.url };
  const ending = await runNode([join(PROGRAMS, program), ...args], variables, isReady);
  return { ...ending, spans: server.spans, names: server.spans.map(({ name }) => name).sort() };
}

describe("an MCP server over stdio", () => {
  it("sends its calls when its client closes, without code at its end", async () => {
    const { code, err, out, spans } = await play("mcp-client.mjs");
    expect({ code, err, out }).toEqual({ code: 0, err: "", out: "Order 17 is on its way.\n" });
    expect(wireTree(spans)).toEqual([
      "invoke_agent support",
      "  execute_tool find_order",
      "    invoke_agent orders",
      "      execute_tool find_order",
    ]);
    expect(spans.map(({ resource }) => resource["service.name"]).sort()).toEqual([
      "orders",
      "orders",
      "shop",
      "shop",
    ]);
  });
});

describe("the copies of the package that `import` and `require` load", () => {
  it.each(["esm", "cjs"])(
    "have both sent before a signal has its effect: %s is slow",
    async (slow) => {
      const ending = await play("two-copies.mjs", [slow], (output) => output.includes("waits"));
      expect([ending.code, ending.signal, ending.err]).toEqual([null, "SIGTERM", ""]);
      expect(ending.names).toEqual(["invoke_agent cjs", "invoke_agent esm"]);
    },
  );
});

describe("a worker thread", () => {
  const BOTH = ["chat small-1", "invoke_agent support"];

  it.each([
    ["idle", "", BOTH],
    ["throw", "no such order\n", BOTH],
    ["exit", "", []],
  ])("that ends by %s", async (way, out, names) => {
    const ending = await play("worker.mjs", [way]);
    expect([ending.code, ending.out, ending.names]).toEqual([0, out, names]);
    expect(ending.err.includes("2 spans lost (unconfirmed 2)")).toBe(way === "exit");
  });
});

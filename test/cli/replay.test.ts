import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { readText } from "../support/golden.ts";
import { command } from "./support/any-process.ts";
import { MAIN } from "./support/command.ts";
import { Folder } from "./support/folder.ts";
import { parseLines, readSpans } from "./support/otlp-lines.ts";
import { completed, line, recording, started } from "./support/recorded.ts";

const WRITE_ONLY = "/proc/sys/vm/drop_caches";
const RUN = "018f3c7a-0000-7000-8000-000000000002";

describe("replay --json", () => {
  it("counts events, spans, runs, outcomes and failure kinds of recordings", async () => {
    const files = ["success", "tool_error_terminal", "nested_subagent", "pause", "cancelled"];
    const { code, stdout, stderr } = await command(["replay", ...files.map(recording), "--json"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toEqual({
      events: 26,
      spans: 13,
      runs: 6,
      outcomes: { complete: 3, failed: 2, interrupted: 1 },
      failure_kinds: { tool_error_terminal: 1, cancelled: 1 },
      ignored: {},
      rejected: 0,
      rejected_fields: {},
      late: 0,
      unknown_types: {},
      unknown_values: {},
      adjustments: {},
      failures: 0,
      unreadable: [],
    });
  });

  it("says what changed nothing and why, and what it does not know", async () => {
    const stdin = [
      started({ event_id: "a" }),
      started({ event_id: "a" }),
      line({ type: "mood", timestamp: "2026-04-29T12:00:00.1Z" }),
      line({
        type: "failed",
        timestamp: "2026-04-29T12:00:00.2Z",
        error: "x",
        envelope: { wire_code: "new_code", wire_class: "server" },
        kind: { type: "brand_new" },
      }),
      completed(),
      started({ run_id: "" }),
    ].join("\n");
    const { code, stdout } = await command(["replay", "-", "--json"], { stdin });
    const summary: Record<string, unknown> = JSON.parse(stdout);
    expect(code).toBe(0);
    expect(summary).toMatchObject({
      events: 6,
      spans: 1,
      runs: 1,
      outcomes: { failed: 1 },
      failure_kinds: { unclassified: 1 },
      ignored: { duplicate: 1, unknown_type: 1, second_terminal: 1, empty_run_id: 1 },
      unknown_types: { mood: 1 },
      unknown_values: { "kind.type=brand_new": 1 },
    });
  });

  it("closes what the input leaves open", async () => {
    const { stdout } = await command(["replay", "-", "--json"], { stdin: started() });
    expect(JSON.parse(stdout)).toMatchObject({ runs: 1, outcomes: { abandoned: 1 } });
  });
});

describe("replay --out", () => {
  it("writes OTLP/JSON: ids, times and 64-bit values as the mapping has them", async () => {
    using folder = new Folder();
    const out = folder.at("spans.jsonl");
    const args = ["replay", recording("success"), "--out", out, "--service-name", "support"];
    expect((await command(args)).code).toBe(0);
    const spans = readSpans(out);
    expect(spans.map((span) => [span.name, span.parentSpanId])).toEqual([
      ["execute_tool double", "817579e327b20933"],
      ["execute_tool search", "817579e327b20933"],
      ["execute_tool double", "817579e327b20933"],
      ["invoke_agent react", undefined],
    ]);
    expect(spans[3]?.spanId).toBe("817579e327b20933");
    expect(new Set(spans.map((span) => span.traceId))).toEqual(
      new Set(["01a1fbfa48237117817579e327b20933"]),
    );
    const run = spans[3];
    expect(run?.startTimeUnixNano).toBe("1795228846115225867");
    expect(run?.endTimeUnixNano).toBe("1795228846181152971");
    expect(run?.values).toMatchObject({
      "gen_ai.usage.input_tokens": { intValue: "360" },
      "entelix.agent.usage.cost": { stringValue: "0.0063" },
    });
    expect(JSON.parse(run?.text ?? "")[0]).toEqual({
      attributes: [{ key: "service.name", value: { stringValue: "support" } }],
      droppedAttributesCount: 0,
    });
  });

  it("takes the resource from the environment, but neither sampler, limits nor endpoint", async () => {
    const env = {
      OTEL_SERVICE_NAME: "from-env",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test,service.instance.id=i-1",
      OTEL_TRACES_SAMPLER: "always_off",
      OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT: "2",
      OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT: "3",
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1",
      OTEL_SDK_DISABLED: "true",
    };
    const { code, stdout } = await command(["replay", recording("pause"), "--out", "-"], { env });
    const [span, ...others] = parseLines(stdout);
    expect([code, others.length]).toEqual([0, 0]);
    expect(span?.values).toMatchObject({
      "entelix.run_id": { stringValue: "01a1fbfa-4a5c-71d6-b1ec-8cec415f8c46" },
      "entelix.interruption.kind": { stringValue: "approval_pending" },
    });
    expect(JSON.parse(span?.text ?? "")[0].attributes).toEqual([
      { key: "deployment.environment.name", value: { stringValue: "test" } },
      { key: "service.instance.id", value: { stringValue: "i-1" } },
      { key: "service.name", value: { stringValue: "from-env" } },
    ]);
  });

  it("continues the trace of a recorded traceparent", async () => {
    const traceparent = "00-11111111111111111111111111111111-2222222222222222-00";
    const stdin = [started({ traceparent }), completed()].join("\n");
    const { stdout } = await command(["replay", "-", "--out", "-"], { stdin });
    const [span] = parseLines(stdout);
    expect(span?.traceId).toBe("11111111111111111111111111111111");
    expect(span?.parentSpanId).toBe("2222222222222222");
    expect(span?.spanId).toBe("8000000000000002");
  });

  it("keeps a token count beyond signed 64 bits within them", async () => {
    const usage = {
      requests: 1,
      input_tokens: 3,
      output_tokens: 0,
      tool_calls: 0,
      cost_usd: "0.30",
    };
    const text = completed({ usage }).replace(
      '"input_tokens":3',
      '"input_tokens":18446744073709551615',
    );
    const stdin = [started(), text].join("\n");
    const { stdout } = await command(["replay", "-", "--out", "-"], { stdin });
    expect(parseLines(stdout)[0]?.values).toMatchObject({
      "gen_ai.usage.input_tokens": { intValue: "9223372036854774784" },
      "gen_ai.usage.output_tokens": { intValue: "0" },
    });
  });
});

describe("replay content", () => {
  const stdin = [
    started(),
    line({
      type: "tool_start",
      tool_use_id: "c",
      tool: "t",
      tool_version: null,
      input: "SENTINEL",
    }).replace('"SENTINEL"', '{"account":9007199254740993,"secret":"SENTINEL"}'),
    completed({ state: { secret: "SENTINEL" } }),
  ].join("\n");

  it("stays off the spans unless it is asked for", async () => {
    const { stdout } = await command(["replay", "-", "--out", "-"], { stdin });
    expect(parseLines(stdout)).toHaveLength(2);
    expect(stdout).not.toContain("SENTINEL");
  });

  it("is exact with --capture-content, big integers too", async () => {
    const args = ["replay", "-", "--out", "-", "--capture-content"];
    const { stdout } = await command(args, { stdin });
    const [call, run] = parseLines(stdout);
    expect(call?.values["gen_ai.tool.call.arguments"]).toEqual({
      stringValue: '{"account":9007199254740993,"secret":"SENTINEL"}',
    });
    expect(run?.values["entelix.run.state"]).toEqual({ stringValue: '{"secret":"SENTINEL"}' });
  });
});

describe("replay options for spans", () => {
  const decision = { by: "user", person: "eve" };
  const exception = { type: "Error", message: "no", stacktrace: "Error: no" };
  const tool = { tool: "pay", tool_version: null };
  const stdin = [
    started(),
    line({ type: "step_start", step_id: "s", step: "plan" }),
    line({ type: "step_complete", step_id: "s", step: "plan", duration_ms: 0 }),
    line({
      type: "tool_call_denied",
      tool_use_id: "c",
      tool: "pay",
      reason: "",
      details: { decision },
    }),
    line({ type: "tool_start", tool_use_id: "d", ...tool, input: null }),
    line({
      type: "tool_error",
      tool_use_id: "d",
      ...tool,
      error: "no",
      error_for_llm: "",
      envelope: { wire_code: "tool_failed", wire_class: "server" },
      duration_ms: 0,
      details: { exception },
    }),
    completed(),
  ].join("\n");
  const seen = async (...options: string[]) => {
    const { stdout } = await command(["replay", "-", "--out", "-", ...options], { stdin });
    const spans = parseLines(stdout);
    return {
      steps: spans.filter(({ name }) => name.startsWith("step ")).length,
      exceptions: stdout.split('"name":"exception"').length - 1,
      person: spans.flatMap(({ values }) => values["entelix.approval.person"] ?? []),
    };
  };

  it("shows steps and exceptions, and nobody's name", async () => {
    expect(await seen()).toEqual({ steps: 1, exceptions: 1, person: [] });
  });

  it("shows what it is asked for", async () => {
    const options = ["--approval-person", "--no-exceptions", "--no-steps"];
    expect(await seen(...options)).toEqual({
      steps: 0,
      exceptions: 0,
      person: [{ stringValue: "eve" }],
    });
  });
});

describe("replay with other names of attributes", () => {
  const stdin = readText("streams/retried_tool_call.ndjson");
  const spansWith = async (...options: string[]) => {
    const { stdout } = await command(["replay", "-", "--out", "-", ...options], { stdin });
    return parseLines(stdout).map(({ values }) => values);
  };

  it("shows OpenInference's names with --conventions, and IDs with the tenant", async () => {
    const options = ["--conventions", "openinference", "--session-per-tenant"];
    const spans = await spansWith(...options, "--subject-on-all-spans");
    const kinds = spans.map((values) => JSON.stringify(values["openinference.span.kind"]));
    expect(kinds.toSorted()).toEqual(
      ["AGENT", "TOOL", "TOOL"].map((kind) => JSON.stringify({ stringValue: kind })),
    );
    expect(spans.filter((values) => "gen_ai.operation.name" in values)).toEqual([]);
    for (const values of await spansWith()) {
      expect(values["gen_ai.operation.name"]).toBeDefined();
      expect(values["openinference.span.kind"]).toBeUndefined();
    }
  });

  it("prints the same trace and the same summary with either names", async () => {
    for (const file of ["nested_subagent", "tool_error_terminal", "resume"].map(recording)) {
      const plain = await command(["replay", file]);
      expect(plain.stdout).toMatch(/events, [12] runs?, \d spans/);
      const other = await command(["replay", file, "--conventions", "openinference"]);
      expect(other).toEqual(plain);
    }
  });

  it("says which values it expects", async () => {
    const { code, stderr } = await command(["replay", "-", "--out", "-", "--conventions", "x"], {
      stdin,
    });
    expect(code).toBe(1);
    expect(stderr).toContain('--conventions: expected genai, openinference, both, got "x"');
  });
});

describe("replay sources", () => {
  it("reads gzip, standard input and several files as one history", async () => {
    using folder = new Folder();
    const [first, second] = readText("streams/retried_tool_call.ndjson").split(/(?<=\n)/, 2);
    const rest = readText("streams/retried_tool_call.ndjson").slice(
      (first ?? "").length + (second ?? "").length,
    );
    writeFileSync(folder.at("a.ndjson.gz"), gzipSync(`${first}${second}`));
    const whole = ["replay", "-", "--out", "-"];
    const parts = ["replay", folder.at("a.ndjson.gz"), "-", "--out", "-"];
    const [one, two] = await Promise.all([
      command(whole, { stdin: gzipSync(readText("streams/retried_tool_call.ndjson")) }),
      command(parts, { stdin: rest }),
    ]);
    expect(parseLines(one.stdout).map((span) => span.spanId)).toEqual([
      "b19560a0064a3c46",
      "803296fb45d3d91d",
      "8000000000000002",
    ]);
    expect(two.stdout).toBe(one.stdout);
  });

  it("puts events in order where the end of a run is in a file before its start", async () => {
    using folder = new Folder();
    const lines = readText("streams/retried_tool_call.ndjson").trimEnd().split("\n");
    const whole = await command(["replay", "-", "--out", "-"], { stdin: `${lines.join("\n")}\n` });
    // Each line in a file of its own, in the reverse order.
    const files = lines.toReversed().map((line, index) => {
      writeFileSync(folder.at(`${index}.ndjson`), `${line}\n`);
      return folder.at(`${index}.ndjson`);
    });
    const parts = await command(["replay", ...files, "--out", "-"]);
    expect(parts.stdout).toBe(whole.stdout);
    const { stdout } = await command(["replay", ...files, "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ events: lines.length, late: 0, rejected: 0 });
  });

  it("reads a pipe that is named like a file, as the shell's <(…) names one", () => {
    const args = [process.execPath, MAIN, recording("pause")];
    const [named, dash] = ["/dev/stdin", "-"].map((name) => {
      const script = `cat "$2" | "$0" "$1" replay ${name} --out -`;
      return spawnSync("sh", ["-c", script, ...args], { encoding: "utf8" });
    });
    expect(named?.status).toBe(0);
    expect(parseLines(named?.stdout ?? "")).toHaveLength(1);
    expect(named?.stdout).toBe(dash?.stdout);
  });

  it.each(["replay"])("%s - refuses a directory as standard input", (name) => {
    using folder = new Folder();
    const script = '"$0" "$1" "$2" - --audit "$3/log" < "$3"';
    const { status, stdout, stderr } = spawnSync(
      "sh",
      ["-c", script, process.execPath, MAIN, name, folder.path],
      { encoding: "utf8" },
    );
    expect([status, stdout, stderr]).toEqual([
      1,
      "",
      "entelix-otel: standard input: expected a file, got a directory\n",
    ]);
  });

  it("prints the trees and the figures without --json, and where nothing went", async () => {
    const { code, stdout, stderr } = await command(["replay", recording("tool_error")]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toBe(
      [
        "trace 01a1fbfa488570f98eae5000024dac4a  tenant acme",
        "invoke_agent react       28 ms  ✓ complete",
        '├─ execute_tool flaky   5.3 ms  ✗ error: rate_limit "provider returned 429: slow down"',
        "└─ execute_tool double  9.4 ms  ✓ complete",
        "",
        "6 events, 1 run, 3 spans: 1 complete",
        "Nothing was sent or written. Use --endpoint, --out or --audit.",
        "",
      ].join("\n"),
    );
  });

  it.each([
    [["no-such-file"], "no-such-file: no such file"],
    [[recording("pause"), "no-such-file"], "no-such-file: no such file"],
    [["/"], "/: expected a file, got a directory"],
    [["-", "-"], "expected - (standard input) only once"],
    [
      ["-", "--out", "-", "--json"],
      "--out - and --json: expected only one of them, both write to stdout",
    ],
    [
      ["-", "--rejects", "-", "--json"],
      "--rejects - and --json: expected only one of them, both write to stdout",
    ],
    [
      ["-", "--out", "-", "--rejects", "-"],
      "--out - and --rejects -: expected only one of them, both write to stdout",
    ],
    [
      ["-", "--out", "-", "--rejects", "-", "--json"],
      "--out - and --rejects - and --json: expected only one of them, all write to stdout",
    ],
    [["-", "--audit", "-"], "--audit: expected a directory, got -"],
    [["-", "--out", "x", "--rejects", "./x"], "--out and --rejects: expected two different files"],
    [
      ["-", "--endpoint", "127.0.0.1:4318"],
      '--endpoint: expected an address such as http://127.0.0.1:4318, got "127.0.0.1:4318"',
    ],
    [
      ["-", "--dialect", "entlix"],
      '--dialect: expected one of auto, entelix, agent-sdk, defect, graph; got "entlix"',
    ],
    [
      ["-", "--out", "/no/such/place"],
      "--out: ENOENT: no such file or directory, open '/no/such/place'",
    ],
    [["-", "--audit", "/dev/null/log"], "--audit: ENOTDIR: not a directory, mkdir '/dev/null/log'"],
    [["-", "--rejects", "/"], "--rejects: EISDIR: illegal operation on a directory, open '/'"],
  ])("refuses %j before anything is read", async (args, message) => {
    const { code, stdout, stderr } = await command(["replay", ...args], { stdin: started() });
    expect([code, stdout, stderr.split("\n")[0]]).toEqual([1, "", `entelix-otel: ${message}`]);
  });

  // Nobody may read it, not even root, under whom tests run in containers.
  it.skipIf(!existsSync(WRITE_ONLY))(
    "refuses a file that may not be read before the others are",
    async () => {
      const { code, stdout, stderr } = await command(["replay", recording("pause"), WRITE_ONLY]);
      expect([code, stdout, stderr]).toEqual([
        1,
        "",
        `entelix-otel: ${WRITE_ONLY}: no permission to read it\n`,
      ]);
    },
  );

  it("does not write over what it reads", async () => {
    using folder = new Folder();
    const file = folder.at("events.ndjson");
    writeFileSync(file, `${started()}\n`);
    for (const option of ["--out", "--rejects"]) {
      const { code, stderr } = await command(["replay", file, option, file]);
      expect([code, stderr]).toEqual([
        1,
        `entelix-otel: ${option}: ${file} is one of the files to read\n`,
      ]);
    }
    expect(readFileSync(file, "utf8")).toBe(`${started()}\n`);
  });

  it("replays what could be read of a file that is cut, and says so", async () => {
    using folder = new Folder();
    const events = [
      started(),
      completed(),
      started({ type: "brand_new" }),
      ...Array.from({ length: 2_000 }, () => started({ run_id: crypto.randomUUID() })),
    ];
    const whole = gzipSync(events.join("\n"));
    writeFileSync(folder.at("cut.gz"), whole.subarray(0, whole.length - 400));
    const args = ["replay", folder.at("cut.gz"), recording("pause"), "--json"];
    const { code, stdout, stderr } = await command(args);
    const summary: {
      outcomes: Record<string, number>;
      unknown_types: Record<string, number>;
      unreadable: string[];
    } = JSON.parse(stdout);
    expect(code).toBe(1);
    expect(summary.unknown_types).toEqual({ brand_new: 1 });
    expect(summary.unreadable).toEqual([folder.at("cut.gz")]);
    expect(summary.outcomes).toMatchObject({ complete: 1, interrupted: 1 });
    expect(stderr).toBe(
      `${folder.at("cut.gz")}: cannot be read to its end: unexpected end of file\n`,
    );
  });

  it("ends quietly with 1 when the reader of its spans goes away", async () => {
    using folder = new Folder();
    const runs = Array.from({ length: 20_000 }, () => {
      const run_id = crypto.randomUUID();
      return `${started({ run_id })}\n${completed({ run_id })}\n`;
    });
    writeFileSync(folder.at("many.ndjson"), runs.join(""));
    const args = ["replay", folder.at("many.ndjson"), "--out", "-"];
    const { code, stderr } = await command(args, { closeStdoutAfter: 1 });
    expect([code, stderr]).toEqual([1, ""]);
  });

  it.each([
    ["--out", [started(), completed()].join("\n")],
    ["--rejects", "oops"],
  ])("says when %s is full, and gives up", async (option, stdin) => {
    const { code, stderr } = await command(["replay", "-", option, "/dev/full"], { stdin });
    expect(stderr).toContain(`entelix-otel: ${option}: ENOSPC: no space left on device`);
    expect(code).toBe(1);
  });

  it("says when a variable that counts can't be used, and no other", async () => {
    const env = { OTEL_RESOURCE_ATTRIBUTES: "a=b=c", OTEL_TRACES_SAMPLER: "sometimes" };
    const { code, stderr } = await command(["replay", recording("pause")], { env });
    expect(stderr).toMatch(/^OTEL_RESOURCE_ATTRIBUTES: expected name=value pairs.*\n$/);
    expect(code).toBe(0);
  });

  it("keeps tenant-chosen run ids apart", async () => {
    const stdin = readText("streams/two_tenants_same_run_id.ndjson");
    const { stdout } = await command(["replay", "-", "--out", "-"], { stdin });
    const traces = new Map<string, Set<unknown>>();
    for (const span of parseLines(stdout)) {
      const tenants = traces.get(span.traceId) ?? new Set();
      traces.set(span.traceId, tenants.add(JSON.stringify(span.values["entelix.tenant_id"])));
    }
    expect([...traces.values()].map((tenants) => tenants.size)).toEqual([1, 1]);
    expect(traces.has(RUN.replaceAll("-", ""))).toBe(true);
  });
});

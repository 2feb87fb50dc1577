import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { OtlpServer } from "../support/otlp-server.ts";
import { command } from "./support/any-process.ts";
import { Folder } from "./support/folder.ts";
import { readSpans, spanSet } from "./support/otlp-lines.ts";
import { recording } from "./support/recorded.ts";

const FILES = ["success", "nested_subagent", "tool_error_terminal"].map(recording);
const OTHERS = fileURLToPath(new URL("../view/sources/spans/", import.meta.url));
const HINT = "Nothing was sent or written. Use --endpoint, --out or --audit.";
const NO_REQUEST = "expected an ExportTraceServiceRequest in JSON on one line";

/** The spans of three recordings, as `replay --out` writes them. */
let lines: string;

/** What a replay prints for people, without what it says of events. */
function shown(stdout: string): string[] {
  return stdout.split("\n").map((line) => line.replace(/^\d+ events?, /, ""));
}

beforeAll(async () => {
  const { stdout } = await command(["replay", ...FILES, "--out", "-", "--service-name", "shop"]);
  lines = stdout;
});

describe("replay of a file of spans", () => {
  it("prints the same traces, failures and counts as the replay of the recording", async () => {
    using folder = new Folder();
    writeFileSync(folder.at("spans.ndjson"), lines);
    const ofEvents = await command(["replay", ...FILES]);
    const ofSpans = await command(["replay", folder.at("spans.ndjson")]);
    expect([ofSpans.code, ofSpans.stderr]).toEqual([0, ""]);
    expect(shown(ofSpans.stdout)).toEqual(shown(ofEvents.stdout));
    expect(ofSpans.stdout).toContain("\n4 runs, 11 spans: 3 complete, 1 failed\n");
    expect(ofSpans.stdout).toContain(HINT);
  });

  it("writes and counts the identical spans", async () => {
    using folder = new Folder();
    writeFileSync(folder.at("spans.ndjson"), lines);
    const args = ["replay", folder.at("spans.ndjson"), "--out", folder.at("again"), "--json"];
    const { code, stdout } = await command(args);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ events: 0, spans: 11, runs: 4, rejected: 0 });
    expect(spanSet(folder.at("again"))).toEqual(spanSet(folder.at("spans.ndjson")));
    expect(readSpans(folder.at("again"))).toHaveLength(11);
  });

  it("has one error for a request over several lines", async () => {
    using folder = new Folder();
    const file = folder.at("spans.json");
    const [first = "", ...others] = lines.split("\n");
    const text = JSON.stringify(JSON.parse(first), undefined, 2);
    writeFileSync(file, `${text}\n${others.join("\n")}`);
    const { code, stderr, stdout } = await command(["replay", file, "--json"]);
    expect(stderr).toBe(`${file}:1: line: ${NO_REQUEST} (jq -c . writes it so)\n`);
    const rejected = text.split("\n").length;
    expect(rejected).toBeGreaterThan(100);
    expect(JSON.parse(stdout)).toMatchObject({ rejected, rejected_fields: { line: 1 } });
    expect(code).toBe(2);
  });

  it.each(["http/protobuf", "http/json"])(
    "sends the identical spans, with %s",
    async (protocol) => {
      using folder = new Folder();
      writeFileSync(folder.at("spans.ndjson"), lines);
      const env = { OTEL_EXPORTER_OTLP_PROTOCOL: protocol };
      await using live = await OtlpServer.start();
      await command(["replay", ...FILES, "--endpoint", live.url, "--service-name", "shop"], {
        env,
      });
      await using again = await OtlpServer.start();
      const args = ["replay", folder.at("spans.ndjson"), "--endpoint", again.url, "--json"];
      const { code, stderr, stdout } = await command(args, { env });
      expect([code, stderr]).toEqual([0, ""]);
      expect(JSON.parse(stdout)).toMatchObject({ sent: { delivered: 11, undelivered: 0 } });
      expect([again.faults, live.faults]).toEqual([[], []]);
      expect(again.spans).toHaveLength(11);
      expect(again.spans).toEqual(live.spans);
    },
  );

  it("reads gzip, and standard input", async () => {
    using folder = new Folder();
    writeFileSync(folder.at("spans.ndjson.gz"), gzipSync(lines));
    const zipped = await command(["replay", folder.at("spans.ndjson.gz"), "--json"]);
    const piped = await command(["replay", "-", "--json"], { stdin: lines });
    const both = [zipped, piped].map(({ stdout }) => JSON.parse(stdout).spans);
    expect(both).toEqual([11, 11]);
  });

  it("is read beside recordings", async () => {
    using folder = new Folder();
    writeFileSync(folder.at("spans.ndjson"), lines);
    const args = [folder.at("spans.ndjson"), recording("pause"), "--out", folder.at("out")];
    const { code, stdout } = await command(["replay", ...args, "--json"]);
    expect(code).toBe(0);
    const { events, runs, spans } = JSON.parse(stdout);
    expect([events > 0, runs, spans]).toEqual([true, 5, 12]);
    expect(readSpans(folder.at("out"))).toHaveLength(12);
  });

  it("names each damaged line and span with file and line, and copies these lines", async () => {
    using folder = new Folder();
    const file = folder.at("spans.ndjson");
    const [line = ""] = lines.split("\n");
    const damaged = [
      line.slice(0, -40),
      '{"resourceMetrics":[]}',
      '{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"1"}]}]}]}',
    ];
    writeFileSync(file, `${damaged[0]}\n${line}\n\n${damaged[1]}\n${damaged[2]}\n`);
    const args = ["replay", file, "--rejects", folder.at("rejects"), "--json"];
    const { code, stderr, stdout } = await command(args);
    expect(code).toBe(2);
    expect(stderr.trimEnd().split("\n")).toEqual([
      `${file}:1: line: ${NO_REQUEST}`,
      `${file}:4: line: ${NO_REQUEST}`,
      `${file}:5: span: expected IDs of 32 and 16 hex digits, a start and an end in nanoseconds`,
    ]);
    expect(JSON.parse(stdout)).toMatchObject({
      spans: 11,
      rejected: 3,
      rejected_fields: { line: 2, span: 1 },
    });
    expect(readFileSync(folder.at("rejects"), "utf8").trimEnd().split("\n")).toEqual(damaged);
  });

  it("names what nests too deeply, and replays the rest", async () => {
    using folder = new Folder();
    const [line = ""] = lines.split("\n");
    const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
    const inResource = line.replace('{"resource":{', `{"resource":{"x":${deep},`);
    const inSpan = line.replace('"traceId":', `"x":${deep},"traceId":`);
    expect([inResource, inSpan].map((text) => text.length > line.length)).toEqual([true, true]);
    writeFileSync(folder.at("spans.ndjson"), [inResource, inSpan, line, ""].join("\n"));
    const args = ["replay", folder.at("spans.ndjson"), "--out", folder.at("again")];
    const { code, stderr } = await command(args);
    expect(code).toBe(2);
    const [first, second, ...more] = stderr.trimEnd().split("\n");
    expect(first).toMatch(/spans\.ndjson:1: line: expected resources and scopes that can be read/);
    expect(second).toMatch(/spans\.ndjson:2: span: expected at most 2000 levels in x$/);
    expect(more).toEqual([]);
    expect(readSpans(folder.at("again")).length).toBeGreaterThan(1);
  });

  it("replays what was read of a file that is cut, and says so", async () => {
    using folder = new Folder();
    const file = folder.at("spans.ndjson.gz");
    writeFileSync(file, gzipSync(`${lines}${lines}`).subarray(0, -9));
    const { code, stderr, stdout } = await command(["replay", file, "--json"]);
    expect(code).toBe(1);
    expect(stderr).toContain(`${file}: cannot be read to its end: `);
    expect(JSON.parse(stdout)).toMatchObject({ spans: 22, unreadable: [file] });
  });

  it.each(["file", "standard input"])(
    "makes no audit rows of a %s, and writes none",
    async (from) => {
      using folder = new Folder();
      const file = folder.at("spans.ndjson");
      writeFileSync(file, lines);
      const name = from === "file" ? file : "-";
      const args = ["replay", name, "--audit", folder.at("audit")];
      const { code, stderr, stdout } = await command(args, { stdin: lines });
      expect([code, stdout]).toEqual([1, ""]);
      const shownName = from === "file" ? file : "stdin";
      expect(stderr.trimEnd().split("\n")).toEqual([
        `entelix-otel: --audit: expected recorded events, got spans (${shownName}): audit rows are not made from spans`,
        "Replay the recording of these runs with --audit, and the spans without it.",
      ]);
      // Files are looked at before anything is opened.
      if (from === "file") expect(existsSync(folder.at("audit"))).toBe(false);
    },
  );

  it("says which options have no effect", async () => {
    using folder = new Folder();
    const file = folder.at("spans.ndjson");
    writeFileSync(file, lines);
    const options = ["--service-name", "other", "--capture-content", "--out", folder.at("out")];
    const { code, stderr } = await command(["replay", file, ...options]);
    expect(code).toBe(0);
    expect(stderr).toBe(
      `${file}: spans are replayed unchanged, without effect of --service-name, --capture-content\n`,
    );
    expect(spanSet(folder.at("out"))).toEqual(spanSet(file));
  });
});

describe("replay of spans of other instrumentation", () => {
  it.each(readdirSync(OTHERS))("%s: the identical spans again", async (name) => {
    using folder = new Folder();
    const file = `${OTHERS}${name}`;
    await using server = await OtlpServer.start();
    const args = ["--out", folder.at("out"), "--endpoint", server.url, "--json"];
    const { code, stderr, stdout } = await command(["replay", file, ...args]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(spanSet(folder.at("out"))).toEqual(spanSet(file));
    expect(server.faults).toEqual([]);
    const sent = server.spans.map(({ name, spanId, traceId }) => [traceId, spanId, name]);
    const read = readSpans(file).map(({ name, spanId, traceId }) => [traceId, spanId, name]);
    expect(sent.sort()).toEqual(read.sort());
    expect(JSON.parse(stdout)).toMatchObject({ spans: read.length, rejected: 0 });
  });

  it("prints their traces without a tenant, and which spans failed", async () => {
    const { stdout } = await command(["replay", `${OTHERS}openinference-langchain.ndjson`]);
    expect(stdout).toMatch(/^trace [0-9a-f]{32}$/m);
    expect(stdout).toMatch(/✗ failed/);
  });
});

import { readFileSync, writeFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { OutputWriter } from "../../src/cli/replay/output-writer.ts";
import { RejectsFile } from "../../src/cli/replay/rejects-file.ts";
import { command } from "./support/any-process.ts";
import { Folder } from "./support/folder.ts";
import { completed, line, RAW_CONTROL, started } from "./support/recorded.ts";

/** Each kind of wrong line, and what is said of it. */
const WRONG: readonly (readonly [what: string, bytes: string | Buffer, said: readonly string[]])[] =
  [
    ["no JSON", "oops", ["json: expected a value at column 1"]],
    ["cut JSON", '{"type":"started"', ["json: expected ',' or '}' at column 18"]],
    ["no object", "1", ["line: expected a JSON object"]],
    [
      "an array",
      "[1]",
      ["line: expected one event a line, and no array (jq -c '.[]' writes its events so)"],
    ],
    [
      "the beginning of an array",
      "[",
      ["json: expected one event a line, and no array (jq -c '.[]' writes its events so)"],
    ],
    [
      "the beginning of an object",
      " {",
      ["json: expected a whole event in one line (jq -c . writes it so)"],
    ],
    [
      "no type",
      '{"timestamp":"2026-04-29T12:00:00Z"}',
      ['type: expected an event type such as "started"'],
    ],
    [
      "no tenant, no time",
      '{"type":"started","run_id":"r","agent":"a"}',
      [
        "tenant_id: expected non-empty text",
        "timestamp: expected an RFC 3339 time such as 2026-04-29T12:00:00.5Z",
      ],
    ],
    [
      "an impossible day",
      started({ timestamp: "2026-02-30T12:00:00Z" }),
      ["timestamp: expected an RFC 3339 time such as 2026-04-29T12:00:00.5Z"],
    ],
    ["a number as agent", started({ agent: 7 }), ["agent: expected text"]],
    [
      "a negative duration",
      line({
        type: "tool_complete",
        tool_use_id: "c",
        tool: "t",
        duration_ms: -1,
        output: null,
      }),
      ["duration_ms: expected milliseconds from 0"],
    ],
    [
      "a bad traceparent",
      started({ traceparent: "00-0-0-01" }),
      ["traceparent: expected a W3C traceparent (version-trace id-span id-flags, in hex)"],
    ],
    [
      "a negative sequence",
      started({ sequence: -1 }),
      ["sequence: expected a whole number from 0"],
    ],
    ["bytes that are no UTF-8", Buffer.from([0x7b, 0xff, 0x7d]), ["line: expected valid UTF-8"]],
  ];

describe("a wrong line", () => {
  it.each(WRONG)(
    "(%s) is named, copied byte for byte, and does not stop the rest",
    async (_, bytes, said) => {
      using folder = new Folder();
      const file = folder.at("events.ndjson");
      const wrong = Buffer.concat([Buffer.from(bytes), Buffer.from("\r\n")]);
      writeFileSync(
        file,
        Buffer.concat([Buffer.from(`${started()}\n\n`), wrong, Buffer.from(completed())]),
      );
      const args = ["replay", file, "--rejects", folder.at("rejects"), "--json"];
      const { code, stdout, stderr } = await command(args);
      expect(stderr).toBe(said.map((text) => `${file}:3: ${text}\n`).join(""));
      expect(readFileSync(folder.at("rejects"))).toEqual(wrong);
      expect(JSON.parse(stdout)).toMatchObject({
        rejected: 1,
        events: 2,
        outcomes: { complete: 1 },
        rejected_fields: Object.fromEntries(said.map((text) => [text.split(":")[0], 1])),
      });
      expect(code).toBe(2);
    },
  );

  it("is not joined with the first one of the next file", async () => {
    using folder = new Folder();
    writeFileSync(folder.at("a"), `${started()}\nbad one`);
    writeFileSync(folder.at("b"), `bad two\n${completed()}\nbad three`);
    const args = ["replay", folder.at("a"), folder.at("b"), "--rejects", folder.at("rejects")];
    const { code, stderr, stdout } = await command(args);
    expect(readFileSync(folder.at("rejects"), "utf8")).toBe("bad one\nbad two\nbad three");
    const bad = "json: expected a value at column 1";
    const places = [folder.at("a:2"), folder.at("b:1"), folder.at("b:3")];
    expect(stderr).toBe(places.map((place) => `${place}: ${bad}\n`).join(""));
    expect(stdout).toContain("\n3 lines rejected\n");
    expect(code).toBe(2);
  });

  it("longer than the limit is copied whole", async () => {
    using folder = new Folder();
    const long = `{"type":"started","agent":"${"x".repeat(17 * 1024 * 1024)}"}\n`;
    writeFileSync(folder.at("a"), `${started()}\n${long}${completed()}\n`);
    const args = ["replay", folder.at("a"), "--rejects", folder.at("rejects"), "--json"];
    const { code, stderr } = await command(args);
    expect(stderr).toBe(`${folder.at("a")}:2: line: expected at most 16777216 bytes\n`);
    expect(readFileSync(folder.at("rejects"), "utf8") === long).toBe(true);
    expect(code).toBe(2);
  });

  it("goes to standard output for -, and the summary then to standard error", async () => {
    const stdin = `${started()}\nbad one\n${completed()}\nbad two`;
    const { code, stderr, stdout } = await command(["replay", "-", "--rejects", "-"], { stdin });
    expect(stdout).toBe("bad one\nbad two");
    expect(stderr).toContain("stdin:2: json: expected a value at column 1\n");
    expect(stderr).toContain("\n2 lines rejected\n");
    expect(code).toBe(2);
  });

  it("stops without a word when the reader of standard output has gone", async () => {
    const stdin = `bad${"!".repeat(1_000)}\n`.repeat(5_000);
    const { code, stderr } = await command(["replay", "-", "--rejects", "-"], {
      stdin,
      closeStdoutAfter: 1,
    });
    expect(stderr).not.toMatch(/EPIPE|--rejects/);
    expect(code).toBe(1);
  });

  it("is escaped on a terminal, a character that comes in two parts whole", async () => {
    const stream = new PassThrough();
    const rejects = new RejectsFile(new OutputWriter("--rejects", stream, false), true);
    const bytes = Buffer.from("\x1b[2J검\x9b\nb\r\n");
    await rejects.add({ line: 1, bytes: bytes.subarray(0, 5), last: false });
    await rejects.add({ line: 1, bytes: bytes.subarray(5), last: true });
    await rejects.close();
    stream.end();
    expect(await text(stream)).toBe("\\x1b[2J검\\x9b\nb\\r\n");
  });

  it("leaves an empty file of rejects when there is none, and 0", async () => {
    using folder = new Folder();
    writeFileSync(folder.at("rejects"), "of last time");
    const args = ["replay", "-", "--rejects", folder.at("rejects")];
    const { code } = await command(args, { stdin: started() });
    expect([code, readFileSync(folder.at("rejects"), "utf8")]).toEqual([0, ""]);
  });
});

describe("what data could do to a terminal", () => {
  const HOSTILE = "\x1b[2J\x9b31m\u202edrow\x07\x7f\r\n";

  it("never gets there raw: names, error texts, file names, fields, unknown types", async () => {
    using folder = new Folder();
    const file = folder.at("\x1b[31mred.ndjson");
    const tool = { tool_use_id: HOSTILE, tool: HOSTILE, tool_version: null };
    const envelope = { wire_code: HOSTILE, wire_class: "client" };
    const run_id = `r${HOSTILE}`;
    const text = [
      started({ agent: HOSTILE, tenant_id: HOSTILE, run_id }),
      line({ type: "tool_start", ...tool, input: HOSTILE, tenant_id: HOSTILE, run_id }),
      line({
        type: "tool_error",
        ...tool,
        duration_ms: 1,
        error: HOSTILE,
        error_for_llm: HOSTILE,
        envelope,
        kind: HOSTILE,
        tenant_id: HOSTILE,
        run_id,
      }),
      line({
        type: "failed",
        timestamp: "2026-04-29T12:00:01Z",
        error: HOSTILE,
        envelope,
        kind: { type: "tool_error_terminal", kind: "auth", tool_name: HOSTILE },
        tenant_id: HOSTILE,
        run_id,
      }),
      line({ type: HOSTILE }),
      "{",
    ];
    writeFileSync(file, text.join("\n"));
    const replayed = await command(["replay", file, "--audit", folder.at("audit")]);
    const shown = await command(["audit", "show", folder.at("audit")]);
    const located = await command(["where", HOSTILE, "--tenant", HOSTILE]);
    const missing = await command(["replay", HOSTILE]);
    for (const { stdout, stderr } of [replayed, shown, located, missing]) {
      expect(stdout + stderr).not.toMatch(RAW_CONTROL);
    }
    expect(replayed.stdout).toContain("execute_tool \\x1b[2J\\x9b31m\\u202edrow\\x07\\x7f\\r\\n");
    expect(replayed.stdout).toContain("unknown types: 1 \\x1b[2J");
    expect(replayed.stderr).toContain("\\x1b[31mred.ndjson:6: json: expected");
    expect(shown.stdout).toContain("tenant \\x1b[2J");
    expect([replayed.code, shown.code, located.code, missing.code]).toEqual([2, 0, 0, 1]);
  });
});

/** As `jq .` writes it. */
function indented(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

describe("a JSON value over several lines", () => {
  const events: readonly unknown[] = [started(), completed()].map((text) => JSON.parse(text));
  const ONE_LINE = "json: expected a whole event in one line (jq -c . writes it so)";
  const NO_ARRAY =
    "json: expected one event a line, and no array (jq -c '.[]' writes its events so)";

  it.each([
    ["events", events.map(indented).join(""), ONE_LINE],
    ["an array", indented(events), NO_ARRAY],
    ["an array that ends with a text", indented([...events, "text"]), NO_ARRAY],
  ])("(%s) is one error, and all of its lines are copied", async (_, text, said) => {
    using folder = new Folder();
    const file = folder.at("events.json");
    writeFileSync(file, text);
    const args = ["replay", file, "--rejects", folder.at("rejects"), "--json"];
    const { code, stderr, stdout } = await command(args);
    expect(stderr).toBe(`${file}:1: ${said}\n`);
    expect(readFileSync(folder.at("rejects"), "utf8")).toBe(text);
    const rejected = text.trimEnd().split("\n").length;
    expect(JSON.parse(stdout)).toMatchObject({ rejected, events: 0, rejected_fields: { json: 1 } });
    expect(code).toBe(2);
  });

  it("ends before a whole line: later errors are said again", async () => {
    using folder = new Folder();
    const file = folder.at("events.ndjson");
    writeFileSync(file, `${started()}\n${indented({ a: [{}] })}${completed()}\n  oops\n`);
    const { code, stderr, stdout } = await command(["replay", file, "--json"]);
    expect(stderr).toBe(`${file}:2: ${ONE_LINE}\n${file}:8: json: expected a value at column 3\n`);
    expect(JSON.parse(stdout)).toMatchObject({ rejected: 6, outcomes: { complete: 1 } });
    expect(code).toBe(2);
  });

  it("does not take whole lines between the brackets of an array", async () => {
    using folder = new Folder();
    const file = folder.at("events.ndjson");
    writeFileSync(file, `[\n${started()}\n${completed()}\n]\n`);
    const { stderr, stdout } = await command(["replay", file, "--json"]);
    expect(stderr).toBe(`${file}:1: ${NO_ARRAY}\n`);
    expect(JSON.parse(stdout)).toMatchObject({ rejected: 2, outcomes: { complete: 1 } });
  });
});

import { describe, expect, it } from "vitest";
import { MemorySessionLog } from "../../src/audit/memory-session-log.ts";
import { withinRow } from "../../src/audit/row-values.ts";
import type { AnyGraphEvent } from "../../src/audit/wire/graph-event.ts";
import {
  decodeGraphEvent,
  encodeGraphEvent,
  isGraphEvent,
} from "../../src/audit/wire/graph-event-codec.ts";

const timestamp = "2026-04-29T12:00:00Z";
const MOST = 4_096;
const within = (event: AnyGraphEvent, recorded?: readonly string[]) =>
  withinRow(event, { recorded, most: MOST });
const HUGE = "x".repeat(MOST + 1);

const result = (content: unknown): AnyGraphEvent => ({
  kind: "tool_result",
  tool_use_id: "c1",
  name: "fetch",
  content,
  is_error: false,
  timestamp,
});

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

describe("an event within the limit of a row", () => {
  it("is the same object", () => {
    for (const content of ["x", { a: [1, null, "y"] }, new Date(0), null, HUGE.slice(0, 200)]) {
      const event = result(content);
      expect(within(event)).toBe(event);
    }
  });

  it("is stored as it is when the log reads it, however large its value is", async () => {
    const many = Array.from({ length: 2_000 }, (_, n): [string, string] => [`k${n}`, "text"]);
    for (const given of [Object.fromEntries(many), new Map(many)]) {
      const event = within(result({ first: given }));
      const large = withinRow(result(given));
      // Another log may copy the row, or read it later.
      expect(encodeGraphEvent(large)).toBe(encodeGraphEvent(structuredClone(large)));
      expect(large).toMatchObject({ content: Object.fromEntries(many) });
      expect(event).toMatchObject({ cut: ["content"] });
    }
  });

  it("keeps a value of exactly the limit, and says of one byte more that it is cut", () => {
    const whole = result(HUGE.slice(0, MOST - 2));
    expect(within(whole)).toEqual(whole);
    expect(within(result(HUGE.slice(0, MOST - 1)))).toMatchObject({ cut: ["content"] });
  });

  it("has what JSON does not know in a form that can be read", () => {
    const content = { map: new Map([["a", 1]]), bytes: new Uint8Array([0, 1, 2]), big: 2n ** 60n };
    expect(within(result(content))).toEqual(
      result({ map: { a: 1 }, bytes: { type: "Uint8Array", base64: "AAEC" }, big: 2n ** 60n }),
    );
  });
});

describe("an event that was read from JSON", () => {
  it("stays as it was written, and is cut where it does not fit", () => {
    const event = result({ type: "Buffer", data: [0, 1, 2] });
    expect(withinRow(event, { isJson: true })).toBe(event);
    expect(withinRow(event)).toEqual(result({ type: "Buffer", base64: "AAEC" }));
    expect(withinRow(result(HUGE), { isJson: true, most: MOST }).cut).toEqual(["content"]);
  });
});

describe("a value above the limit of a row", () => {
  it("has more than 12 MiB of JSON, also where it is longer than a text can be", {
    timeout: 120_000,
  }, () => {
    const whole = result("x".repeat(12 * 1024 * 1024 - 2));
    expect(withinRow(whole)).toEqual(whole);
    const half = "x".repeat(300 * 1024 * 1024);
    const row = withinRow(result([half, half]));
    expect(row.cut).toEqual(["content"]);
    expect(encodeGraphEvent(row).length).toBeLessThanOrEqual(12 * 1024 * 1024 + 200);
  });

  const events: readonly [string, AnyGraphEvent, string][] = [
    ["a text", result(HUGE), "content"],
    ["a list", result(Array.from({ length: 10_000 }, (_, n) => `entry ${n}`)), "content"],
    ["an object", result({ id: 7, rows: HUGE, last: HUGE }), "content"],
    ["bytes", result(new Uint8Array(MOST)), "content"],
    ["an array with holes", result(Object.assign([], { 4294967294: HUGE })), "content"],
    ["an input", { kind: "tool_call", id: "c", name: "n", input: { q: HUGE }, timestamp }, "input"],
    ["a payload", { kind: "interrupt", payload: [HUGE], timestamp }, "payload"],
    ["a reason", { kind: "cancelled", reason: HUGE, timestamp }, "reason"],
    ["a message", { kind: "error", class: "c", message: HUGE, timestamp }, "message"],
    [
      "a list of parts",
      { kind: "user_message", content: [{ type: "text", text: HUGE }], timestamp },
      "content",
    ],
    [
      "a decision",
      {
        kind: "entelix.tool_call_decided",
        tool_use_id: "c",
        name: "n",
        decision: "edited",
        proposed_input: HUGE,
        timestamp,
      },
      "proposed_input",
    ],
    ["a name", { kind: "tool_call", id: "c", name: HUGE.repeat(20), input: 1, timestamp }, "name"],
  ];

  it.each(events)("is cut and marked: %s", (_, event, field) => {
    const row = within(event);
    expect(row.cut).toEqual([field]);
    expect(decodeGraphEvent(row)).toEqual({ event: row, known: true });
    const { cut: _cut, [field]: value, ...rest }: Record<string, unknown> = { ...row };
    const { [field]: _given, ...others }: Record<string, unknown> = { ...event };
    expect(rest).toEqual(others);
    expect(bytesOf(value)).toBeLessThanOrEqual(field === "name" ? 65_536 : MOST);
    // The same event gives the same row, and what was cut is cut no further.
    expect(encodeGraphEvent(within(event))).toBe(encodeGraphEvent(row));
    expect(within(row)).toEqual(row);
  });

  it("stays in upstream's form", () => {
    const row = within(result(HUGE));
    expect(isGraphEvent(row)).toBe(true);
    expect(encodeGraphEvent(row)).toMatch(
      /"is_error":false,"cut":\["content"\],"timestamp":"[^"]+"}$/,
    );
  });

  it("is named once if its recorder has cut it", () => {
    expect(within(result("…"), ["output"]).cut).toEqual(["content"]);
    expect(within(result(HUGE), ["output", "state"]).cut).toEqual(["content"]);
    expect(within({ kind: "cancelled", reason: "r", timestamp }, ["output"]).cut).toBeUndefined();
  });

  it("leaves its row in any log", async () => {
    const log = new MemorySessionLog();
    const key = { tenant_id: "acme", thread_id: "t" };
    await log.append(key, [{ event: within(result(HUGE)) }]);
    const [row] = await log.loadSince(key, 0);
    expect(row?.event).toMatchObject({ name: "fetch", cut: ["content"] });
  });
});

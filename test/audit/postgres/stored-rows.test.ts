import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AuditRow } from "../../../src/audit/audit-row.ts";
import { MemorySessionLog } from "../../../src/audit/memory-session-log.ts";
import { eventKey } from "../../../src/audit/postgres/append-batch.ts";
import { erasedText } from "../../../src/audit/postgres/erase.ts";
import { databaseRow, statedHead, storedText } from "../../../src/audit/postgres/stored-rows.ts";
import { withEvent } from "../../../src/audit/stored-row.ts";
import { encodeGraphEvent } from "../../../src/audit/wire/graph-event-codec.ts";
import { entry, key } from "../support/entries.ts";

/** The columns of a row, as the database gives them. */
function columnsOf(row: AuditRow): Record<string, unknown> {
  const { event: _, event_text, ...facts } = row;
  const stored = Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [
      name,
      typeof value === "string" ? storedText(value) : value,
    ]),
  );
  return {
    ...stored,
    thread: "7",
    ordinal: String(row.ordinal),
    event: event_text,
    event_key: row.event_id === null ? null : eventKey(row.event_id).toString("hex"),
    archived: false,
  };
}

async function someRow(): Promise<AuditRow> {
  const log = new MemorySessionLog();
  await log.append(key, [entry("a", { event_id: 'e"1', trace_id: "\u0000" })]);
  const [row] = await log.loadSince(key, 0);
  if (row === undefined) throw new Error("no row");
  return row;
}

describe("databaseRow", () => {
  it("reads the row that every other store has", async () => {
    const row = await someRow();
    const read = databaseRow(columnsOf(row));
    expect(read.problem).toBeUndefined();
    expect(read.row && withEvent(read.row)).toEqual(row);
    expect(read).toMatchObject({ thread: "7", ordinal: 1, archived: false });
  });

  it.each<[string, Record<string, unknown>, string]>([
    ["an edited id", { run_id: "r2" }, "edited: the row's hash is not that of its fields"],
    ["an edited event", { event: '{"kind":"x"}' }, "edited: the event is not the one"],
    ["no event", { event: "nothing" }, "edited: the event is not the one"],
    ["an id that is no text", { run_id: 'r"1' }, "no row: expected a JSON object"],
    [
      "another spelling",
      { run_id: "\\u0072\\u0031" },
      "edited: the row is not written as this log",
    ],
    ["a key that is not its event's", { event_key: "00".repeat(16) }, "edited: the key is not"],
    ["a key too much", { event_id: null }, "edited: the row's hash"],
    ["no thread", { tenant_id: null, thread_id: null }, "the row's thread is missing"],
  ])("finds %s", async (_, edit, said) => {
    const { problem } = databaseRow({ ...columnsOf(await someRow()), ...edit });
    expect(problem).toContain(said);
  });

  it("is not misled by an id that ends its own string early", async () => {
    const row = await someRow();
    const columns = columnsOf(row);
    const thread_id = `${columns.thread_id},"ordinal":1,"prev":"${row.prev}"`.replace(",", '",');
    expect(databaseRow({ ...columns, thread_id }).problem).toBeDefined();
  });

  it("takes an erased event for what it is, and only exactly that", async () => {
    const row = await someRow();
    const erased = databaseRow({ ...columnsOf(row), event: erasedText(row.event_text) });
    expect(erased).toMatchObject({ problem: undefined, row: { erased: true, hash: row.hash } });
    const event = '{"erased":true,"kind":"k","timestamp":"t","and":"more"}';
    expect(databaseRow({ ...columnsOf(row), event }).problem).toContain("edited");
  });

  it("reads what a thread says of its last row", () => {
    const fields = { head_ordinal: "5", head_hash: "ab", head_name: "cd" };
    expect(statedHead(fields)).toEqual({ ordinal: 5, hash: "ab", name: "cd" });
    expect(statedHead({ head_ordinal: null, head_hash: null, head_name: null })).toBeUndefined();
  });
});

describe("erasedText", () => {
  it("leaves kind and time, briefly, of any event", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.string({ unit: "binary", maxLength: 3000 }),
        fc.option(fc.string({ unit: "binary", maxLength: 3000 }), { nil: undefined }),
        (fields, kind, timestamp) => {
          const text = encodeGraphEvent({ ...fields, kind, ...(timestamp && { timestamp }) });
          const erased = erasedText(text);
          expect(Buffer.byteLength(erased)).toBeLessThan(1024);
          expect(Object.keys(JSON.parse(erased))).toEqual(["erased", "kind", "timestamp"]);
          expect(JSON.parse(erased).kind).toBe(kind.slice(0, 64));
          expect(erasedText(erased)).toBe(erased);
        },
      ),
    );
    const of = (timestamp: unknown) => erasedText(JSON.stringify({ kind: "moved", timestamp }));
    for (const time of ["2026-04-29T12:00:00.120000001Z", "2026-04-29T21:00:00+09:00"]) {
      expect(of(time)).toBe(`{"erased":true,"kind":"moved","timestamp":"${time}"}`);
    }
    for (const other of ["called Mary on 555 0100", 1_777_464_000, { at: 1 }, undefined]) {
      expect(of(other)).toBe('{"erased":true,"kind":"moved","timestamp":""}');
    }
    expect(erasedText("no event")).toBe('{"erased":true,"kind":"","timestamp":""}');
  });
});

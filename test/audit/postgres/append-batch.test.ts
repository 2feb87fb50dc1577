import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EMPTY_THREAD } from "../../../src/audit/audit-row.ts";
import { AppendBatch, threadName } from "../../../src/audit/postgres/append-batch.ts";
import { int4Array, int8Array, textArray } from "../../../src/audit/postgres/binary-array.ts";
import { idOf, storedText } from "../../../src/audit/postgres/stored-rows.ts";
import { call, named } from "./support/named-entries.ts";

/** The items of an array in PostgreSQL's binary format, read by its description. */
function itemsOf(array: Buffer): (Buffer | null)[] {
  const dimensions = array.readInt32BE(0);
  if (dimensions === 0) return [];
  expect([dimensions, array.readInt32BE(16)]).toEqual([1, 1]);
  const items: (Buffer | null)[] = [];
  let at = 20;
  for (let n = array.readInt32BE(12); n > 0; n -= 1) {
    const length = array.readInt32BE(at);
    at += 4;
    items.push(length < 0 ? null : array.subarray(at, at + length));
    at += Math.max(0, length);
  }
  expect(at).toBe(array.length);
  expect(array.readInt32BE(4)).toBe(items.includes(null) ? 1 : 0);
  return items;
}

describe("an array for PostgreSQL", () => {
  it("has texts and nothings as they are", () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.string({ unit: "grapheme" }))), (texts) => {
        const items = itemsOf(textArray(texts)).map((item) => item?.toString("utf8") ?? null);
        expect(items).toEqual(texts);
      }),
    );
  });

  it("has numbers of either size", () => {
    expect(itemsOf(int4Array([1, 70_000])).map((item) => item?.readInt32BE())).toEqual([1, 70_000]);
    const large = Number.MAX_SAFE_INTEGER;
    expect(itemsOf(int8Array([large])).map((item) => item?.readBigInt64BE())).toEqual([
      BigInt(large),
    ]);
    expect(int8Array([]).toString("hex")).toBe("000000000000000000000014");
  });
});

describe("an id", () => {
  it("is stored without what PostgreSQL can't hold, and read back as it was", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (id) => {
        const stored = storedText(id);
        expect(stored).not.toContain("\u0000");
        // Half a surrogate pair has no bytes: it would come back as another character.
        expect(Buffer.from(stored).toString()).toBe(stored);
        expect(idOf(stored)).toBe(id);
      }),
    );
    expect(storedText("01a1fbfa-4a07 é")).toBe("01a1fbfa-4a07 é");
    expect(idOf('a"b')).toBe('a"b');
  });

  it("names a thread such that no two share it", () => {
    const names = [
      ["a", "bc"],
      ["ab", "c"],
      ['a","b', "c"],
      ["a", 'b","c'],
    ].map(([tenant_id = "", thread_id = ""]) =>
      threadName({ tenant_id, thread_id }).toString("hex"),
    );
    expect(new Set(names).size).toBe(4);
    expect(names[0]).toBe(createHash("sha256").update('["a","bc"]').digest("hex"));
  });
});

describe("AppendBatch", () => {
  it("numbers threads and entries in the order of the calls", () => {
    const batch = new AppendBatch([call("t1", "a", null), call("t2"), call("t1", "b")]);
    const [names, tenants, threads, places, runs, ids, keys, traces, , digests, events] = batch
      .parameters()
      .map(itemsOf);
    expect(names).toEqual([threadName(named("t1")), threadName(named("t2"))]);
    expect(tenants?.map(String)).toEqual(["acme", "acme"]);
    expect(threads?.map(String)).toEqual(["t1", "t2"]);
    expect(places?.map((place) => place?.readInt32BE())).toEqual([1, 1, 1]);
    expect(runs?.map(String)).toEqual(["r1", "r1", "r1"]);
    expect(ids?.map((id) => id?.toString() ?? null)).toEqual(["a", null, "b"]);
    const key = createHash("sha256").update("a").digest().subarray(0, 16);
    expect([keys?.[0], keys?.[1], traces?.[0]]).toEqual([key, null, null]);
    for (const [n, event] of (events ?? []).entries()) {
      const digest = createHash("sha256")
        .update(event ?? "")
        .digest();
      expect(digests?.[n]).toEqual(digest);
    }
  });

  it("tells each call its highest row, and a probe the head behind the calls before it", () => {
    const batch = new AppendBatch([
      call("t1"),
      call("t1", "new", "known"),
      call("t1", "known"),
      call("t1"),
      call("t2"),
    ]);
    const row = (place: number, ordinal: number) => ({
      place,
      ordinal: String(ordinal),
      hash: `h${ordinal}`,
    });
    const rows = [
      row(-1, 4),
      { ...row(-2, 0), hash: EMPTY_THREAD.hash },
      row(1, 5),
      row(2, 2),
      row(3, 2),
    ];
    expect(batch.anchors({ rows })).toEqual([
      { ordinal: 4, hash: "h4" },
      { ordinal: 5, hash: "h5" },
      { ordinal: 2, hash: "h2" },
      { ordinal: 5, hash: "h5" },
      EMPTY_THREAD,
    ]);
  });
});

import { describe, expect, it, vi } from "vitest";
import { keyedHash } from "../../../src/view/runs/keyed-hash.ts";
import { TextTable } from "../../../src/view/runs/text-table.ts";

const PRIME = 0x01000193;

/** 2^9 names with one hash of FNV-1a: nine times two pieces that lead from one state to one state, found by trying. */
function alike(): string[] {
  let names = [""];
  let state = 0x811c9dc5;
  for (let stage = 0; stage < 9; stage += 1) {
    const seen = new Map<number, string>();
    for (let n = 0; ; n += 1) {
      const piece = (Math.imul(n + 1, 0x9e3779b1) >>> 0).toString(16).padStart(8, "0");
      let hash = state;
      for (let at = 0; at < 8; at += 1) hash = Math.imul(hash ^ piece.charCodeAt(at), PRIME);
      const other = seen.get(hash);
      if (other === undefined) {
        seen.set(hash, piece);
        continue;
      }
      names = names.flatMap((name) => [name + other, name + piece]);
      state = hash;
      break;
    }
  }
  return names;
}

describe("TextTable", () => {
  it("compares few texts, also of those whose ids a sender chose", () => {
    const ids = alike();
    const compared = vi.spyOn(Buffer.prototype, "equals");
    try {
      const table = new TextTable();
      expect(ids.map((id) => table.idOf(id))).toEqual(ids.map((_, at) => at + 1));
      expect(ids.map((id) => table.find(id))).toEqual(ids.map((_, at) => at + 1));
      // Half of the square of them, where all belong in one slot.
      expect(ids).toHaveLength(512);
      expect(compared.mock.calls.length).toBeLessThan(20 * ids.length);
    } finally {
      compared.mockRestore();
    }
  });
});

describe("keyedHash", () => {
  it("is HalfSipHash-2-4: the vectors of its authors", () => {
    const key = [0x03020100, 0x07060504] as const;
    const hashes = Array.from({ length: 4 }, (_, length) =>
      keyedHash(
        Uint8Array.from({ length }, (_byte, at) => at),
        key,
      ),
    );
    expect(hashes).toEqual([0x5b9f35a9, 0xb85a4727, 0x03a662fa, 0x04e7fe8a]);
  });
});

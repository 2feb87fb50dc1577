import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { CommitChain, headerText, NO_COMMIT } from "../../src/audit/ndjson/commit-chain.ts";
import {
  indexesIn,
  indexName,
  segmentName,
  segmentsIn,
} from "../../src/audit/ndjson/segment-store.ts";

describe("CommitChain", () => {
  it("hashes what the format says, for any number of lines", () => {
    const chain = new CommitChain(NO_COMMIT);
    let prev = "0".repeat(64);
    for (const [index, count] of [0, 1, 3, 5000].entries()) {
      const hashes = Array.from({ length: count }, (_, n) => sha256(`${index} ${n}`));
      for (const hash of hashes) chain.cover(hash);
      expect(chain.rows).toBe(count);
      const made = chain.next();
      const expected = sha256(JSON.stringify([prev, index + 1, ...hashes]));
      expect(made).toEqual({ commit: index + 1, hash: expected });
      chain.continueFrom(made);
      expect(chain.rows).toBe(0);
      prev = expected;
    }
  });
});

describe("marks and headers", () => {
  it("are in the hash of their commit, and of the first one in a segment", () => {
    const before = { commit: 7, hash: sha256("7") };
    const row = sha256("row");
    for (const [mark, inner] of [
      [undefined, [sha256(headerText(3, before)), row]],
      ["open", [sha256(headerText(3, before)), row, "open"]],
      ["closed", [sha256(headerText(3, before)), row, "closed"]],
    ] as const) {
      const chain = new CommitChain(NO_COMMIT);
      chain.begin({ segment: 3, before });
      // A write that failed leaves the chain as it was.
      chain.cover(sha256("lost"));
      chain.next();
      chain.forget();
      chain.cover(row);
      expect(chain.rows).toBe(1);
      const hash = sha256(JSON.stringify([before.hash, 8, ...inner]));
      expect(chain.next(mark)).toEqual({ commit: 8, hash });
    }
  });
});

describe("the names of a log's files", () => {
  it("are read back as they are written, and nothing else is", () => {
    expect([segmentName(7), indexName(123_456_789)]).toEqual([
      "segment-00000007.ndjson",
      "segment-123456789.index",
    ]);
    const names = [
      "segment-00000010.ndjson",
      "segment-00000009.ndjson",
      "segment-000000009.ndjson",
      "segment-00000000.ndjson",
      "segment-00000011.ndjson.bak",
      "segment-00000012.index",
      "segment-00000013.index.tmp",
    ];
    expect(segmentsIn(names)).toEqual([9, 10]);
    expect(indexesIn(names)).toEqual([12]);
  });
});

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isUuid, RunIds } from "../../../src/events/ids/run-ids.ts";
import {
  referenceMurmur3,
  referenceSpanId,
  uuidBytes,
  uuidOfZeroSpan,
} from "../../bridge/lifecycle/reference-murmur3.ts";
import { runs } from "../../support/runs.ts";

const RUN = "018f3c7a-0000-7000-8000-000000000002";

function ofUuid(runId: string): RunIds {
  const ids = RunIds.fromUuid(runId);
  if (ids === undefined) throw new TypeError(`expected a UUID, got ${runId}`);
  return ids;
}

describe("the reference", () => {
  // From the Python package mmh3: hash128(text, seed=0, x64arch=False), as words.
  it.each([
    ["", "0 0 0 0"],
    ["hello", "2b2444a0 db91def7 9adb31b6 9adb31b6"],
    ["The quick brown fox jumps over the lazy dog", "2f1583c3 ecee2c67 5d7bf66c e5e91d2c"],
  ])("gives the words that mmh3 gives for %j", (text, words) => {
    const hash = referenceMurmur3(Buffer.from(text));
    expect(hash.map((word) => word.toString(16)).join(" ")).toBe(words);
  });
});

describe("the ids of the contract", () => {
  const ids = ofUuid(RUN);

  it("are the bytes of the run id", () => {
    expect(ids.traceId).toBe("018f3c7a000070008000000000000002");
    expect(ids.spanId).toBe("8000000000000002");
    expect(ids.hashed).toBe(false);
  });

  it("are as computed elsewhere for tool calls, model calls and segments", () => {
    expect(ids.childSpanId("t", "call_1")).toBe("b19560a0064a3c46");
    expect(ids.childSpanId("t", "call_1", 2)).toBe("803296fb45d3d91d");
    expect(ids.childSpanId("t", "", 1)).toBe("51848e8612576710");
    expect(ids.childSpanId("t", "", 2)).toBe("4ded7f5c2f6dead1");
    expect(ids.childSpanId("t", "검색#0")).toBe("c4b2ebdc846158af");
    expect(ids.childSpanId("m", "1")).toBe("fb7cfff1168e333b");
    expect(ids.childSpanId("s", "2")).toBe("f459c5ad74d96d44");
    expect(ids.childSpanId("p", "1")).toBe("b0350205bd1b55ca");
  });

  it("of a run id that is no UUID come from tenant and run id", () => {
    const r1 = RunIds.hashed("acme", "r1");
    expect(r1.traceId).toBe("6dbcf892fc24da1baefbc0f8eacc3072");
    expect(r1.spanId).toBe("aefbc0f8eacc3072");
    expect(r1.childSpanId("t", "tu-1")).toBe("dc409a847ff1018e");
    expect(r1.hashed).toBe(true);
  });

  it("do not number anything but tool calls", () => {
    expect(ids.childSpanId("m", "", 5)).toBe(ids.childSpanId("m", ""));
    expect(ids.childSpanId("o", "", 2)).toBe(ids.childSpanId("o", ""));
    expect(ids.childSpanId("t", "")).not.toBe(ids.childSpanId("o", ""));
  });
});

describe("what counts as a UUID", () => {
  it("is any version, in upper or lower case", () => {
    const upper = "6BA7B810-9DAD-11D1-80B4-00C04FD430C8";
    expect(ofUuid(upper).traceId).toBe("6ba7b8109dad11d180b400c04fd430c8");
    expect(isUuid(RUN)).toBe(true);
    expect(isUuid("00000000-0000-4000-8000-000000000000")).toBe(true);
  });

  it("is not the nil one, nor the max one", () => {
    for (const text of [
      "00000000-0000-0000-0000-000000000000",
      "ffffffff-ffff-ffff-ffff-ffffffffffff",
      "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
    ]) {
      expect(RunIds.fromUuid(text)).toBeUndefined();
    }
    expect(ofUuid("ffffffff-ffff-ffff-ffff-fffffffffffe").spanId).toBe("fffffffffffffffe");
    expect(ofUuid("00000000-0000-0000-0000-000000000001").spanId).toBe("0000000000000001");
  });

  it("is nothing that only looks like one", () => {
    for (const text of [
      "",
      "r1",
      RUN.replaceAll("-", ""),
      RUN.slice(0, 35),
      `${RUN}0`,
      RUN.replace("2", "g"),
      RUN.replace("2", "é"),
      RUN.replace("2", "\u{1F600}"),
      "018f3c7a00-00-7000-8000-000000000002",
      "018f3c7a-0000-7000-8000-00000000000-",
      `{${RUN.slice(1, 35)}}`,
    ]) {
      expect(RunIds.fromUuid(text)).toBeUndefined();
      expect(isUuid(text)).toBe(false);
    }
  });
});

describe("zero is no span id", () => {
  it("becomes one where the last bytes of the run id are zero", () => {
    const ids = ofUuid("018f3c7a-0000-7000-0000-000000000000");
    expect(ids.spanId).toBe("0000000000000001");
    expect(ids.traceId).toBe("018f3c7a000070000000000000000000");
  });

  it("becomes one where the hash is zero", () => {
    const uuid = uuidOfZeroSpan("a");
    const [h1, h2] = referenceMurmur3(Buffer.concat([uuidBytes(uuid), Buffer.from("ta")]));
    expect([h1, h2]).toEqual([0n, 0n]);
    expect(ofUuid(uuid).childSpanId("t", "a")).toBe("0000000000000001");
  });
});

describe("span ids under a run", () => {
  const anyText = fc.oneof(
    fc.string({ unit: "binary", maxLength: 40 }),
    fc.string({ maxLength: 40 }),
    // UTF-16 units one by one: lone surrogates among them.
    fc
      .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 24 })
      .map((units) => String.fromCharCode(...units)),
    fc.integer({ min: 300, max: 3000 }).map((length) => "x€".repeat(length)),
  );
  const anyRole = fc.constantFrom("t", "m", "s", "o", "p");
  const anyUuid = fc.uuid().filter((uuid) => RunIds.fromUuid(uuid) !== undefined);

  it("equal those of the reference for any text, lone surrogates read as U+FFFD", () => {
    fc.assert(
      fc.property(
        anyUuid,
        anyRole,
        anyText,
        fc.integer({ min: 1, max: 1e6 }),
        (uuid, role, text, n) => {
          const expected = referenceSpanId(uuidBytes(uuid), role, text, n);
          expect(ofUuid(uuid).childSpanId(role, text, n)).toBe(expected);
        },
      ),
      { numRuns: runs(400) },
    );
  });

  it("do not depend on what was hashed before", () => {
    const ids = ofUuid(RUN);
    ids.childSpanId("t", "long".repeat(5000));
    expect(ids.childSpanId("t", "call_1")).toBe("b19560a0064a3c46");
    ids.childSpanId("t", "검색".repeat(5000));
    expect(ids.childSpanId("t", "검색#0")).toBe("c4b2ebdc846158af");
  });

  it("of hashed runs follow from SHA-256 over tenant, zero and run id", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (tenant, run, call) => {
        const digest = createHash("sha256").update(`${tenant}\0${run}`, "utf8").digest();
        const bytes = digest.subarray(0, 16);
        const ids = RunIds.hashed(tenant, run);
        expect(ids.traceId).toBe(bytes.toString("hex"));
        expect(ids.spanId).toBe(bytes.toString("hex", 8));
        expect(ids.childSpanId("t", call)).toBe(referenceSpanId(bytes, "t", call));
      }),
    );
  });
});

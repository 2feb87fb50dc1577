import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseTokens } from "../../../src/service/http/tokens/token-file.ts";
import { sha256, tokenSet } from "./support/door.ts";

const HASH = sha256("one");

describe("a tokens file", () => {
  it("has entries", () => {
    const [acme, metrics, runs] = parseTokens(
      JSON.stringify({
        tokens: [
          { tenant: "acme", sha256: HASH.toUpperCase(), trusted: true, rate: 0.5 },
          { sha256: sha256("two"), metrics: true },
          { sha256: sha256("three"), runs: true },
        ],
      }),
    );
    expect(acme).toEqual({
      tenant: "acme",
      digest: Buffer.from(HASH, "hex"),
      trusted: true,
      rate: 0.5,
      metrics: false,
      runs: false,
    });
    expect([metrics?.tenant, metrics?.metrics, metrics?.trusted]).toEqual([undefined, true, false]);
    expect([metrics?.runs, runs?.tenant, runs?.runs]).toEqual([false, undefined, true]);
  });

  it.each([
    ["{", "line 1, column 2: expected a property name or '}'"],
    ['{"tokens":[\n  x\n]}', "line 2, column 3: expected a value or ']'"],
    [
      `{"tokens":[{"sha256":"${HASH}","tenant":"a",\n"tenant":"b"}]}`,
      'line 2, column 1: expected no second "tenant" in this object',
    ],
    [
      `{"tokens":[{"tenant":"a","sha256":"${HASH}","\\u0074enant":"a"}]}`,
      'expected no second "tenant" in this object',
    ],
    [
      `{"tokens":[{"tenant":"a","sha256":"${HASH}","trusted":false,"trusted":true}]}`,
      'expected no second "trusted" in this object',
    ],
    [
      `{"tokens":[{"tenant":"a","sha256":"${HASH}"}],"tokens":[]}`,
      'expected no second "tokens" in this object',
    ],
    [
      `{"tokens":[{"tenant":"a","sha256":"${HASH}","__proto__":1,"__proto__":1}]}`,
      'expected no second "__proto__" in this object',
    ],
    ["[]", "tokens: expected a list of entries"],
    ['{"tokens":[]}', "tokens: expected a list of entries"],
    ['{"tokens":[1]}', "tokens[0]: expected an object"],
    ['{"tokens":[{"tenant":"a","sha256":"00"}]}', "tokens[0].sha256: expected 64 hex digits"],
    [`{"tokens":[{"tenant":"","sha256":"${HASH}"}]}`, "tokens[0].tenant: expected non-empty text"],
    [
      `{"tokens":[{"tenant":"${"a".repeat(4097)}","sha256":"${HASH}"}]}`,
      "tokens[0].tenant: expected non-empty text of at most 4096 characters",
    ],
    [
      `{"tokens":[{"sha256":"${HASH}"}]}`,
      'tokens[0].tenant: expected a tenant, "metrics": true or "runs": true',
    ],
    [`{"tokens":[{"tenant":"a","sha256":"${HASH}","rate":0}]}`, "tokens[0].rate: expected lines"],
    [`{"tokens":[{"tenant":"a","sha256":"${HASH}","trusted":1}]}`, "tokens[0].trusted: expected"],
    [`{"tokens":[{"tenant":"a","sha256":"${HASH}","metric":true}]}`, "tokens[0].metric: expected"],
    [
      `{"tokens":[{"tenant":"a","sha256":"${HASH}"},{"tenant":"b","sha256":"${HASH}"}]}`,
      "tokens[1].sha256: expected another than that of tokens[0]",
    ],
  ])("%s is refused", (text, message) => {
    expect(() => parseTokens(text)).toThrow(message);
  });
});

describe("tokens", () => {
  const set = tokenSet([
    { token: "one", tenant: "acme", rate: 5 },
    { token: "two", tenant: "acme", rate: 7 },
    { token: "three", tenant: "globex" },
    { token: "four", metrics: true },
  ]);

  it("are found by what the header says", () => {
    expect(set.find("Bearer one")?.tenant).toBe("acme");
    expect(set.find("bearer  three ")?.tenant).toBe("globex");
    expect(set.find("Bearer four")?.tenant).toBeUndefined();
    expect(set.find("Bearer four")?.metrics).toBe(true);
  });

  it("are not found by anything else", () => {
    for (const header of [
      undefined,
      "",
      "Bearer",
      "Bearer ",
      "Basic one",
      "one",
      "Bearer one two",
    ]) {
      expect(set.find(header)).toBeUndefined();
    }
    fc.assert(
      fc.property(fc.string(), (token) => {
        const known = ["one", "two", "three", "four"].includes(token.trim());
        expect(set.find(`Bearer ${token}`) !== undefined).toBe(known);
      }),
    );
  });

  it("of one tenant have the highest of their rates", () => {
    expect([set.rateOf("acme"), set.rateOf("globex")]).toEqual([7, undefined]);
    expect([...set.tenants]).toEqual(["acme", "globex"]);
  });
});

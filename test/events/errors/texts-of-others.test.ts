import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { AgentError, isAgentError } from "../../../src/events/errors/agent-error.ts";
import { asAgentError } from "../../../src/events/errors/as-agent-error.ts";
import { classifyFailure, envelopeOf, renderForLlm } from "../../../src/events/errors/classify.ts";
import { setUnclassifiedWarning } from "../../../src/events/errors/classify-warning.ts";
import type { FailureSource } from "../../../src/events/errors/failure-source.ts";
import { runs } from "../../support/runs.ts";
import { hasSecret, poisoned, SECRET_NUMBER, SECRETS, SHAPES } from "./vendor-errors.ts";

beforeAll(() => setUnclassifiedWarning(() => {}));
afterAll(() => setUnclassifiedWarning());

/** Of the shapes: it has every name that their paths have. */
const schema = {
  type: "object",
  properties: { a: { type: "array", items: { properties: { b: { minimum: 3 } } } } },
};
const FROM_PAY: FailureSource = { origin: "tool", tool: "pay", schema };

/** What a model or a log may get of an error. */
function said(thrown: unknown): readonly string[] {
  return [
    renderForLlm(thrown),
    renderForLlm(thrown, FROM_PAY),
    envelopeOf(thrown, FROM_PAY).wire_code,
    JSON.stringify(classifyFailure(thrown, FROM_PAY)),
  ];
}

describe("a text of others", () => {
  it("never reaches the model, in whatever place of an error", () => {
    const all = [...poisoned()];
    expect(Object.keys(SHAPES).length).toBeGreaterThan(60);
    expect(all.length).toBeGreaterThan(2_000);
    const found = all.filter(({ thrown }) => hasSecret(said(thrown).join("\n")));
    expect(found.map(({ name }) => name)).toEqual([]);
  });

  it.each([
    [{ message: "m", code: SECRETS[0] }, "(root): invalid"],
    [{ message: "m", expected: SECRETS[0] }, "(root): invalid"],
    [{ message: "m", path: [SECRETS[0]] }, "*: invalid"],
    [{ message: "m", type: SECRETS[0], path: ["b"] }, "b: invalid"],
    [
      { keyword: "x", schemaPath: "y", message: SECRETS[0], instancePath: `/${SECRETS[0]}` },
      "*: invalid",
    ],
  ])("of a vendor's list is not in it: %j", (issue, text) => {
    for (const key of ["issues", "errors", "details", "inner", "arkErrors"]) {
      const thrown = { name: "ValidationError", message: SECRETS[0], [key]: [issue] };
      expect(renderForLlm(thrown, FROM_PAY)).toBe(`invalid input: ${text}`);
    }
  });

  it("never reaches it in shapes that are made up", () => {
    const secret = fc.constantFrom(...SECRETS);
    const { issue } = fc.letrec((tie) => ({
      text: fc.oneof(
        secret,
        fc.constant(SECRET_NUMBER),
        secret.map((s) => ({ key: s })),
      ),
      word: fc.oneof(tie("text"), fc.constantFrom("invalid_type", "type", "string", "required")),
      path: fc.oneof(
        tie("text"),
        fc.array(tie("word"), { maxLength: 3 }),
        secret.map((s) => `/${s}/0`),
      ),
      params: fc.dictionary(
        fc.constantFrom("type", "limit", "format", "missingProperty"),
        tie("word"),
      ),
      issue: fc.record(
        {
          code: tie("word"),
          keyword: tie("word"),
          schemaPath: tie("text"),
          type: tie("word"),
          expected: tie("word"),
          minimum: tie("text"),
          format: tie("word"),
          message: tie("text"),
          path: tie("path"),
          instancePath: tie("path"),
          params: tie("params"),
          errors: fc.array(tie("issue"), { maxLength: 2, depthIdentifier: "d" }),
        },
        { requiredKeys: ["message"] },
      ),
    }));
    const list = fc.array(issue, { minLength: 1, maxLength: 3 });
    const shape = fc.record(
      {
        name: fc.constantFrom(
          "Error",
          "ZodError",
          "ValiError",
          "ValidationError",
          "TraversalError",
        ),
        message: secret,
        issues: list,
        errors: list,
        details: list,
        inner: list,
        arkErrors: list,
        cause: list.map((issues) => ({ issues })),
      },
      { requiredKeys: ["name"] },
    );
    fc.assert(
      fc.property(shape, (thrown) => {
        expect(said(thrown).filter(hasSecret)).toEqual([]);
      }),
      { numRuns: runs(1_000) },
    );
  });

  it("is no AgentError, though it has the fields of one", () => {
    const real = AgentError.invalidRequest("written for the model");
    expect(isAgentError(real)).toBe(true);
    for (const copy of [structuredClone(real), { ...real }, JSON.parse(JSON.stringify(real))]) {
      expect(isAgentError(copy)).toBe(false);
      expect(renderForLlm(copy)).toBe("unexpected error");
    }
    const anything: object = new Proxy({}, { get: () => true });
    expect(isAgentError(anything)).toBe(false);
  });
});

describe("a path", () => {
  const text = (path: unknown, own?: object) =>
    renderForLlm(
      { name: "ZodError", issues: [{ code: "custom", path }] },
      { origin: "tool", schema: own },
    );

  it("has names of the tool's own schema, at any depth", () => {
    expect(text(["a", 0, "b"], schema)).toBe("invalid input: a.0.b: custom");
    expect(text(["a", 0, "c"], schema)).toBe("invalid input: a.0.*: custom");
    expect(text(["a", 0, "b"])).toBe("invalid input: *.0.*: custom");
  });

  it("has indexes below 1,000, and no number that is a key", () => {
    expect(text([999])).toBe("invalid input: 999: custom");
    for (const step of [1000, 4711, -1, 0.5, Number.NaN, "7", "4711", true, null]) {
      expect(text([step])).toBe("invalid input: *: custom");
    }
    expect(text("/a/12/4711", schema)).toBe("invalid input: a.12.*: custom");
    expect(text("a[3].b", schema)).toBe("invalid input: a.3.b: custom");
    expect(text("/a~1b", { properties: { "a/b": {} } })).toBe("invalid input: a/b: custom");
  });

  it("is bounded", () => {
    expect(
      text(
        Array.from({ length: 100_000 }, () => "a"),
        schema,
      ).length,
    ).toBeLessThan(100);
    expect(text("/a".repeat(1_000_000), schema).length).toBeLessThan(100);
  });
});

describe("the schema of a tool's input", () => {
  const issue = (path: readonly string[], rest: object = {}) => ({
    name: "ZodError",
    issues: [{ code: "too_small", minimum: 3, path, ...rest }],
  });
  const told = (own: unknown, thrown: object) =>
    renderForLlm(thrown, { origin: "tool", schema: Object(own) });

  it("may be of a library that implements Standard JSON Schema", () => {
    const own = z.object({
      amount: z.number().min(3),
      // JSON has no such type; the names beside it stand.
      when: z.date(),
      accounts: z.record(z.string(), z.object({ balance: z.number() })),
    });
    const { error } = own.safeParse({
      amount: 1,
      when: new Date(0),
      accounts: { "alice@example.com": { balance: "none" } },
    });
    expect(renderForLlm(error, { origin: "tool", schema: own })).toBe(
      "invalid input: amount: too_small (3); accounts.*.balance: expected number",
    );
    expect(renderForLlm(error)).toBe("invalid input: *: too_small; *.*.*: expected number");
  });

  it("gives the numbers that stand in it, and no others", () => {
    const own = { properties: { a: { minimum: 3 } } };
    expect(told(own, issue(["a"]))).toBe("invalid input: a: too_small (3)");
    expect(told(own, issue(["a"], { minimum: 4 }))).toBe("invalid input: a: too_small");
  });

  it("says for ajv what is missing, if it is a name of its own", () => {
    const missing = (missingProperty: string) => ({
      errors: [
        { keyword: "required", schemaPath: "#", instancePath: "", params: { missingProperty } },
      ],
    });
    expect(told(schema, missing("b"))).toBe("invalid input: (root): required (b)");
    expect(told(schema, missing("secret"))).toBe("invalid input: (root): required");
  });

  it("may be hostile, endless or nothing of the kind", () => {
    const cyclic: Record<string, unknown> = { properties: { a: {} } };
    cyclic.properties = { a: cyclic, b: { $ref: "#" } };
    expect(told(cyclic, issue(["a", "b"]))).toBe("invalid input: a.b: too_small");
    const trap = () => {
      throw new Error("trap");
    };
    let reads = 0;
    const endless = (): object =>
      new Proxy(
        { properties: {} },
        {
          get: () => {
            reads += 1;
            return endless();
          },
        },
      );
    const long = "n".repeat(65);
    for (const own of [
      new Proxy({}, { get: trap, ownKeys: trap }),
      { "~standard": { jsonSchema: { input: trap } } },
      { "~standard": { validate: trap } },
      { "~standard": endless() },
      endless(),
      { properties: { [long]: {} } },
      { properties: 7 },
      () => {},
    ]) {
      expect(told(own, issue([long]))).toBe("invalid input: *: too_small");
    }
    expect(reads).toBeLessThan(40_000);
  });

  it("is read once, when an error needs it", () => {
    let reads = 0;
    const own = {
      get properties() {
        reads += 1;
        return { a: {} };
      },
    };
    const source = { origin: "tool", schema: own } as const;
    renderForLlm(new Error("x"), source);
    expect(reads).toBe(0);
    for (let i = 0; i < 3; i++) renderForLlm(issue(["a"]), source);
    expect(reads).toBe(1);
  });
});

it("an error that is classified first has a text without names", () => {
  const known = asAgentError({ name: "ZodError", issues: [{ code: "custom", path: ["a"] }] });
  expect(known?.forLlm()).toBe("invalid input: *: custom");
});

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  classifyFailure,
  classifyToolError,
  envelopeOf,
  renderForLlm,
} from "../../../src/events/errors/classify.ts";
import { setUnclassifiedWarning } from "../../../src/events/errors/classify-warning.ts";
import { FAILURE_KIND_IDS, TOOL_ERROR_KINDS } from "../../../src/events/errors/error-kinds.ts";

beforeAll(() => setUnclassifiedWarning(() => {}));
afterAll(() => setUnclassifiedWarning());

function classifyAll(thrown: unknown) {
  return {
    failure: classifyFailure(thrown).type,
    tool: classifyToolError(thrown),
    code: envelopeOf(thrown).wire_code,
    text: renderForLlm(thrown),
  };
}

const UNKNOWN = {
  failure: "unclassified",
  tool: "internal",
  code: "unclassified",
  text: "unexpected error",
};

describe("hostile thrown values", () => {
  it("survives getters that throw", () => {
    const thrown = {};
    for (const key of ["name", "message", "code", "status", "cause", "errors", "issues"]) {
      Object.defineProperty(thrown, key, {
        get() {
          throw new Error(`no ${key}`);
        },
      });
    }
    expect(classifyAll(thrown)).toEqual(UNKNOWN);
  });

  it("survives a Proxy whose every trap throws, and a revoked one", () => {
    const trap = () => {
      throw new Error("trap");
    };
    const handler = { get: trap, has: trap, getPrototypeOf: trap, ownKeys: trap };
    const { proxy, revoke } = Proxy.revocable([], {});
    revoke();
    expect(classifyAll(new Proxy({}, handler))).toEqual(UNKNOWN);
    expect(classifyAll(proxy)).toEqual(UNKNOWN);
    expect(classifyAll({ errors: proxy, cause: proxy, headers: proxy })).toEqual(UNKNOWN);
    const invalid = { name: "ValidationError", type: "min", errors: proxy, inner: proxy };
    expect(classifyAll(invalid).text).toBe("invalid input: value does not match its schema");
  });

  it("survives a Proxy that answers everything with itself", () => {
    const thrown: object = new Proxy(() => {}, { get: () => thrown, apply: () => thrown });
    expect(classifyAll(thrown)).toEqual(UNKNOWN);
  });

  it("finds the way out of cyclic causes", () => {
    const a = new Error("a");
    const b = new Error("b", { cause: a });
    a.cause = b;
    expect(classifyAll(a)).toEqual(UNKNOWN);
    const c = new AggregateError([b, Object.assign(new Error("c"), { code: "ENOTFOUND" })]);
    b.cause = c;
    expect(classifyAll(a).code).toBe("dns_failure");
  });

  it("looks at 64 values at most, however many causes there are", () => {
    let reads = 0;
    const endless = (): object =>
      new Proxy(
        {},
        {
          get: (_target, key) => {
            if (key !== "cause") return undefined;
            reads += 1;
            return endless();
          },
        },
      );
    classifyFailure(endless());
    expect(reads).toBeGreaterThan(10);
    expect(reads).toBeLessThan(1000);
  });

  it("finds what is 50 causes deep, and gives up beyond its bound", () => {
    const nested = (depth: number) => {
      let thrown: Error = Object.assign(new Error("x"), { code: "ECONNRESET" });
      for (let i = 0; i < depth; i++) thrown = new Error("wrapped", { cause: thrown });
      return thrown;
    };
    expect(classifyAll(nested(50)).code).toBe("transport_failure");
    expect(classifyAll(nested(100)).code).toBe("unclassified");
  });

  it("answers within its vocabularies for anything at all", () => {
    const shaped = fc.record(
      {
        name: fc.constantFrom("Error", "AbortError", "TimeoutError", "ZodError", "SyntaxError"),
        message: fc.anything(),
        code: fc.oneof(fc.constantFrom("ECONNRESET", "ENOTFOUND", "ABORT_ERR"), fc.anything()),
        status: fc.oneof(fc.integer({ min: -1, max: 700 }), fc.anything()),
        headers: fc.oneof(fc.dictionary(fc.string(), fc.string()), fc.anything()),
        response: fc.anything(),
        issues: fc.anything(),
        errors: fc.array(fc.anything()),
        cause: fc.anything(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(shaped, fc.anything({ withNullPrototype: true })), (thrown) => {
        const { failure, tool, code, text } = classifyAll(thrown);
        expect(FAILURE_KIND_IDS).toContain(failure);
        expect(TOOL_ERROR_KINDS).toContain(tool);
        expect(code).toMatch(/^[a-z_]+$/);
        expect(text).not.toBe("");
      }),
    );
  });
});

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { warnOfUnknown } from "../../src/events/unknown-options.ts";

const KNOWN = { serviceName: true, endpoint: true };

describe("options with unknown names", () => {
  const emitted = vi.fn();
  beforeEach(() => {
    emitted.mockReset();
    vi.spyOn(process, "emitWarning").mockImplementation(emitted);
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });
  const messages = () => emitted.mock.calls.map(([message]) => message);

  it("are reported once, with the name that was meant", () => {
    for (let n = 0; n < 3; n += 1) warnOfUnknown({ servicename: "a", url: "b" }, KNOWN);
    expect(messages()).toEqual([
      "entelix-otel: unknown option `servicename`: did you mean `serviceName`?",
      "entelix-otel: unknown option `url`: it has no effect",
    ]);
    expect(emitted.mock.calls[0]?.[1]).toEqual({
      type: "EntelixWarning",
      code: "ENTELIX_UNKNOWN_OPTION",
    });
  });

  it("are own names of text only, and are not read", () => {
    const inherited = Object.create({ inheritedName: 1 });
    warnOfUnknown({ ...KNOWN, [Symbol("hidden")]: 1 }, KNOWN);
    warnOfUnknown(inherited, KNOWN);
    const read = vi.fn();
    warnOfUnknown(Object.defineProperty({}, "endpoints", { enumerable: true, get: read }), KNOWN);
    expect(messages()).toEqual([
      "entelix-otel: unknown option `endpoints`: did you mean `endpoint`?",
    ]);
    expect(read).not.toHaveBeenCalled();
  });

  it("never throw", () => {
    const hostile = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error("no");
        },
      },
    );
    warnOfUnknown(hostile, KNOWN);
    expect(messages()).toEqual([]);
  });

  it("are reported for no more than 100 names, cut to 100 characters", () => {
    const long = Object.fromEntries(
      Array.from({ length: 200 }, (_, n) => [`${n}${"x".repeat(1_000)}`, 1]),
    );
    warnOfUnknown(long, KNOWN);
    expect(messages().length).toBeLessThanOrEqual(100);
    expect(Math.max(...messages().map(({ length }) => length))).toBeLessThan(200);
  });
});

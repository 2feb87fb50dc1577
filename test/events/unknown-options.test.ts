import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { checkBoolean, checkFunction, checkText } from "../../src/events/option-checks.ts";
import { checkEach, nested, reportUnknown } from "../../src/events/unknown-options.ts";

const KNOWN = { serviceName: true, endpoint: true };

describe("options with unknown names", () => {
  const emitted = vi.fn();
  beforeEach(() => {
    emitted.mockReset();
    vi.spyOn(process, "emitWarning").mockImplementation(emitted);
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  });
  const messages = () => emitted.mock.calls.map(([message]) => message);

  it("are reported once, with the name that was meant", () => {
    for (let n = 0; n < 3; n += 1) reportUnknown({ servicename: "a", colour: "b" }, KNOWN);
    expect(messages()).toEqual([
      "entelix-otel: unknown option `servicename`: did you mean `serviceName`?",
      "entelix-otel: unknown option `colour`: it has no effect",
    ]);
    expect(emitted.mock.calls[0]?.[1]).toEqual({
      type: "EntelixWarning",
      code: "ENTELIX_UNKNOWN_OPTION",
    });
  });

  it("are reported with the name of another package for it, and with the place where they belong", () => {
    const given = { url: 1, service: 1, captureContent: 1, content: 1, tenantId: 1 };
    reportUnknown(given, KNOWN);
    expect(messages()).toEqual([
      "entelix-otel: unknown option `url`: did you mean `endpoint`?",
      "entelix-otel: unknown option `service`: did you mean `serviceName`?",
      "entelix-otel: unknown option `captureContent`: pass `captureContent` to createBridge() or new Bridge()",
      "entelix-otel: unknown option `content`: pass `captureContent` to createBridge() or new Bridge()",
      "entelix-otel: unknown option `tenantId`: pass `tenant` to the adapter or runAgent()",
    ]);
  });

  it("go to onError where the options have one, and not where the operator wants no messages", () => {
    const onError = vi.fn();
    const checks = { onError: checkFunction };
    const given: { onError: unknown } = Object.assign({ onError }, { onErrors: 1 });
    for (let n = 0; n < 2; n += 1) checkEach(given, checks);
    const error = new Error("unknown option `onErrors`: did you mean `onError`?");
    expect(onError.mock.calls).toEqual([[error, "options"]]);
    vi.stubEnv("OTEL_LOG_LEVEL", "none");
    reportUnknown({ quietly: 1 }, KNOWN);
    expect(messages()).toEqual([]);
  });

  it("are in the error of the option that they may have meant", () => {
    const tenant = (value: unknown) => {
      if (value === undefined) throw new TypeError("tenant: expected a text");
    };
    const given: object = { tenantId: "acme" };
    expect(() => checkEach(given, { tenant })).toThrow(
      new TypeError("tenant: expected a text; unknown option `tenantId`: did you mean `tenant`?"),
    );
  });

  it("are own names of text only, and are not read", () => {
    const inherited = Object.create({ inheritedName: 1 });
    reportUnknown({ ...KNOWN, [Symbol("hidden")]: 1 }, KNOWN);
    reportUnknown(inherited, KNOWN);
    const read = vi.fn();
    reportUnknown(Object.defineProperty({}, "endpoints", { enumerable: true, get: read }), KNOWN);
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
    reportUnknown(hostile, KNOWN);
    expect(messages()).toEqual([]);
  });

  it("are reported for no more than 100 names, cut to 100 characters", () => {
    const long = Object.fromEntries(
      Array.from({ length: 200 }, (_, n) => [`${n}${"x".repeat(1_000)}`, 1]),
    );
    reportUnknown(long, KNOWN);
    expect(messages().length).toBeLessThanOrEqual(100);
    expect(Math.max(...messages().map(({ length }) => length))).toBeLessThan(200);
  });
});

describe("a polluted Object.prototype", () => {
  const CHECKS = { register: checkBoolean, endpoint: checkText };
  const pollute = (name: string, value: unknown) =>
    Object.defineProperty(Object.prototype, name, { value, configurable: true, enumerable: true });
  /** Before `expect`, which would read it. */
  const clean = () => {
    for (const name of ["register", "endpoint", "extend"]) {
      Reflect.deleteProperty(Object.prototype, name);
    }
  };
  afterEach(clean);

  it("sets no options", () => {
    pollute("endpoint", 5);
    pollute("extend", () => {});
    const given: { register?: boolean; endpoint?: string } = { register: false };
    const { endpoint, register } = checkEach(given, CHECKS);
    clean();
    expect([register, endpoint]).toEqual([false, undefined]);
  });

  it("sets no options inside options", () => {
    pollute("endpoint", 5);
    const checks = { limits: nested({ endpoint: checkText, register: checkBoolean }) };
    const given: { limits?: { endpoint?: string; register?: boolean } } = {
      limits: { register: true },
    };
    const { limits } = checkEach(given, checks);
    const [endpoint, register] = [limits?.endpoint, limits?.register];
    clean();
    expect([endpoint, register]).toEqual([undefined, true]);
  });

  it("does not hide those of the application, nor those of its classes", () => {
    Object.assign(Object.prototype, { endpoint: 5 });
    const own = checkEach<{ register?: boolean; endpoint?: string }>({ endpoint: "own" }, CHECKS);
    class Settings {
      readonly register = true;
      get endpoint(): string {
        return "of the class";
      }
    }
    const { endpoint, register } = checkEach<{ register?: boolean; endpoint?: string }>(
      new Settings(),
      CHECKS,
    );
    clean();
    expect([own.endpoint, register, endpoint]).toEqual(["own", true, "of the class"]);
  });
});

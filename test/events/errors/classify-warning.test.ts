import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { AgentError } from "../../../src/events/errors/agent-error.ts";
import { classifyFailure, classifyToolError } from "../../../src/events/errors/classify.ts";
import { setUnclassifiedWarning } from "../../../src/events/errors/classify-warning.ts";

class Odd extends Error {}
class Odder extends Error {}

let now = 0;
let names: string[] = [];

beforeEach(() => {
  // An hour on, so that nothing an earlier test warned of still counts.
  now += 3_600_000;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  names = [];
  setUnclassifiedWarning((_message, name) => names.push(name));
});

afterEach(() => {
  setUnclassifiedWarning();
  vi.restoreAllMocks();
});

describe("the warning of what nothing classifies", () => {
  it("comes once a minute for each class", () => {
    classifyFailure(new Odd());
    classifyToolError(new Odd());
    classifyFailure(new Odder());
    expect(names).toEqual(["Odd", "Odder"]);
    now += 59_999;
    classifyFailure(new Odd());
    expect(names).toEqual(["Odd", "Odder"]);
    now += 1;
    classifyFailure(new Odd());
    classifyFailure(new Odder());
    expect(names).toEqual(["Odd", "Odder", "Odd", "Odder"]);
  });

  it("names what has no class by its type", () => {
    for (const thrown of ["boom", null, undefined, 7, Object.create(null), {}]) {
      classifyFailure(thrown);
    }
    expect(names).toEqual(["string", "null", "undefined", "number", "object", "Object"]);
  });

  it("never shows the text of the error", () => {
    const messages: string[] = [];
    setUnclassifiedWarning((message) => messages.push(message));
    classifyFailure(new Odd("sk-secret"));
    expect(messages).toEqual(["entelix-otel: a thrown Odd matches no failure kind: unclassified"]);
  });

  it("comes for a pause that is classified as a failure, as upstream's does", () => {
    const pause = AgentError.interrupted({ type: "custom" });
    expect(classifyFailure(pause)).toEqual({ type: "unclassified" });
    expect(classifyToolError(pause)).toBe("internal");
    expect(names).toEqual(["AgentError"]);
  });

  it("does not come for what is classified", () => {
    classifyFailure(AgentError.cancelled());
    classifyToolError(AgentError.config("x"));
    expect(names).toEqual([]);
  });

  it("keeps bounded state: classes beyond 256 a minute warn as one", () => {
    for (let i = 0; i < 1000; i++) classifyFailure({ constructor: { name: `C${i}` } });
    expect(names).toHaveLength(257);
    expect(names.at(-1)).toBe("C256");
    now += 60_000;
    classifyFailure({ constructor: { name: "C999" } });
    expect(names.at(-1)).toBe("C999");
  });

  it("keeps silent about a class that has warned, though no further one fits", () => {
    for (let i = 0; i < 256; i++) classifyFailure({ constructor: { name: `C${i}` } });
    classifyFailure({ constructor: { name: "C0" } });
    expect(names).toHaveLength(256);
  });

  it("drops what the replacement throws", () => {
    setUnclassifiedWarning(() => {
      throw new Error("logger down");
    });
    expect(classifyFailure(new Odd())).toEqual({ type: "unclassified" });
  });

  it("drops what the promise of the replacement rejects with", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on("unhandledRejection", note);
    try {
      setUnclassifiedWarning(async () => Promise.reject(new Error("logger down")));
      expect(classifyFailure(new Odd())).toEqual({ type: "unclassified" });
      await new Promise((resolve) => setImmediate(resolve));
      expect(unhandled).toEqual([]);
    } finally {
      process.off("unhandledRejection", note);
    }
  });

  it("goes to process.emitWarning by default", () => {
    const emit = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    setUnclassifiedWarning();
    classifyFailure(new Odd());
    expect(emit.mock.calls).toEqual([
      [
        "entelix-otel: a thrown Odd matches no failure kind: unclassified",
        { type: "EntelixWarning", code: "ENTELIX_UNCLASSIFIED" },
      ],
    ]);
  });

  it("is one for all copies of the package in a process", async () => {
    classifyFailure(new Odd());
    vi.resetModules();
    const other = await import("../../../src/events/errors/classify.ts");
    other.classifyFailure(new Odd());
    other.classifyFailure(new Odder());
    expect(other.classifyFailure).not.toBe(classifyFailure);
    expect(names).toEqual(["Odd", "Odder"]);
  });
});

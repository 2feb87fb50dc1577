import type { Attributes } from "@opentelemetry/api";
import { describe, expect, it } from "vitest";
import { Bridge } from "../../../src/bridge/bridge.ts";
import type { SpanInfo } from "../../../src/bridge/spans/custom-attributes.ts";
import { bench, RunEvents } from "../../support/run-events.ts";

const RUN = "018f3c7a-0000-7000-8000-000000000002";
const run = new RunEvents(RUN);
const boom = () => {
  throw new Error("boom");
};

async function unhandled(during: () => void): Promise<unknown[]> {
  const rejections: unknown[] = [];
  const note = (reason: unknown) => void rejections.push(reason);
  process.on("unhandledRejection", note);
  during();
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", note);
  return rejections;
}

function play(test: ReturnType<typeof bench>): void {
  test.at(0, run.started());
  test.at(1, run.toolStart("call_1"));
  test.at(2, run.complete());
}

describe("the attribute hook", () => {
  it("is told of each span and adds to it", () => {
    const seen: SpanInfo[] = [];
    const test = bench({
      attributes: (span) => {
        seen.push(span);
        return { team: "blue", "app.op": span.operation };
      },
    });
    play(test);
    expect(seen).toEqual([
      expect.objectContaining({ operation: "invoke_agent", tenantId: "acme", runId: RUN }),
      expect.objectContaining({ operation: "execute_tool", agent: "react", tool: "fetch" }),
    ]);
    expect(test.find("invoke_agent react").attributes).toMatchObject({
      team: "blue",
      "app.op": "invoke_agent",
    });
    expect(test.find("execute_tool fetch").attributes["app.op"]).toBe("execute_tool");
  });

  it("can't set what is ours, so that a pause never has an error.type", () => {
    const test = bench({
      attributes: () => ({
        "entelix.tenant_id": "globex",
        "entelix.failure.kind": "internal",
        "gen_ai.agent.name": "other",
        "error.type": "mine",
        fine: 1,
      }),
    });
    play(test);
    const { attributes } = test.find("invoke_agent react");
    expect(attributes).toMatchObject({
      "entelix.tenant_id": "acme",
      "gen_ai.agent.name": "react",
      fine: 1,
    });
    expect(attributes).not.toHaveProperty("error.type");
    expect(attributes).not.toHaveProperty("entelix.failure.kind");
    expect(test.diagnostics().droppedAttributes).toBe(8);
  });

  it("adds at most 32, so that ours always fit", () => {
    const many: Attributes = {};
    for (let n = 0; n < 200; n++) many[`own.${n}`] = n;
    const test = bench({ attributes: () => many });
    play(test);
    const { attributes } = test.find("invoke_agent react");
    expect(Object.keys(attributes).filter((name) => name.startsWith("own."))).toHaveLength(32);
    expect(attributes["entelix.run.outcome"]).toBe("complete");
    expect(test.diagnostics().droppedAttributes).toBe(2 * 168);
  });

  it.each<[string, () => undefined, number]>([
    ["throws", boom, 2],
    ["gives nothing", () => undefined, 0],
  ])("that %s is contained", (_name, attributes, failures) => {
    const test = bench({ attributes });
    play(test);
    expect(test.spans()).toHaveLength(2);
    expect(test.diagnostics().hookFailures).toBe(failures);
    expect(test.reports).toHaveLength(failures);
  });

  it("that is asynchronous is refused, and its rejection does not end the process", async () => {
    // What a program without types can return.
    const given: object = { promise: Promise.reject(new Error("late")) };
    const test = bench({ attributes: (): Attributes => Reflect.get(given, "promise") });
    expect(await unhandled(() => play(test))).toEqual([]);
    expect(test.diagnostics().hookFailures).toBe(2);
    expect(test.spans()).toHaveLength(2);
  });
});

describe("the resolver", () => {
  it("that is asynchronous is refused, and its rejection does not end the process", async () => {
    const context = { traceId: "1".repeat(32), spanId: "2".repeat(16), traceFlags: 1 };
    const test = bench({
      resolveParent: () => Object.assign(Promise.reject(new Error("late")), context),
    });
    expect(await unhandled(() => play(test))).toEqual([]);
    expect(test.diagnostics().hookFailures).toBe(1);
    expect(test.find("invoke_agent react").trace).toBe(RUN.replaceAll("-", ""));
  });
});

describe("the error hook", () => {
  it.each<[string, () => unknown]>([
    ["throws", boom],
    ["rejects", () => Promise.reject(new Error("late"))],
  ])("that %s is contained", async (_name, onError) => {
    const test = bench({ attributes: boom, onError: () => onError() });
    expect(await unhandled(() => play(test))).toEqual([]);
    expect(test.spans()).toHaveLength(2);
  });
});

describe("a hook that sends events itself", () => {
  it("does not confuse the event that is being taken", () => {
    const inner = new RunEvents("018f3c7a-0000-7000-8000-000000000003");
    const test = bench({
      attributes: (span) => {
        if (span.runId === RUN && span.operation === "invoke_agent") {
          test.at(0, inner.started("inner"), { thread_id: "inner-thread" });
          test.at(1, inner.complete());
        }
        return {};
      },
    });
    test.at(0, run.started("outer"), { thread_id: "outer-thread" });
    test.at(2, run.complete());
    expect(test.find("invoke_agent inner").attributes["gen_ai.conversation.id"]).toBe(
      "inner-thread",
    );
    expect(test.find("invoke_agent outer")).toMatchObject({
      end: "2026-04-29T12:00:02Z",
      attributes: { "gen_ai.conversation.id": "outer-thread" },
    });
  });
});

describe("limits", () => {
  it.each(["openRuns", "openCalls", "eventIds", "callIds", "totalCallIds", "maxAgeMs"])(
    "%s must be a whole number from 1",
    (name) => {
      for (const value of [0, -1, 1.5, Number.NaN]) {
        expect(() => new Bridge({ limits: { [name]: value } })).toThrow(
          new RangeError(`limits.${name}: expected a whole number from 1, got ${value}`),
        );
      }
    },
  );

  it("closedRuns has a most as well", () => {
    for (const value of [0, -1, 1.5, Number.NaN, 2 ** 24 + 1]) {
      expect(() => new Bridge({ limits: { closedRuns: value } })).toThrow(
        new RangeError(
          `limits.closedRuns: expected a whole number from 1 to 16777216, got ${value}`,
        ),
      );
    }
  });

  it("markerAfterMs may be 0", () => {
    expect(() => bench({ limits: { markerAfterMs: 0 } })).not.toThrow();
    expect(() => bench({ limits: { markerAfterMs: -1 } })).toThrow("from 0");
  });
});

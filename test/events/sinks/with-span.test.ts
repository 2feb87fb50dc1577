import { describe, expect, it } from "vitest";
import type { AgentEventSink } from "../../../src/events/sinks/agent-event-sink.ts";
import {
  isSpanActivator,
  type SpanActivator,
  type SpanTarget,
} from "../../../src/events/sinks/agent-event-sink.ts";
import { CaptureSink } from "../../../src/events/sinks/capture-sink.ts";
import { DroppingSink } from "../../../src/events/sinks/dropping-sink.ts";
import { FailOpenSink } from "../../../src/events/sinks/fail-open-sink.ts";
import { FanOutSink } from "../../../src/events/sinks/fan-out-sink.ts";
import { StateErasureSink } from "../../../src/events/sinks/state-erasure-sink.ts";

const PLACE: SpanTarget = { tenant_id: "acme", run_id: "r1", tool_use_id: "t" };

/** The carriers that the running code is inside of, outermost first. */
let around: string[] = [];

class Carrier implements AgentEventSink, SpanActivator {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  send(): void {}

  withSpan<T>(place: SpanTarget, work: () => T): T {
    expect(place).toBe(PLACE);
    const before = around;
    around = [...around, this.#name];
    try {
      return work();
    } finally {
      around = before;
    }
  }
}

const a = new Carrier("a");
const b = new Carrier("b");

describe("a sink that wraps others", () => {
  it.each<[string, AgentEventSink & SpanActivator, string[]]>([
    ["FailOpenSink", new FailOpenSink(a), ["a"]],
    ["StateErasureSink", new StateErasureSink(a), ["a"]],
    ["both", new FailOpenSink(new StateErasureSink(a)), ["a"]],
    ["FanOutSink", new FanOutSink([new CaptureSink(), a]), ["a"]],
    [
      "FanOutSink with one that carries nothing before",
      new FanOutSink([new FailOpenSink(new CaptureSink()), new FailOpenSink(a)]),
      ["a"],
    ],
    ["FanOutSink of two: the first is innermost", new FanOutSink([a, b]), ["b", "a"]],
    ["one around none", new FailOpenSink(new DroppingSink()), []],
    ["FanOutSink of nothing", new FanOutSink([]), []],
  ])("%s passes `inside` on", (_, sink, expected) => {
    expect(isSpanActivator(sink)).toBe(true);
    expect(sink.withSpan(PLACE, () => around)).toEqual(expected);
  });

  it("keeps no error of the work, though it keeps those of the sink", () => {
    const sink = new FailOpenSink(new FanOutSink([a]));
    const fails = () => {
      throw new Error("the work's");
    };
    expect(() => sink.withSpan(PLACE, fails)).toThrow("the work's");
    expect(sink.errors).toBe(0);
  });
});

describe("isSpanActivator", () => {
  it.each([undefined, null, "x", {}, { inside: 1 }, new CaptureSink(), new DroppingSink()])(
    "is false for %o",
    (sink) => expect(isSpanActivator(sink)).toBe(false),
  );
});

import { afterEach, describe, expect, it, vi } from "vitest";
import type { InnerSink } from "../../../src/events/sinks/agent-event-sink.ts";
import { CaptureSink } from "../../../src/events/sinks/capture-sink.ts";
import { FailOpenSink } from "../../../src/events/sinks/fail-open-sink.ts";
import { complete, envelopeNo, settle, started } from "./sample-events.ts";

const boom = new Error("boom");
const throwing: InnerSink = {
  send() {
    throw boom;
  },
};
const rejecting: InnerSink = { send: () => Promise.reject(boom) };

afterEach(() => {
  vi.restoreAllMocks();
});

describe("FailOpenSink", () => {
  it("passes event and envelope on, and stays synchronous", () => {
    const inner = new CaptureSink();
    const sink = new FailOpenSink(inner);
    const envelope = envelopeNo(1);
    expect(sink.send(started, envelope)).toBeUndefined();
    expect(inner.items[0]?.event).toBe(started);
    expect(inner.items[0]?.envelope).toBe(envelope);
    expect(sink.errors).toBe(0);
  });

  it.each([
    ["throws", throwing],
    ["rejects", rejecting],
  ])("contains a sink that %s, and reports it each time", async (_, inner) => {
    const reports: unknown[] = [];
    const sink = new FailOpenSink(inner, { onError: (...report) => reports.push(report) });
    await expect(Promise.resolve(sink.send(started))).resolves.toBeUndefined();
    await sink.send(complete);
    expect(reports).toEqual([
      [boom, "started"],
      [boom, "complete"],
    ]);
    expect(sink.errors).toBe(2);
  });

  it("waits for a slow sink, so that a sender still feels it", async () => {
    let open = () => {};
    const inner: InnerSink = {
      send: () =>
        new Promise((resolve) => {
          open = resolve;
        }),
    };
    let done = false;
    const sent = Promise.resolve(new FailOpenSink(inner).send(started)).then(() => {
      done = true;
    });
    await settle();
    expect(done).toBe(false);
    open();
    await sent;
    expect(done).toBe(true);
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("logger down");
      },
    ],
    ["rejects", () => Promise.reject(new Error("logger down"))],
  ])("contains an onError that %s", async (_, onError) => {
    const unhandled = vi.fn();
    process.on("unhandledRejection", unhandled);
    const sink = new FailOpenSink(rejecting, { onError });
    await sink.send(started);
    await settle();
    process.off("unhandledRejection", unhandled);
    expect(sink.errors).toBe(1);
    expect(unhandled).not.toHaveBeenCalled();
  });

  it("warns by process.emitWarning by default, every time", () => {
    const emit = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const sink = new FailOpenSink(throwing);
    expect(sink.send(started)).toBeUndefined();
    expect(sink.send(started)).toBeUndefined();
    const warning = [
      "a sink failed at started: Error: boom",
      { type: "EntelixWarning", code: "ENTELIX_SINK_FAILED" },
    ];
    expect(emit.mock.calls).toEqual([warning, warning]);
  });

  it.each([
    ["text", "down", "a sink failed at started: string: down"],
    ["nothing", undefined, "a sink failed at started: undefined: "],
    ["an object without a prototype", Object.create(null), "a sink failed at started: object: "],
  ])("warns of %s being thrown", async (_, thrown, message) => {
    const emit = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const sink = new FailOpenSink({ send: () => Promise.reject(thrown) });
    await sink.send(started);
    expect(emit.mock.calls[0]?.[0]).toBe(message);
  });

  it("forwards flush and shutdown, and contains their errors too", async () => {
    const reports: unknown[] = [];
    const shutdown = vi.fn(async () => {});
    const inner: InnerSink = {
      send() {},
      forceFlush() {
        throw boom;
      },
      shutdown,
    };
    const sink = new FailOpenSink(inner, { onError: (...report) => reports.push(report) });
    await sink.forceFlush();
    await sink.shutdown();
    expect(shutdown).toHaveBeenCalledTimes(1);
    expect(reports).toEqual([[boom, "forceFlush"]]);
    expect(sink.errors).toBe(1);
  });

  it("closes around a sink that has nothing to close", async () => {
    const sink = new FailOpenSink(new CaptureSink());
    await expect(sink.forceFlush()).resolves.toBeUndefined();
    await expect(sink.shutdown()).resolves.toBeUndefined();
    expect(sink.errors).toBe(0);
  });
});

import { PassThrough, Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../../src/events/agent-event.ts";
import { RecorderSink } from "../../../src/events/sinks/recorder-sink.ts";

const STARTED: AgentEvent = { type: "started", run_id: "r1", tenant_id: "acme", agent: "a" };

/** Holds every write until it is told how the write went. */
class SlowTape extends Writable {
  readonly pending: ((error?: Error) => void)[] = [];
  constructor(highWaterMark: number) {
    super({ highWaterMark });
  }
  override _write(_chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    this.pending.push(done);
  }
}

describe("RecorderSink on a slow or failing stream", () => {
  it("makes its sender wait while the stream is full", async () => {
    const tape = new SlowTape(10);
    const sink = new RecorderSink({ stream: tape });
    const order: string[] = [];
    const waiting = [sink.send(STARTED), sink.send(STARTED)].map(async (room, index) => {
      expect(room).toBeInstanceOf(Promise);
      await room;
      order.push(`room ${index}`);
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(order).toEqual([]);
    while (tape.pending.length > 0) {
      tape.pending.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(waiting);
    expect(order).toEqual(["room 0", "room 1"]);
  });

  it("refuses events above the limit of what may wait, and takes them again later", async () => {
    const tape = new SlowTape(10);
    const sink = new RecorderSink({ stream: tape, maxBufferedBytes: 500 });
    const rooms = [sink.send(STARTED), sink.send(STARTED), sink.send(STARTED)];
    expect(() => sink.send(STARTED)).toThrow(
      "recording to the stream: more than 500 bytes wait to be written",
    );
    expect(sink.diagnostics()).toMatchObject({ recorded: 3, refused: 1 });
    while (tape.pending.length > 0) {
      tape.pending.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(rooms);
    expect(sink.send(STARTED)).toBeInstanceOf(Promise);
  });

  it("tells a failed write to those who wait, the next sender, and whoever flushes", async () => {
    const tape = new SlowTape(10);
    const sink = new RecorderSink({ stream: tape });
    const room = sink.send(STARTED);
    const flushing = sink.forceFlush();
    const message = "recording to the stream: ENOSPC";
    const told = Promise.all([
      expect(room).rejects.toThrow(message),
      expect(flushing).rejects.toThrow(message),
    ]);
    tape.pending.shift()?.(new Error("ENOSPC"));
    await told;
    expect(() => sink.send(STARTED)).toThrow(message);
    await expect(sink.forceFlush()).rejects.toThrow(message);
    await expect(sink.shutdown()).rejects.toThrow(message);
    expect(sink.diagnostics()).toMatchObject({ recorded: 1, refused: 1 });
  });

  it("survives a stream that fails while it shuts down, and one that is closed under it", async () => {
    const tape = new SlowTape(1000);
    const sink = new RecorderSink({ stream: tape });
    void sink.send(STARTED);
    const closing = expect(sink.shutdown()).rejects.toThrow("EIO");
    tape.pending.shift()?.(new Error("EIO"));
    await closing;
    await new Promise((resolve) => setImmediate(resolve));
    const closed = new PassThrough();
    const other = new RecorderSink({ stream: closed });
    closed.destroy();
    await new Promise((resolve) => setImmediate(resolve));
    expect(() => other.send(STARTED)).toThrow("recording to the stream: the stream was closed");
  });

  it("refuses every event where the stream was gone before", async () => {
    const gone = new PassThrough();
    gone.destroy();
    await new Promise((resolve) => setImmediate(resolve));
    const sink = new RecorderSink({ stream: gone });
    const closed = "recording to the stream: the stream was closed";
    for (const _ of [1, 2]) expect(() => sink.send(STARTED)).toThrow(closed);
    expect(sink.diagnostics()).toMatchObject({ recorded: 0, refused: 2 });
    await expect(sink.forceFlush()).rejects.toThrow(closed);
    await expect(sink.shutdown()).rejects.toThrow(closed);
    // Its error event is on the way, and says why.
    const failing = new PassThrough();
    const other = new RecorderSink({ stream: failing });
    failing.destroy(new Error("EIO"));
    expect(() => other.send(STARTED)).toThrow("recording to the stream: EIO");
    await new Promise((resolve) => setImmediate(resolve));
  });
});

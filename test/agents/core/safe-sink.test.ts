import { describe, expect, it } from "vitest";
import { SafeSink } from "../../../src/agents/core/safe-sink.ts";
import type { AgentEvent, AgentEventSink } from "../../../src/index.ts";

const EVENT: AgentEvent = { type: "started", run_id: "r1", tenant_id: "acme", agent: "support" };
const ENVELOPE = { event_id: "e1", timestamp: "2026-01-01T00:00:00Z" };

/** A sink as JavaScript may write it, whose `send` answers with whatever. */
function answering(answer: unknown): AgentEventSink {
  const sink = { send: () => undefined };
  Reflect.set(sink, "send", () => answer);
  return sink;
}

function thenable(work: unknown): object {
  const made = {};
  Reflect.set(made, "then", work);
  return made;
}

async function told(answer: unknown) {
  const errors: unknown[] = [];
  const sink = answering(answer);
  const safe = new SafeSink({ sink, onError: (error) => void errors.push(error) });
  safe.send(EVENT, ENVELOPE);
  await safe.settled();
  return { failures: safe.failures, errors };
}

describe("what a sink answers", () => {
  it.each([
    ["a number, as `push` does", 1],
    ["false", false],
    ["null", null],
    ["an object", { ok: true }],
    ["a promise of anything", Promise.resolve("taken")],
    ["a thenable that is no promise", thenable((done: () => void) => done())],
  ])("%s: the event is taken", async (_, answer) => {
    expect(await told(answer)).toEqual({ failures: 0, errors: [] });
  });

  it.each([
    ["a promise", () => Promise.reject(new Error("full"))],
    [
      "a thenable",
      () => thenable((_: unknown, no: (error: Error) => void) => no(new Error("full"))),
    ],
  ])("%s that rejects: it is not", async (_, answer) => {
    expect(await told(answer())).toEqual({ failures: 1, errors: [new Error("full")] });
  });
});

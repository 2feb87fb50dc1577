import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { AgentError } from "../../../src/events/errors/agent-error.ts";
import type { AgentEventSink } from "../../../src/events/sinks/agent-event-sink.ts";
import { FailOpenSink } from "../../../src/events/sinks/fail-open-sink.ts";
import { FanOutSink } from "../../../src/events/sinks/fan-out-sink.ts";
import { type CallerResult, NotingSink, runAgent } from "./upstream-agent.ts";

interface GoldenLine {
  readonly id: string;
  readonly inner_runnable_ok: boolean;
  readonly sink_calls_in_order: readonly string[];
  readonly caller_result: CallerResult;
}

const golden: readonly GoldenLine[] = readFileSync(
  new URL("../../golden/entelix_sinks.jsonl", import.meta.url),
  "utf8",
)
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

/** The sinks of each recorded run, as the recording's description has them. */
const SINKS: Readonly<Record<string, (calls: string[]) => AgentEventSink>> = {
  single_ok: (calls) => new NotingSink("a", calls),
  single_fails_on_started: (calls) => new NotingSink("a", calls, ["started"]),
  single_fails_on_complete: (calls) => new NotingSink("a", calls, ["complete"]),
  single_fails_on_failed: (calls) => new NotingSink("a", calls, ["failed"]),
  fanout_first_fails: (calls) =>
    new FanOutSink([new NotingSink("audit", calls, ["started"]), new NotingSink("otel", calls)]),
  fanout_failopen_first_fails: (calls) =>
    new FanOutSink([
      new FailOpenSink(new NotingSink("otel", calls, ["started", "complete"]), {
        onError: () => {},
      }),
      new NotingSink("audit", calls),
    ]),
};

describe("sinks under a recorded agent run", () => {
  it("covers every recorded line", () => {
    expect(golden.map((line) => line.id).sort()).toEqual(Object.keys(SINKS).sort());
  });

  it.each(golden)("$id", async (line) => {
    const calls: string[] = [];
    const sink = SINKS[line.id]?.(calls) ?? expect.unreachable(`no sinks for ${line.id}`);
    const result = await runAgent(sink, () => {
      if (!line.inner_runnable_ok) throw AgentError.http(503, "vendor down");
    });
    expect(calls).toEqual(line.sink_calls_in_order);
    expect(result).toEqual(line.caller_result);
  });
});

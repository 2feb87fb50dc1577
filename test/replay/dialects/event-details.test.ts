import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { type EventDetails, parseExact } from "../../../src/entries/events.ts";
import { RecorderSink } from "../../../src/entries/sinks.ts";
import { isJsonObject, type JsonObject } from "../../../src/replay/dialects/dialect.ts";
import { decodeEntelix } from "../../../src/replay/dialects/entelix/entelix-dialect.ts";

const STARTED = {
  timestamp: "2026-04-29T12:00:00Z",
  type: "started",
  run_id: "r1",
  tenant_id: "acme",
  agent: "support",
} as const;

const DETAILS: EventDetails = {
  user_id: "u-1",
  tags: ["beta"],
  metadata: { plan: "gold" },
  input: [{ role: "user", parts: [{ type: "text", content: "Where is it?" }] }],
  step_id: "s1",
  decision: { outcome: "edited", by: "user", person: "eve", reason: "too much", wait_ms: 12.5 },
  usage: { requests: 1, input_tokens: 2n ** 60n, output_tokens: 1, tool_calls: 0, cost_usd: "0" },
  cost_known: true,
  own_usage: true,
  sums_calls: true,
  exception: { type: "TypeError", message: "secret", stacktrace: "at secret" },
};

function lineOf(line: string): JsonObject {
  const value = parseExact(line);
  if (!isJsonObject(value)) throw new Error(line);
  return value;
}

async function recorded(options: object): Promise<string> {
  let text = "";
  const stream = new Writable({
    write(chunk, _, done) {
      text += String(chunk);
      done();
    },
  });
  const recorder = new RecorderSink({ ...options, stream });
  const { timestamp, ...event } = STARTED;
  await recorder.send(event, { event_id: "e1", timestamp, details: DETAILS });
  await recorder.shutdown();
  return text;
}

describe("details of an envelope", () => {
  it("come back from a recording as they were", async () => {
    const decoded = decodeEntelix(lineOf(await recorded({})));
    expect(decoded).toMatchObject({ outcome: "event", envelope: { details: DETAILS } });
  });

  it("are recorded without content, and with the operator's text redacted", async () => {
    const redact = (value: unknown) =>
      typeof value === "string" ? value.replaceAll("secret", "***") : value;
    const line = lineOf(await recorded({ content: false, redact }));
    expect(line.details).toEqual({
      ...DETAILS,
      input: null,
      decision: { ...DETAILS.decision, reason: null },
      exception: { type: "TypeError", message: "***", stacktrace: "at ***" },
    });
    expect(decodeEntelix(line)).toMatchObject({
      outcome: "event",
      envelope: { details: { decision: { outcome: "edited", person: "eve" } } },
    });
  });

  it("name the field that is wrong", () => {
    const details = { user_id: "", decision: { wait_ms: -1, outcome: "maybe" }, tags: [1] };
    expect(decodeEntelix({ ...STARTED, details })).toEqual({
      outcome: "rejected",
      issues: [
        { field: "details.user_id", expected: "non-empty text" },
        { field: "details.tags[0]", expected: "text" },
        {
          field: "details.decision.outcome",
          expected: "one of approved, denied, edited, answered",
        },
        { field: "details.decision.wait_ms", expected: "milliseconds from 0" },
      ],
    });
  });

  it("let fields pass that a newer sender adds, and take null as absent", () => {
    const details = { user_id: null, newer: 1 };
    expect(decodeEntelix({ ...STARTED, details })).toMatchObject({
      outcome: "event",
      envelope: { details: { newer: 1 } },
    });
    expect(decodeEntelix({ ...STARTED, details: null })).toMatchObject({
      outcome: "event",
      envelope: { timestamp: [1777464000, 0] },
    });
  });
});

import { describe, expect, it } from "vitest";
import { Bridge } from "../../../src/bridge/bridge.ts";
import { MemorySessionLog } from "../../../src/entries/audit.ts";
import { MOST_NAME } from "../../../src/events/door.ts";
import { line } from "../../replay/dialects/graph/log-lines.ts";
import { replayed } from "../../replay/dialects/graph/replayed.ts";
import { RunEvents } from "../../support/run-events.ts";
import { collectSpans } from "../../support/spans.ts";

const ID = "018f3c7a-0000-7000-8000-0000000000ab";

/** A run that control was handed to: its span, and the event of its first row. */
async function handedTo(handoff_from: unknown) {
  const log = new MemorySessionLog();
  const { provider, spans } = collectSpans();
  const bridge = new Bridge({ mode: "replay", audit: log, tracerProvider: provider });
  const run = new RunEvents(ID);
  const details = Object({ handoff_from });
  await bridge.send(run.started(), { thread_id: "th", details });
  await bridge.send(run.complete(), { thread_id: "th" });
  await bridge.shutdown();
  const [row] = await log.loadSince({ tenant_id: run.tenant_id, thread_id: "th" }, 0);
  return { from: spans()[0]?.attributes["entelix.handoff.from"], event: row?.event };
}

describe("a run that control was handed to", () => {
  it("names the agent that did that, on its span and in its first row", async () => {
    const { event, from } = await handedTo("Triage");
    expect(from).toBe("Triage");
    expect(event).toMatchObject({ kind: "entelix.run_started", handoff_from: "Triage" });
  });

  it("has the same attribute when its row is replayed", async () => {
    const { event } = await handedTo("Triage");
    const { spans } = await replayed([line(0, Object(event), { run_id: ID })]);
    expect(spans[0]?.attributes["entelix.handoff.from"]).toBe("Triage");
  });

  it("has at most 1 KiB of a name", async () => {
    expect((await handedTo("x".repeat(5_000))).from).toBe("x".repeat(MOST_NAME));
  });

  it.each([undefined, null, "", 7, {}])("names nobody where %j is given", async (given) => {
    const { event, from } = await handedTo(given);
    expect(from).toBeUndefined();
    expect(event).not.toHaveProperty("handoff_from");
  });
});

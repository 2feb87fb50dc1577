import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { entelixDialect } from "../../../src/replay/dialects/entelix/entelix-dialect.ts";
import { EventIntake } from "../../../src/replay/input/event-intake.ts";
import { EventOrder } from "../../../src/replay/input/event-order.ts";
import { readSource } from "../../../src/replay/input/read-events.ts";
import { RunEvents } from "../../support/run-events.ts";
import { lineOf, uuid } from "./support/backlogs.ts";

const RUNS = 60;
const LINES_A_RUN = 4;

/** The lines of many runs, one event a second, dealt out to two sources. */
function dealt(): readonly [string[], string[]] {
  const sources: [string[], string[]] = [[], []];
  for (let n = 0; n < RUNS; n += 1) {
    const run = new RunEvents(uuid(n));
    const events = [run.started("a"), run.toolStart("c"), run.toolComplete("c"), run.complete()];
    for (const [index, event] of events.entries()) {
      const at = n * LINES_A_RUN + index;
      sources[at % 2 === 0 ? 0 : 1].push(lineOf(event, `thread-${n}`, index, at));
    }
  }
  return sources;
}

async function* bytesOf(lines: readonly string[]): AsyncGenerator<Buffer> {
  for (const line of lines) yield Buffer.from(`${line}\n`);
}

describe("sources that are one history", () => {
  it("are delivered in order, one event at a time, where they are read at once", async () => {
    const taken: string[] = [];
    let open = 0;
    const order = new EventOrder(
      {
        onEvent: async ({ envelope }) => {
          open += 1;
          expect(open).toBe(1);
          await sleep(0);
          taken.push(envelope.event_id ?? "");
          open -= 1;
        },
      },
      { size: 32, batch: 1 },
    );
    const intakes = dealt().map((lines, index) => {
      const name = `${index}.ndjson`;
      const intake = new EventIntake({ name, dialects: [entelixDialect] }, order);
      return { intake, reading: readSource(bytesOf(lines), intake) };
    });
    expect(await Promise.all(intakes.map(({ reading }) => reading))).toEqual([
      undefined,
      undefined,
    ]);
    await order.release();
    const sorted = Array.from(
      { length: RUNS * LINES_A_RUN },
      (_, at) => `thread-${Math.floor(at / LINES_A_RUN)}/${at % LINES_A_RUN}`,
    );
    expect(taken).toEqual(sorted);
    expect(order.report()).toMatchObject({ events: sorted.length, late: 0, repeated: 0 });
    expect(intakes.map(({ intake }) => intake.report().lines)).toEqual([120, 120]);
  });
});

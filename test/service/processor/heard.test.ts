import { emptyResource } from "@opentelemetry/resources";
import { describe, expect, it } from "vitest";
import { createReplayProvider } from "../../../src/bridge/door.ts";
import { readEvents } from "../../../src/entries/replay.ts";
import { formatRfc3339 } from "../../../src/events/door.ts";
import { Bridge } from "../../../src/index.ts";
import { RUNTIMES } from "../../../src/replay/door.ts";
import type { LogLine } from "../../../src/service/processor/log-processor-options.ts";
import { Random } from "../../support/random.ts";
import { Life, World } from "./support/lives.ts";

const BEGIN = 1_780_000_000;
const HOUR = 3_600;

/** How a run of each dialect begins and ends, and what it says between. */
const RUNS = {
  entelix: {
    begins: { type: "started", run_id: "run-1", agent: "a", tenant_id: "acme" },
    says: { type: "of_tomorrow", run_id: "run-1", tenant_id: "acme" },
    ends: { type: "complete", run_id: "run-1", state: {}, usage: null, tenant_id: "acme" },
  },
  "agent-sdk": {
    begins: { type: "user_input", thread_id: "thread-1", content: [], tenant_id: "acme" },
    says: { type: "of_tomorrow", tenant_id: "acme" },
    ends: {
      type: "cancelled",
      thread_id: "thread-1",
      turn: 1,
      usage: { input_tokens: 1, output_tokens: 1 },
      tenant_id: "acme",
    },
  },
  defect: {
    begins: {
      type: "user_prompt_committed",
      session_id: "session-1",
      content: [],
      tenant_id: "acme",
    },
    says: { type: "of_tomorrow", session_id: "session-1", tenant_id: "acme" },
    ends: { type: "turn_ended", session_id: "session-1", reason: "end_turn", tenant_id: "acme" },
  },
} as const;

type Name = keyof typeof RUNS;

/** A run that is 40 h long, and of which nothing is understood but its beginning and its end. */
function longRun(name: Name, says: object = RUNS[name].says): LogLine[] {
  const { begins, ends } = RUNS[name];
  const events = [begins, says, says, says, ends];
  return events.map((event, offset) => {
    const second = BEGIN + offset * 10 * HOUR;
    const text = JSON.stringify({
      event_id: `e${offset}`,
      sequence: offset,
      timestamp: formatRfc3339([second, 0]),
      ...event,
    });
    const arrivedMs = second * 1000;
    return { offset, text, arrivedMs, tenant: undefined, dialect: name, key: "k", trusted: true };
  });
}

async function processor(lines: readonly LogLine[]): Promise<{ spans: string[]; life: Life }> {
  const world = new World();
  const life = new Life(world, new Random(1), 0, { from: 0 });
  for (const line of lines) await life.processor.take(line);
  await life.processor.idle(Date.now() + 20_000);
  await life.commit();
  expect(world.errors).toEqual([]);
  return { spans: spansOf(world), life };
}

async function replay(name: Name, lines: readonly LogLine[]): Promise<string[]> {
  const world = new World();
  const tracerProvider = createReplayProvider(emptyResource(), {
    onEnd: (span) => world.keep([span]),
  });
  const bridge = new Bridge({ mode: "replay", tracerProvider });
  const runtime = RUNTIMES.find(({ dialect }) => dialect.name === name);
  if (runtime === undefined) throw new Error(`no runtime ${name}`);
  const player = runtime.player(bridge, "default");
  const source = async function* () {
    yield lines.map(({ text }) => `${text}\n`).join("");
  };
  await readEvents(source(), {
    dialects: [runtime.dialect],
    onEvent: ({ event, envelope }) => void player.take(event, envelope),
    onActivity: ({ envelope, value }) => player.keepAlive(value, envelope),
  });
  await player.end();
  await bridge.shutdown();
  return spansOf(world);
}

function spansOf({ spans }: World): string[] {
  return [...spans.values()].flatMap((contents) => [...contents]);
}

const names = Object.keys(RUNS).filter((name): name is Name => name in RUNS);

describe("a run that says what nobody understands", () => {
  it.each(names)("is not silent in a log processor (%s)", async (name) => {
    const { life, spans } = await processor(longRun(name));
    expect(spans).toHaveLength(1);
    expect(spans[0]).not.toContain("abandoned");
    expect(life.processor.figures).toMatchObject({
      events: 2,
      unknown: 3,
      openRuns: 0,
      rejected: 0,
    });
  });

  it.each(names)("is not silent in a replay (%s)", async (name) => {
    const spans = await replay(name, longRun(name));
    expect(spans).toHaveLength(1);
    expect(spans[0]).not.toContain("abandoned");
  });

  it.each(names)("is another tenant's where it names one, and opens none (%s)", async (name) => {
    const { life, spans } = await processor(
      longRun(name, { ...RUNS[name].says, tenant_id: "globex" }),
    );
    expect(spans.filter((span) => span.includes("abandoned"))).toHaveLength(1);
    expect(life.processor.figures).toMatchObject({ unknown: 3, openRuns: 0 });
  });

  /** The first line of its key, and without a header that says its dialect. */
  function first(says: object, tenant?: string): LogLine[] {
    const [line] = longRun("entelix");
    if (line === undefined) throw new Error("expected a line");
    const text = JSON.stringify({ timestamp: formatRfc3339([BEGIN, 0]), ...says });
    const began = { ...line, offset: 1, dialect: undefined };
    return [{ ...line, text, tenant, dialect: undefined }, began];
  }

  it.each([
    [{ type: "of_tomorrow", run_id: "run-1", tenant_id: "acme" }, undefined],
    [{ type: "of_tomorrow", run_id: "run-1" }, "acme"],
  ])("is counted, and no dead letter, as the first of its key: %j of %s", async (says, tenant) => {
    const { life } = await processor(first(says, tenant));
    expect(life.processor.figures).toMatchObject({ events: 1, unknown: 1, rejected: 0 });
  });

  it.each([
    [{ type: "order_created", tenant_id: "acme" }, undefined],
    [{ type: "order_created", run_id: "run-1", tenant_id: "globex" }, "acme"],
    [{ type: "order_created", run_id: "run-1", tenant_id: "acme", timestamp: "soon" }, undefined],
  ])("is a dead letter where nothing says whose it is: %j of %s", async (says, tenant) => {
    const { life } = await processor(first(says, tenant));
    expect(life.processor.figures).toMatchObject({ events: 1, unknown: 0, rejected: 1 });
  });
});

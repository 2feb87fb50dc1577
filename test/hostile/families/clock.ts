import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseExact, stringifyExact } from "../../../src/entries/events.ts";
import { formatRfc3339, readTimestamp } from "../../../src/events/door.ts";
import { isJsonObject } from "../../../src/replay/door.ts";
import { SPANS_A_RUN, wholeRuns } from "../../e2e/support/serve-runs.ts";
import { sendUntilTaken } from "../../e2e/support/serve-sender.ts";
import { OtlpServer, type WireSpan } from "../../support/otlp-server.ts";
import type { Random } from "../../support/random.ts";
import { ZERO } from "../../support/run-events.ts";
import type { Family } from "../family.ts";
import {
  compareOutcomes,
  type Outcome,
  outcomeOf,
  replayed,
  SERVICE,
  spansArrive,
} from "../support/outcome.ts";
import { runCommand } from "../support/run-command.ts";
import { seededUuid } from "../support/seeded-ids.ts";
import { Service } from "../support/service.ts";
import type { Trial } from "../trial.ts";

const YEAR_S = 365 * 86_400;
const YEAR_MS = 1_000 * YEAR_S;
const RUNS = 12;
const LINES_A_RUN = 8;
/** Longer than lines wait to be put in order, in ms. */
const WINDOW_MS = 6_500;
/** Seconds from second 0 of the tests to the first and the last year that a span can have. */
const [YEAR_1970, YEAR_2262] = [1 - ZERO, 7_437_182_400];

/** A run's lines, and whether no clock of it is wrong. */
interface DrawnRun {
  readonly lines: readonly string[];
  readonly isWitness: boolean;
}

interface Kind {
  readonly name: string;
  /** Steps of the system's clock, for each start: [ms after it, ms that are added from then on]. */
  readonly starts?: readonly (readonly (readonly [number, number])[])[];
  /** Seconds that are added to the times of a run, before and behind its middle. Default: 0. */
  readonly shift?: (random: Random, run: number) => readonly [number, number];
}

const both = (seconds: number) => [seconds, seconds] as const;

/** Each of these leaves all runs as one replay makes them. */
const STEADY: readonly Kind[] = [
  { name: "events 10 years ago", shift: () => both(-10 * YEAR_S) },
  { name: "events of 1970", shift: () => both(YEAR_1970) },
  { name: "events 10 years ahead", shift: () => both(10 * YEAR_S) },
  { name: "events of 2262", shift: () => both(YEAR_2262) },
  { name: "system clock 10 years ahead", starts: [[[0, 10 * YEAR_MS]]] },
  { name: "system clock 20 years back", starts: [[[0, -20 * YEAR_MS]]] },
  { name: "system clock steps 10 years back", starts: [[[2_000, -10 * YEAR_MS]]] },
  { name: "system clock 10 years back after a kill -9", starts: [[], [[0, -10 * YEAR_MS]]] },
];

/**
 * In each of these some runs seem to be silent for years: those end as abandoned, and go on in their next
 * segment. Every other one of the mixed runs is a witness.
 */
const JUMPING: readonly Kind[] = [
  {
    name: "events of all times at once",
    shift: (random, run) =>
      both(run % 2 === 0 ? 0 : random.of([-10 * YEAR_S, YEAR_1970, 10 * YEAR_S, YEAR_2262])),
  },
  {
    name: "a sender's clock steps back in its runs",
    shift: (random, run) => [0, run % 2 === 0 ? 0 : -random.below(3_600)],
  },
  {
    name: "a sender's clock steps years in its runs",
    shift: (random, run) => [0, run % 2 === 0 ? 0 : random.of([-5 * YEAR_S, 5 * YEAR_S])],
  },
  { name: "system clock steps 10 years ahead", starts: [[[2_000, 10 * YEAR_MS]]] },
  { name: "system clock 10 years ahead after a kill -9", starts: [[], [[0, 10 * YEAR_MS]]] },
];

/** Clocks of senders and of the system that are years off, or step. */
export const clock: Family = {
  name: "clock",
  about:
    "clocks years off, and steps (a preloaded Date): spans end once, rows are there once, none is lost",
  async run(trials, size) {
    const options = { width: size.of(2, 1), boundMs: 180_000 };
    // All kinds at a time, since each waits for the reorder buffer.
    await Promise.all(
      [...STEADY, ...JUMPING].map((kind) =>
        trials.each(
          kind.name,
          size.of(3, 1),
          (trial) => byServe(trial, kind, STEADY.includes(kind)),
          options,
        ),
      ),
    );
    await trials.each("events of all times at once: replay", size.of(4, 1), byReplay);
  },
};

async function byServe(trial: Trial, kind: Kind, isSteady: boolean): Promise<void> {
  const folder = await trial.folder();
  await using receiver = await OtlpServer.start();
  const audit = join(folder, "audit");
  const args = ["--endpoint", receiver.url, "--audit", audit, ...SERVICE];
  const [first = [], second] = kind.starts ?? [];
  const start = (steps: typeof first) =>
    Service.start(trial, join(folder, "journal"), { args, env: environment(steps) });
  const runs = draw(trial.random, kind);
  let { service, url } = await start(first);
  const send = (from: number, end: number) =>
    sendUntilTaken(
      url,
      runs.flatMap(({ lines }) => lines.slice(from, end)),
    );
  await send(0, LINES_A_RUN / 2);
  await sleep(WINDOW_MS);
  if (second !== undefined) {
    await service.kill();
    ({ service, url } = await start(second));
  }
  await send(LINES_A_RUN / 2, LINES_A_RUN);
  await spansArrive(receiver, RUNS * SPANS_A_RUN, isComplete);
  trial.equal("exit code after SIGTERM", (await service.stop()).code, 0);
  await judge(trial, runs, isSteady, receiver, await outcomeOf(receiver, audit));
}

async function byReplay(trial: Trial): Promise<void> {
  const [kind] = JUMPING;
  if (kind === undefined) throw new Error("expected a kind");
  const runs = draw(trial.random, kind);
  const folder = await trial.folder();
  const [file, audit] = [join(folder, "events.ndjson"), join(folder, "audit")];
  await writeFile(file, runs.flatMap(({ lines }) => lines.map((line) => `${line}\n`)).join(""));
  await using receiver = await OtlpServer.start();
  const args = ["replay", file, "--endpoint", receiver.url, "--audit", audit, ...SERVICE];
  const { code, stderr } = await runCommand(trial, args);
  trial.equal("exit code", [code, stderr], [0, ""]);
  // A file has no clock of its own: the witnesses are those of the order in it.
  const all = runs.map(({ lines }) => ({ lines, isWitness: false }));
  await judge(trial, all, false, receiver, await outcomeOf(receiver, audit));
}

async function judge(
  trial: Trial,
  runs: readonly DrawnRun[],
  isSteady: boolean,
  receiver: OtlpServer,
  found: Outcome,
): Promise<void> {
  trial.accept(runs.length * LINES_A_RUN);
  const lines = runs.flatMap((run) => run.lines);
  const expected = await replayed(trial, lines);
  if (isSteady) {
    compareOutcomes(trial, found, expected);
    return;
  }
  const witnesses = runs.filter(({ isWitness }) => isWitness).flatMap((run) => run.lines);
  const isTheirs = ([, [content = ""]]: readonly [string, readonly string[]]) =>
    [...idsOf(witnesses)].some((id) => content.includes(id));
  const spans = new Map([...found.spans].filter(isTheirs));
  if (witnesses.length > 0 && witnesses.length < lines.length) {
    const alone = await replayed(trial, witnesses, "witnesses");
    compareOutcomes(trial, { spans, rows: alone.rows }, alone);
  }
  endOnce(trial, lines, receiver, found);
  const events = (rows: Outcome["rows"]) =>
    [...rows].flatMap(([key, texts]) => texts.map((text) => `${key} ${eventText(text)}`)).sort();
  const [is, should] = [events(found.rows), events(expected.rows)];
  const lost = should.filter((row) => !is.includes(row));
  trial.harm("lost", `the row ${lost[0]}`, `${is.length} rows`, lost.length);
  trial.harm("doubled", `${should.length} rows`, `${is.length}`, is.length - should.length);
}

/** Each run and each call has one span that says how it ended; no span ends twice, or before its start. */
function endOnce(
  trial: Trial,
  lines: readonly string[],
  receiver: OtlpServer,
  found: Outcome,
): void {
  const twice = [...found.spans].filter(([, contents]) => contents.length > 1);
  trial.harm("doubled", "one content of each span", `${twice[0]?.[1].join(" and ")}`, twice.length);
  const spans = [...found.spans.values()].map(([text = ""]): WireSpan => JSON.parse(text));
  const backwards = spans.filter(
    (span) => BigInt(span.endTimeUnixNano) < BigInt(span.startTimeUnixNano),
  );
  trial.harm("altered", "no end before its start", `${backwards[0]?.name}`, backwards.length);
  const completes = (name: string) => spans.filter((span) => span.name === name && ended(span));
  for (const run of idsOf(lines)) {
    const own = spans.filter(({ attributes }) => attributes["entelix.run_id"] === run);
    for (const what of ["invoke_agent", "execute_tool"]) {
      const ends = own.filter((span) => span.name.startsWith(what) && ended(span)).length;
      trial.harm("lost", `a complete ${what} of ${run}`, `${ends}`, 1 - ends);
      trial.harm("doubled", `one complete ${what} of ${run}`, `${ends}`, ends - 1);
    }
  }
  trial.equal("runs that ended", completes("invoke_agent planner").length, RUNS);
  trial.equal("faults of the receiver", receiver.faults.map(String), []);
}

function ended({ attributes }: WireSpan): boolean {
  const { "entelix.run.outcome": run, "entelix.tool.outcome": tool } = attributes;
  return (run ?? tool) === "complete";
}

function isComplete([, [content = ""]]: readonly [string, readonly string[]]): boolean {
  return content.includes('.outcome":"complete"');
}

function idsOf(lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.map((line) => `${JSON.parse(line).run_id}`));
}

function eventText(row: string): string {
  const { event_text, run_id } = JSON.parse(row);
  return `${run_id} ${event_text}`;
}

function draw(random: Random, { shift = () => both(0) }: Kind): DrawnRun[] {
  const runs = wholeRuns(RUNS, "acme", 0, () => seededUuid(random));
  return runs.map((lines, run) => {
    const [before, behind] = shift(random, run);
    const at = (index: number) => (index < LINES_A_RUN / 2 ? before : behind);
    return {
      lines: lines.map((line, index) => shifted(line, at(index))),
      isWitness: before === 0 && behind === 0,
    };
  });
}

/** The same line, so many seconds later. */
function shifted(line: string, seconds: number): string {
  const value = parseExact(line);
  const time = isJsonObject(value) ? readTimestamp(String(value.timestamp)) : undefined;
  if (!isJsonObject(value) || time === undefined) throw new TypeError(`no event: ${line}`);
  return stringifyExact({ ...value, timestamp: formatRfc3339([time[0] + seconds, time[1]]) });
}

function environment(steps: readonly (readonly [number, number])[]): Record<string, string> {
  const { href } = new URL("../support/stepped-clock.mjs", import.meta.url);
  return { NODE_OPTIONS: `--import ${href}`, HOSTILE_CLOCK: JSON.stringify(steps) };
}

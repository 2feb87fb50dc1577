import { RunIds } from "../../../src/entries/context.ts";
import { stringifyExact } from "../../../src/entries/events.ts";
import { formatRfc3339 } from "../../../src/events/door.ts";
import { runWithChild } from "../../e2e/support/serve-runs.ts";
import type { Random } from "../../support/random.ts";
import { RunEvents, second } from "../../support/run-events.ts";
import { seededUuid } from "./seeded-ids.ts";

/** A line of one of the two, with its time in seconds after second 0. */
export interface TenantLine {
  readonly tenant: "acme" | "beta";
  readonly at: number;
  readonly text: string;
}

/** What beta does with ids of acme's run. */
export interface TenantAttack {
  readonly name: string;
  /** How acme's run is sent. Default: whole, in order. */
  readonly starts?: "never" | "late";
  /** Lines of beta's. @param victim acme's run, which begins at `from` and ends a second later. */
  draw(victim: Victim, from: number, random: Random): TenantLine[];
}

export interface Victim {
  readonly run: string;
  readonly child: string;
  readonly eventIds: readonly string[];
}

function line(
  tenant: TenantLine["tenant"],
  at: number,
  event: object,
  envelope: Readonly<Record<string, unknown>>,
): TenantLine {
  const timestamp = formatRfc3339(second(at));
  return { tenant, at, text: stringifyExact({ timestamp, ...event, ...envelope }) };
}

/** A run of acme's with a tool call and a child that has one too, over one second. */
export function victimOf(
  random: Random,
  from: number,
  starts: TenantAttack["starts"],
): { victim: Victim; lines: TenantLine[] } {
  const run = new RunEvents(seededUuid(random), "acme");
  const child = new RunEvents(seededUuid(random), "acme");
  const events = runWithChild(run, child);
  const eventIds = events.map(() => seededUuid(random));
  const lines = events.map((event, at) => {
    const isLate = at === 0 && starts === "late";
    return line("acme", from + (isLate ? LATE_START : at / 8), event, { event_id: eventIds[at] });
  });
  return {
    victim: { run: run.run_id, child: child.run_id, eventIds },
    lines: starts === "never" ? lines.slice(1) : lines,
  };
}

/** Behind the first events of the run, in seconds. */
const LATE_START = 0.3;

/** A whole run of beta's with a run id of acme's, the started of which is sent at a time. */
function sameRun(runId: string, at: number, random: Random, ids?: readonly string[]): TenantLine[] {
  const run = new RunEvents(runId, "beta");
  const events = [
    run.started("intruder"),
    run.toolStart("call_1", "search"),
    run.toolComplete("call_1", "search", 1),
    run.complete(),
  ];
  return events.map((event, place) =>
    line("beta", at + place / 1000, event, { event_id: ids?.[place] ?? seededUuid(random) }),
  );
}

/** The same, open for as long as acme's is. */
function openRun(runId: string, at: number, random: Random): TenantLine[] {
  const [started, ...others] = sameRun(runId, at, random);
  if (started === undefined) throw new RangeError("expected a started");
  const late = sameRun(runId, at + 2, random).slice(-others.length);
  return [started, ...late];
}

/** A run of beta's own that names acme's wherever a name can stand. */
function naming({ run }: Victim, at: number, random: Random): TenantLine[] {
  const own = new RunEvents(seededUuid(random), "beta");
  const envelope = {
    root_run_id: run,
    thread_id: run,
    session_id: run,
    resumed_from_run_id: run,
    parent_tool_use_id: "call_1",
    traceparent: `00-${run.replaceAll("-", "")}-00f067aa0ba902b7-01`,
  };
  return [own.started("intruder", run), own.complete()].map((event, place) =>
    line("beta", at + place / 1000, event, { event_id: seededUuid(random), ...envelope }),
  );
}

/** A UUID that is what acme's run gets where its own is taken. */
function hashedUuid({ run }: Victim): string {
  const hex = RunIds.hashed("acme", run).traceId;
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** Times around the run and in its middle. */
const anyTime = (from: number, random: Random) => from - 0.5 + random.next() * 2;

export const TENANT_ATTACKS: readonly TenantAttack[] = [
  {
    name: "the run id, before it is used",
    draw: ({ run }, from, random) => sameRun(run, from - 0.5, random),
  },
  {
    name: "the run id, while it is open",
    draw: ({ run }, from, random) => sameRun(run, from + random.next() * 0.8, random),
  },
  {
    name: "the run id, after its end",
    draw: ({ run }, from, random) => sameRun(run, from + 1.2, random),
  },
  {
    name: "the run id, its own start never seen",
    starts: "never",
    draw: ({ run }, from, random) => sameRun(run, from - 0.2, random),
  },
  {
    name: "the run id, its own start late",
    starts: "late",
    draw: ({ run }, from, random) => openRun(run, from - 0.2, random),
  },
  {
    name: "the run id of a run left open",
    starts: "never",
    draw: ({ run }, from, random) => openRun(run, from - 0.2, random),
  },
  {
    name: "the child's run id",
    draw: ({ child }, from, random) => sameRun(child, anyTime(from, random), random),
  },
  {
    name: "the event ids",
    draw: ({ eventIds }, from, random) =>
      sameRun(seededUuid(random), anyTime(from, random), random, eventIds),
  },
  {
    name: "run id and event ids",
    draw: ({ eventIds, run }, from, random) =>
      sameRun(run, anyTime(from, random), random, eventIds),
  },
  {
    name: "the run id in capitals",
    draw: ({ run }, from, random) => sameRun(run.toUpperCase(), anyTime(from, random), random),
  },
  {
    name: "the id that it would get instead",
    draw: (victim, from, random) => [
      ...sameRun(hashedUuid(victim), from - 0.4, random),
      ...sameRun(victim.run, from - 0.2, random),
    ],
  },
  {
    name: "as parent, root, thread and trace",
    draw: (victim, from, random) => naming(victim, anyTime(from, random), random),
  },
];

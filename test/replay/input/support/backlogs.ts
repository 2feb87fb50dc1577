import { formatRfc3339 } from "../../../../src/events/door.ts";
import { RunEvents, second } from "../../../support/run-events.ts";

interface BacklogOptions {
  /** Events of the run of an hour ago. Default 2: its start and its end. */
  readonly backlog?: number;
}

/** 150 runs of now, and then a run of an hour ago, its events in the wrong order: the newest first. */
export function oldBacklog({ backlog = 2 }: BacklogOptions = {}): string[] {
  const lines = Array.from({ length: 150 }, (_, n) => {
    const run = new RunEvents(uuid(n));
    return [run.started("new"), run.complete()].map((event, index) =>
      lineOf(event, `new-${n}`, index, n + index / 10),
    );
  });
  const old = new RunEvents(uuid(999));
  const calls = Array.from({ length: (backlog - 2) / 2 }, (_, n) => [
    old.toolStart(`call_${n}`),
    old.toolComplete(`call_${n}`),
  ]);
  const events = [old.started("backlog"), ...calls.flat(), old.complete()];
  const late = events.map((event, index) => lineOf(event, "old", index, index - 3_600));
  return [...lines.flat(), ...late.reverse()];
}

export function lineOf(event: object, thread: string, sequence: number, at: number): string {
  const timestamp = formatRfc3339(second(at));
  const event_id = `${thread}/${sequence}`;
  return JSON.stringify({ ...event, thread_id: thread, sequence, timestamp, event_id });
}

export function uuid(n: number): string {
  return `018f3c7a-0000-7000-8000-${String(n).padStart(12, "0")}`;
}

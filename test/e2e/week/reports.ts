/** Which alert says what of a tenant: an alert is right while something that it reports is in the traffic. */
export interface Subject {
  readonly alertname: string;
  readonly job: string;
  readonly entelix_tenant_id?: string;
  /** Of alerts about tools. */
  readonly gen_ai_tool_name?: string;
}

/** In promtool's time: a minute without, with an alert that may fire, with one that must. */
const NONE = 0;
const MAY = 1;
const MUST = 2;

/** The series that hold what the traffic would be told of. Rules do not read them. */
export const MAY_FIRE = "week_may_fire";
export const MUST_FIRE = "week_must_fire";

/**
 * What happened that an alert reports one by one: a run that failed, an approval that waits for more than an hour. Kept
 * from what the traffic does, not from metrics.
 */
export class Reports {
  readonly #minutes: number;
  readonly #bySubject = new Map<string, Uint8Array>();

  /** @param minutes how long the simulation lasts. */
  constructor(minutes: number) {
    this.#minutes = minutes;
  }

  /** The alert may fire, in simulated seconds. */
  may(subject: Subject, from: number, to: number): void {
    this.#mark(subject, from, to, MAY);
  }

  /** It must fire, or somebody would not hear of it. */
  must(subject: Subject, from: number, to: number): void {
    this.#mark(subject, from, to, MUST);
  }

  /** From a minute on, as promtool's tests have them. */
  *inputSeries(from: number): Generator<readonly [series: string, values: string]> {
    for (const [labels, all] of this.#bySubject) {
      const minutes = all.subarray(from);
      yield [`${MAY_FIRE}${labels}`, notation(minutes, (is) => is !== NONE)];
      if (minutes.includes(MUST))
        yield [`${MUST_FIRE}${labels}`, notation(minutes, (is) => is === MUST)];
    }
  }

  #mark(subject: Subject, from: number, to: number, how: number): void {
    const pairs = Object.entries(subject).map(([name, value]) => `${name}="${value}"`);
    const labels = `{${pairs.toSorted().join(",")}}`;
    let minutes = this.#bySubject.get(labels);
    if (minutes === undefined) {
      minutes = new Uint8Array(this.#minutes);
      this.#bySubject.set(labels, minutes);
    }
    const last = Math.min(Math.floor(to / 60), this.#minutes - 1);
    for (let at = Math.ceil(from / 60); at <= last; at++) {
      minutes[at] = Math.max(minutes[at] ?? NONE, how);
    }
  }
}

/** 1 where it holds, else nothing; stale at the end of each time, as if it was not scraped any more. */
function notation(minutes: Uint8Array, holds: (is: number) => boolean): string {
  const parts: string[] = [];
  let before = false;
  for (const is of minutes) {
    const now = holds(is);
    parts.push(now ? "1" : before ? "stale" : "_");
    before = now;
  }
  return runLengths(parts);
}

function runLengths(parts: readonly string[]): string {
  const out: string[] = [];
  for (let at = 0; at < parts.length; ) {
    const part = parts[at] ?? "";
    let end = at;
    while (parts[end] === part) end++;
    const times = end - at;
    if (part === "_") out.push(`_x${times}`);
    else out.push(times === 1 ? part : `${part}x${times - 1}`);
    at = end;
  }
  return out.join(" ");
}

import { tenantKey } from "../../events/door.ts";
import type { NewLine } from "../journal/log-line.ts";
import type { Backlog } from "./journal-feed.ts";
import { Refusal } from "./refusal.ts";

/** What the gate needs of the journal. */
interface LineJournal {
  append(lines: readonly NewLine[]): Promise<{ readonly last: number }>;
}

/** What the gate needs of the memory of event ids. */
interface IdMemory {
  has(tenant: string, eventId: string): boolean;
  add(tenant: string, eventId: string): void;
}

/** A line that was checked, with what makes it the same as another. */
export interface CheckedLine {
  readonly line: NewLine;
  readonly tenant: string;
  /** `undefined`: nothing tells whether it came before. */
  readonly eventId: string | undefined;
}

interface EventGateOptions {
  readonly journal: LineJournal;
  readonly ids: IdMemory;
  readonly backlog: Backlog;
  /** Why nothing is taken at this time; asked before each append. */
  readonly refusal: () => Refusal | undefined;
  /** Told of an append that failed, and with `undefined` of one that did not. */
  readonly onAppend: (error: unknown) => void;
}

/**
 * Puts lines into the journal, each event id of a tenant once: where two equal lines are on their way
 * at one time, the second waits for what becomes of the first.
 */
export class EventGate {
  readonly #options: EventGateOptions;
  /** Ids on their way into the journal, until they are there or will not be. */
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(options: EventGateOptions) {
    this.#options = options;
  }

  /** Whether the line came before, and is durable. */
  knows({ eventId, tenant }: CheckedLine): boolean {
    return eventId !== undefined && this.#options.ids.has(tenant, eventId);
  }

  /**
   * Resolves when every line is durable, or known to be.
   *
   * @param tell told of each line as soon as that is so: `accepted`, or `duplicate` where it had come
   * before.
   * @throws Refusal `store` when they can't be written, or another where no more is taken: the lines
   * that were not told of are not taken.
   */
  async take<L extends CheckedLine>(
    lines: readonly L[],
    tell: (line: L, outcome: "accepted" | "duplicate") => void,
  ): Promise<void> {
    let open = lines;
    while (open.length > 0) {
      const own: L[] = [];
      const others: L[] = [];
      const waits = new Set<Promise<void>>();
      const claim = new Claim();
      for (const line of open) {
        const { tenant, eventId } = line;
        if (eventId === undefined) own.push(line);
        else if (this.#options.ids.has(tenant, eventId)) tell(line, "duplicate");
        else {
          const key = tenantKey(tenant, eventId);
          const before = this.#underWay.get(key);
          if (before === undefined) {
            this.#underWay.set(key, claim.ended);
            own.push(line);
          } else {
            others.push(line);
            waits.add(before);
          }
        }
      }
      if (own.length > 0) await this.#append(own, claim);
      for (const line of own) tell(line, "accepted");
      await Promise.all(waits);
      // Either they are known now, or whoever had them failed, and they are this caller's to write.
      open = others;
    }
  }

  async #append(lines: readonly CheckedLine[], claim: Claim): Promise<void> {
    const { ids, refusal } = this.#options;
    let stored = false;
    try {
      const refused = refusal();
      if (refused !== undefined) throw refused;
      await this.#write(lines);
      stored = true;
    } finally {
      for (const { tenant, eventId } of lines) {
        if (eventId === undefined) continue;
        if (stored) ids.add(tenant, eventId);
        this.#underWay.delete(tenantKey(tenant, eventId));
      }
      claim.end();
    }
  }

  async #write(lines: readonly CheckedLine[]): Promise<void> {
    const { journal, backlog, onAppend } = this.#options;
    try {
      const { last } = await journal.append(lines.map(({ line }) => line));
      backlog.add(last, sizeOf(lines));
    } catch (error) {
      onAppend(error);
      throw new Refusal("store", "the journal can't be written at this time");
    }
    onAppend(undefined);
  }
}

/** The ids of one append, until it has ended. */
class Claim {
  readonly ended: Promise<void>;
  #end: () => void = () => {};

  constructor() {
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  end(): void {
    this.#end();
  }
}

function sizeOf(lines: readonly CheckedLine[]): number {
  return lines.reduce((bytes, { line }) => bytes + Buffer.byteLength(line.text), 0);
}

import { tenantKey } from "../../events/door.ts";
import type { NewLine } from "../journal/log-line.ts";
import type { Backlog } from "./journal-feed.ts";
import { Refusal } from "./refusal.ts";

/** The methods of the journal that the gate uses. */
interface LineJournal {
  append(lines: readonly NewLine[]): Promise<{ readonly last: number }>;
}

/** The methods of the ID cache that the gate uses. */
interface IdMemory {
  has(tenant: string, eventId: string): boolean;
  add(tenant: string, eventId: string): void;
}

/** A checked line with its tenant and event ID. */
export interface CheckedLine {
  readonly line: NewLine;
  readonly tenant: string;
  /** `undefined`: duplicates cannot be recognised. */
  readonly eventId: string | undefined;
}

interface EventGateOptions {
  readonly journal: LineJournal;
  readonly ids: IdMemory;
  readonly backlog: Backlog;
  /** The reason if no lines are accepted now. Called before each append. */
  readonly refusal: () => Refusal | undefined;
  /** Called after each append: with its error, or with `undefined`. */
  readonly onAppend: (error: unknown) => void;
}

/**
 * Appends lines to the journal, each event ID of a tenant once. If two equal lines are sent at the same time, the
 * second waits for the result of the first.
 */
export class EventGate {
  /** Number of bodies that are being read. */
  senders = 0;
  /** Length of the lines that senders collect or that are being written, in UTF-16 units. */
  collected = 0;
  readonly #options: EventGateOptions;
  /** IDs that are being appended, until that succeeds or fails. */
  readonly #appending = new Map<string, Promise<void>>();

  constructor(options: EventGateOptions) {
    this.#options = options;
  }

  /** Whether the line is already in the journal. */
  knows({ eventId, tenant }: CheckedLine): boolean {
    return eventId !== undefined && this.#options.ids.has(tenant, eventId);
  }

  /**
   * Resolves when every line is durable, or known to be.
   *
   * @param onOutcome called for each line as soon as that is known: `accepted`, or `duplicate` if it came before.
   * @throws Refusal `store` if the journal cannot be written, or the current reason not to accept lines. Lines without
   *   an outcome were not stored.
   */
  async take<L extends CheckedLine>(
    lines: readonly L[],
    onOutcome: (line: L, outcome: "accepted" | "duplicate") => void,
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
        else if (this.#options.ids.has(tenant, eventId)) onOutcome(line, "duplicate");
        else {
          const key = tenantKey(tenant, eventId);
          const before = this.#appending.get(key);
          if (before === undefined) {
            this.#appending.set(key, claim.ended);
            claim.keys.push(key);
            own.push(line);
          } else {
            others.push(line);
            waits.add(before);
          }
        }
      }
      if (own.length > 0) await this.#append(own, claim);
      for (const line of own) onOutcome(line, "accepted");
      await Promise.all(waits);
      // The other lines are now known, or their append failed and this call must write them.
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
      for (const { tenant, eventId } of stored ? lines : []) {
        if (eventId !== undefined) ids.add(tenant, eventId);
      }
      for (const key of claim.keys) this.#appending.delete(key);
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

/** The IDs of one append, until it ends. */
class Claim {
  readonly ended: Promise<void>;
  readonly keys: string[] = [];
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

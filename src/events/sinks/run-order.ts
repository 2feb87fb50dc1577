import type { AgentEvent } from "../agent-event.ts";
import { tenantKey } from "../agent-event.ts";
import { Deferred } from "../promises.ts";

const NONE: readonly Passage[] = [];

/** An event on its way through sinks, and the events that no sink may see after it. */
export class Passage {
  /** Resolves when no sink is sent the event any more, and nothing ahead of it either. */
  readonly over: Promise<void>;
  #ahead: readonly Passage[];
  readonly #from: number;
  /** Of each sink that the event is yet to reach: resolved when the next event may. */
  readonly #steps: readonly Deferred<void>[];

  /** @param from the first of the sinks, by its place, that the event is yet to reach. */
  constructor(from: number, sinks: number, ahead: readonly Passage[]) {
    this.#ahead = ahead;
    this.#from = from;
    this.#steps = Array.from({ length: sinks - from }, () => new Deferred<void>());
    this.over = this.left(sinks - 1);
  }

  /** Resolves when a sink has seen all events ahead that it is going to see. */
  async turn(at: number): Promise<void> {
    for (const passage of this.#ahead) await passage.left(at);
  }

  /** A sink was sent the event. */
  passed(at: number): void {
    this.#steps[at - this.#from]?.resolve();
  }

  /** No further sink is sent the event. Those behind it still wait for those ahead. */
  end(): void {
    for (const [step, left] of this.#steps.entries()) left.resolve(this.turn(this.#from + step));
    // Else each would keep all before it, for as long as one of the run is on its way.
    this.#ahead = NONE;
  }

  /** Resolves when those behind need not wait at this sink. */
  async left(at: number): Promise<void> {
    await this.#steps[at - this.#from]?.promise;
  }
}

/**
 * Which events of a run are on their way to some sink, so that the next one does not overtake them: an
 * agent that waits for each `send` never has it so, but a framework's callbacks do not wait.
 *
 * Runs do not wait for each other, but for the start of a child, which follows its parent's events.
 */
export class RunOrder {
  /** By run, the event sent last. */
  readonly #last = new Map<string, Passage>();

  /** The events that this one must not overtake; mostly none. */
  ahead(event: AgentEvent): readonly Passage[] {
    if (this.#last.size === 0) return NONE;
    try {
      const runs = [event.run_id, event.type === "started" ? event.parent_run_id : undefined];
      return runs.flatMap((run) =>
        run ? (this.#last.get(tenantKey(event.tenant_id, run)) ?? []) : [],
      );
    } catch {
      // What can't be read is of no run.
      return NONE;
    }
  }

  /** Notes an event that has not reached all sinks yet. */
  begin(event: AgentEvent, passage: Passage): void {
    let name: string;
    try {
      name = tenantKey(event.tenant_id, event.run_id);
    } catch {
      return;
    }
    this.#last.set(name, passage);
    void passage.over.then(() => {
      if (this.#last.get(name) === passage) this.#last.delete(name);
    });
  }
}

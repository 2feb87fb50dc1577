import type { AgentEvent } from "../agent-event.ts";
import { tenantKey } from "../agent-event.ts";
import { Deferred } from "../promises.ts";

const NONE: readonly Passage[] = [];

/** An event that sinks are receiving, and the earlier events that it must not overtake. */
export class Passage {
  /** Resolves when no sink will receive this event, or one ahead of it, any more. */
  readonly over: Promise<void>;
  #ahead: readonly Passage[];
  readonly #from: number;
  /** One for each sink that has not received the event. It resolves when the next event may be sent to the sink. */
  readonly #steps: readonly Deferred<void>[];

  /** @param from index of the first sink that has not received the event. */
  constructor(from: number, sinks: number, ahead: readonly Passage[]) {
    this.#ahead = ahead;
    this.#from = from;
    this.#steps = Array.from({ length: sinks - from }, () => new Deferred<void>());
    this.over = this.left(sinks - 1);
  }

  /** Resolves when a sink has received all events ahead that it will receive. */
  async turn(at: number): Promise<void> {
    for (const passage of this.#ahead) await passage.left(at);
  }

  /** A sink has received the event. */
  passed(at: number): void {
    this.#steps[at - this.#from]?.resolve();
  }

  /** No further sink receives the event. Later events still wait for those ahead of it. */
  end(): void {
    for (const [step, left] of this.#steps.entries()) left.resolve(this.turn(this.#from + step));
    // Otherwise each event would keep all before it in memory, while one of the run is pending.
    this.#ahead = NONE;
  }

  /** Resolves when later events need not wait at this sink. */
  async left(at: number): Promise<void> {
    await this.#steps[at - this.#from]?.promise;
  }
}

/**
 * The pending events of each run, so that the next one does not overtake them. An agent that awaits each `send` never
 * has any, but a framework's callbacks do not wait.
 *
 * Runs do not wait for each other, except the start of a child, which follows its parent's events.
 */
export class RunOrder {
  /** The event sent last, by run. */
  readonly #last = new Map<string, Passage>();

  /** The events that this one must not overtake, mostly none. */
  ahead(event: AgentEvent): readonly Passage[] {
    if (this.#last.size === 0) return NONE;
    try {
      const runs = [event.run_id, event.type === "started" ? event.parent_run_id : undefined];
      return runs.flatMap((run) =>
        run ? (this.#last.get(tenantKey(event.tenant_id, run)) ?? []) : [],
      );
    } catch {
      // An unreadable event belongs to no run.
      return NONE;
    }
  }

  /** Records an event that has not reached all sinks yet. */
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

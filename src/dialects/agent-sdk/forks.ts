import { compareInstants, type Instant } from "../../events/instant.ts";
import { RecentMap } from "../../lifecycle/recent-map.ts";
import type { LineEnvelope } from "../dialect.ts";
import type { AgentSdkEvent } from "./events.ts";

/** A thread that a server made of another one. */
interface Fork {
  readonly threadId: string;
  readonly source: string;
  readonly at: Readonly<Instant>;
}

/**
 * The last fork of each tenant. A server writes what the source had said up to there into the new
 * thread, after the `thread_created` and all at its time: that happened once, on the source.
 */
export class Forks {
  readonly #last: RecentMap<Fork>;

  /** @param most tenants remembered, at least. */
  constructor(most: number) {
    this.#last = new RecentMap(most);
  }

  /** The new thread, where the line is a copy. A line that tells of a fork is remembered. */
  copiedTo(tenant: string, event: AgentSdkEvent, envelope: LineEnvelope): string | undefined {
    const { thread_id: named, timestamp: at } = envelope;
    const fork = this.#last.get(tenant);
    if (fork !== undefined && compareInstants(fork.at, at) === 0) {
      // The copies that name a thread name the source, unless the envelope says better.
      const { threadId, source } = fork;
      if (named === undefined || named === threadId || named === source) return threadId;
    }
    if (event.type === "thread_created" && event.source_thread_id != null) {
      const threadId = named ?? event.thread_id;
      this.#last.set(tenant, { threadId, source: event.source_thread_id, at });
    }
    return undefined;
  }
}

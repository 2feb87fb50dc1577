import type { Instant } from "../../events/instant.ts";
import { Compactions } from "./compactions.ts";
import type { Turn, TurnRef } from "./turn.ts";

/** The turns of one session, or of one sub-agent of it: one at a time. */
export class Stream {
  /** Unique among the streams of a mapping. */
  readonly key: string;
  readonly tenantId: string;
  /** Session id, and `/` and the id of the spawning call for each level below. */
  readonly name: string;
  /** Session id, where a line named it. */
  readonly session: string | undefined;
  /** Ids of the spawning calls, from the session's own down; empty for the session itself. */
  readonly path: readonly string[];
  /** Events that came, of the stream itself. */
  ordinal = 0;
  turn: Turn | undefined = undefined;
  /** The last turn that is over, and when it ended. */
  last: TurnRef | undefined = undefined;
  lastEnd: Instant | undefined = undefined;
  /** What was compacted since then. */
  readonly compactions = new Compactions();

  constructor(
    key: string,
    tenantId: string,
    name: string,
    session: string | undefined,
    path: readonly string[],
  ) {
    this.key = key;
    this.tenantId = tenantId;
    this.name = name;
    this.session = session;
    this.path = path;
  }
}

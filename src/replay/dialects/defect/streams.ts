import { type Instant, RecentMap, tenantKey } from "../../../events/door.ts";
import type { LineEnvelope } from "../dialect.ts";
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

/**
 * The streams that were heard of last: at least half of `most`, and never more.
 *
 * Two generations, of which the older is forgotten whole: a Map that loses its first entry over and
 * over gets slow. A stream in use moves to the younger one.
 */
export class StreamTable {
  readonly #half: number;
  #recent = new Map<string, Stream>();
  #older = new Map<string, Stream>();
  #forgotten: Stream[] = [];

  /** @param most at least 2. */
  constructor(most: number) {
    this.#half = Math.max(1, most >> 1);
  }

  get size(): number {
    return this.#recent.size + this.#older.size;
  }

  get(key: string): Stream | undefined {
    const recent = this.#recent.get(key);
    if (recent !== undefined) return recent;
    const older = this.#older.get(key);
    if (older === undefined) return undefined;
    this.#older.delete(key);
    this.add(older);
    return older;
  }

  /** Adds a stream whose key is not there. */
  add(stream: Stream): void {
    if (this.#recent.size >= this.#half) {
      for (const forgotten of this.#older.values()) this.#forgotten.push(forgotten);
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(stream.key, stream);
  }

  /** Streams that were forgotten to make room, since this was asked last: mostly none. */
  takeForgotten(): readonly Stream[] {
    if (this.#forgotten.length === 0) return NONE;
    const forgotten = this.#forgotten;
    this.#forgotten = [];
    return forgotten;
  }

  *[Symbol.iterator](): Generator<Stream> {
    yield* this.#older.values();
    yield* this.#recent.values();
  }
}

const NONE: readonly Stream[] = [];

/** Session of a line that names none, where no session was opened before it. */
const DEFAULT_SESSION = "default";

/** The streams of all sessions: each session's own, and one for each sub-agent. */
export class SessionStreams {
  readonly #table: StreamTable;
  /** By tenant, the session that was opened last, for the tenant's lines that name none. */
  readonly #last: RecentMap<string>;
  /** The stream that was asked for last: the next event is mostly its too. */
  #current: Stream | undefined;

  /** @param most how many are remembered, and of how many tenants the last session; at least 2. */
  constructor(most: number) {
    this.#table = new StreamTable(most);
    this.#last = new RecentMap(Math.ceil(most / 2));
  }

  /** The stream of an event. @param path ids of the spawning calls, from the session's own down. */
  of(tenantId: string, envelope: LineEnvelope, path: readonly string[]): Stream {
    return this.#use(tenantId, this.#sessionOf(tenantId, envelope), path);
  }

  /** The same as far as it is known: no stream begins by asking. */
  known(tenantId: string, envelope: LineEnvelope, path: readonly string[]): Stream | undefined {
    const name = this.#sessionOf(tenantId, envelope) ?? DEFAULT_SESSION;
    return this.#table.get(keyOf(tenantId, name, path));
  }

  /** The stream that spawned this one, which has one. */
  above({ path, session, tenantId }: Stream): Stream {
    return this.#use(tenantId, session, path.slice(0, -1));
  }

  /** A turn of the session itself begins: lines without a session that follow are of it. */
  opened({ path, session, tenantId }: Stream): void {
    if (path.length === 0 && session !== undefined) this.#last.set(tenantId, session);
  }

  /** Streams that were forgotten to make room, since this was asked last. */
  takeForgotten(): readonly Stream[] {
    return this.#table.takeForgotten();
  }

  [Symbol.iterator](): Iterator<Stream> {
    return this.#table[Symbol.iterator]();
  }

  #sessionOf(tenantId: string, { session_id, thread_id }: LineEnvelope): string | undefined {
    return session_id ?? thread_id ?? this.#last.get(tenantId);
  }

  #use(tenantId: string, session: string | undefined, path: readonly string[]): Stream {
    const current = this.#current;
    if (current !== undefined && isOf(current, tenantId, session, path)) return current;
    const name = session ?? DEFAULT_SESSION;
    const key = keyOf(tenantId, name, path);
    let stream = this.#table.get(key);
    if (stream === undefined) {
      stream = new Stream(key, tenantId, [name, ...path].join("/"), session, path);
      this.#table.add(stream);
    }
    this.#current = stream;
    return stream;
  }
}

function keyOf(tenantId: string, session: string, path: readonly string[]): string {
  const own = tenantKey(tenantId, session);
  return path.length === 0 ? own : `${own}\0${path.join("\0")}`;
}

function isOf(
  stream: Stream,
  tenantId: string,
  session: string | undefined,
  path: readonly string[],
): boolean {
  if (stream.session !== session || stream.tenantId !== tenantId) return false;
  if (stream.path.length !== path.length) return false;
  for (let level = 0; level < path.length; level++) {
    if (path[level] !== stream.path[level]) return false;
  }
  return true;
}

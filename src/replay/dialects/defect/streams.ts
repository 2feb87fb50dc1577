import { type Instant, RecentMap, tenantKey } from "../../../events/door.ts";
import type { LineEnvelope } from "../dialect.ts";
import { Compactions } from "./compactions.ts";
import type { Turn, TurnRef } from "./turn.ts";

/** The turns of one session or sub-agent, one at a time. */
export class Stream {
  /** Unique in a mapping. */
  readonly key: string;
  readonly tenantId: string;
  /** Session ID, followed by `/` and the spawning call's ID for each level. */
  readonly name: string;
  /** Session ID, if a line named it. */
  readonly session: string | undefined;
  /** IDs of the spawning calls, outermost first. Empty for the session itself. */
  readonly path: readonly string[];
  /** Number of events of the stream. */
  ordinal = 0;
  turn: Turn | undefined = undefined;
  /** The last turn that is over, and its end. */
  last: TurnRef | undefined = undefined;
  lastEnd: Instant | undefined = undefined;
  /** Compactions since that end. */
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
 * The streams that were used last: at most `most`, at least half of that.
 *
 * There are two generations, and the older one is forgotten as a unit: a Map becomes slow if its first entry is removed
 * again and again. A stream in use moves to the younger generation.
 */
export class StreamTable {
  readonly #half: number;
  #recent = new Map<string, Stream>();
  #older = new Map<string, Stream>();
  #forgotten: Stream[] = [];

  /** @param most from 2. */
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

  /** Adds a stream with a new key. */
  add(stream: Stream): void {
    if (this.#recent.size >= this.#half) {
      for (const forgotten of this.#older.values()) this.#forgotten.push(forgotten);
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(stream.key, stream);
  }

  /** Streams that were forgotten since the last call. */
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

/** Session of lines without one, before any session was opened. */
const DEFAULT_SESSION = "default";

/** The streams of all sessions and sub-agents. */
export class SessionStreams {
  readonly #table: StreamTable;
  /** By tenant: the session that was opened last, for lines without a session. */
  readonly #last: RecentMap<string>;
  /** The stream of the last event. The next event usually belongs to it too. */
  #current: Stream | undefined;

  /** @param most maximum number of remembered streams, from 2. The last sessions of as many tenants are remembered. */
  constructor(most: number) {
    this.#table = new StreamTable(most);
    this.#last = new RecentMap(Math.ceil(most / 2));
  }

  /** The stream of an event. @param path IDs of the spawning calls, outermost first. */
  of(tenantId: string, envelope: LineEnvelope, path: readonly string[]): Stream {
    return this.#use(tenantId, this.#sessionOf(tenantId, envelope), path);
  }

  /** Like {@link of}, but creates no stream. */
  known(tenantId: string, envelope: LineEnvelope, path: readonly string[]): Stream | undefined {
    const name = this.#sessionOf(tenantId, envelope) ?? DEFAULT_SESSION;
    return this.#table.get(keyOf(tenantId, name, path));
  }

  /** The parent stream of a sub-agent's stream. */
  above({ path, session, tenantId }: Stream): Stream {
    return this.#use(tenantId, session, path.slice(0, -1));
  }

  /** A turn of the session itself begins. Later lines without a session belong to this session. */
  opened({ path, session, tenantId }: Stream): void {
    if (path.length === 0 && session !== undefined) this.#last.set(tenantId, session);
  }

  /** Streams that were forgotten since the last call. */
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

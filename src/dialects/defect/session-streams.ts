import { tenantKey } from "../../events/agent-event.ts";
import { RecentMap } from "../../lifecycle/recent-map.ts";
import type { LineEnvelope } from "../dialect.ts";
import { Stream } from "./stream.ts";
import { StreamTable } from "./stream-table.ts";

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

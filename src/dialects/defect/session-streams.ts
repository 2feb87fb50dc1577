import type { LineEnvelope } from "../dialect.ts";
import { Stream } from "./stream.ts";
import { StreamTable } from "./stream-table.ts";

/** Session of a line that names none, where no session was opened before it. */
const DEFAULT_SESSION = "default";

/** The streams of all sessions: each session's own, and one for each sub-agent. */
export class SessionStreams {
  readonly #table: StreamTable;
  /** The session that was opened last, for lines that name none. */
  #last: { readonly tenantId: string; readonly session: string } | undefined;
  #forgotten: Stream[] = [];

  /** @param most how many are remembered; at least 2. */
  constructor(most: number) {
    this.#table = new StreamTable(most);
  }

  /** The stream of an event. @param path ids of the spawning calls, from the session's own down. */
  of(tenantId: string, envelope: LineEnvelope, path: readonly string[]): Stream {
    return this.#use(tenantId, this.#sessionOf(tenantId, envelope), path);
  }

  /** The stream that spawned this one, which has one. */
  above({ path, session, tenantId }: Stream): Stream {
    return this.#use(tenantId, session, path.slice(0, -1));
  }

  /** A turn of the session itself begins: lines without a session that follow are of it. */
  opened({ path, session, tenantId }: Stream): void {
    if (path.length === 0 && session !== undefined) this.#last = { tenantId, session };
  }

  /** Streams that were forgotten to make room, since this was asked last. */
  takeForgotten(): readonly Stream[] {
    if (this.#forgotten.length === 0) return NONE;
    const forgotten = this.#forgotten;
    this.#forgotten = [];
    return forgotten;
  }

  [Symbol.iterator](): Iterator<Stream> {
    return this.#table[Symbol.iterator]();
  }

  #sessionOf(tenantId: string, { session_id, thread_id }: LineEnvelope): string | undefined {
    const last = this.#last?.tenantId === tenantId ? this.#last.session : undefined;
    return session_id ?? thread_id ?? last;
  }

  #use(tenantId: string, session: string | undefined, path: readonly string[]): Stream {
    const name = session ?? DEFAULT_SESSION;
    const own = `${tenantId}\0${name}`;
    const key = path.length === 0 ? own : `${own}\0${path.join("\0")}`;
    const { forgotten, stream } = this.#table.use(
      key,
      () => new Stream(key, tenantId, [name, ...path].join("/"), session, path),
    );
    if (forgotten.length > 0) this.#forgotten.push(...forgotten);
    return stream;
  }
}

const NONE: readonly Stream[] = [];

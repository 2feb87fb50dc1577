import { type Instant, isAt, RecentMap, RecentPairs } from "../../../events/door.ts";
import type { LineEnvelope } from "../dialect.ts";
import type { AgentSdkEvent } from "./events.ts";
import type { OpenRun } from "./open-run.ts";
import type { ThreadTotals } from "./run-totals.ts";

/** The stream of lines that name no thread, where no thread was opened before them. */
const DEFAULT_STREAM = "default";

/** Threads of a tenant whose calls are looked for, those opened last. */
const OPENED = 8;

/** Whose a line is. */
interface ThreadState {
  readonly tenantId: string;
  readonly threadId: string;
}

/** One thread of a tenant, as its lines go by. */
export class Thread {
  readonly tenantId: string;
  /** What the ids of its runs are made of. */
  readonly stream: string;
  /** Absent where no line named it. */
  readonly threadId?: string;
  /** Numbers its lines, where they have no ids of their own. */
  ordinals = new Ordinals();
  /** What its runs used so far. */
  totals: ThreadTotals = { tokens: undefined, cost: undefined };
  /** Its run, which may be over. */
  run: OpenRun | undefined;
  /** The run before that one, which is over: its task may have more to say. */
  before: OpenRun | undefined;

  constructor(tenantId: string, threadId: string | undefined) {
    this.tenantId = tenantId;
    this.stream = threadId ?? DEFAULT_STREAM;
    if (threadId !== undefined) this.threadId = threadId;
  }
}

/**
 * The threads that lines belong to. Upstream names the thread in three of its events only: the others
 * go to the thread of their tenant that was opened last, unless the operator put a `thread_id` into
 * the envelope.
 */
export class Threads {
  readonly #tenant: string;
  /** By tenant and thread; no thread has an empty name: that is the one of lines without a thread. */
  readonly #byName: RecentPairs<Thread>;
  readonly #current: RecentMap<Thread>;
  /** By tenant, those opened before the current one, the last of them first. */
  readonly #opened: RecentMap<readonly Thread[]>;
  readonly #forks: Forks;
  #last: Thread | undefined;

  /** @param most threads remembered, at least; and tenants. */
  constructor(tenant: string, most: number) {
    this.#tenant = tenant;
    this.#byName = new RecentPairs(most);
    this.#current = new RecentMap(most);
    this.#opened = new RecentMap(most);
    this.#forks = new Forks(most);
  }

  /** Threads that were forgotten, because others were heard of since. */
  get forgotten(): number {
    return this.#byName.forgotten;
  }

  /** Whose a line is that a fork copied, and so no event; `undefined` where it is one. */
  copy(event: AgentSdkEvent, envelope: LineEnvelope): ThreadState | undefined {
    const tenantId = envelope.tenant_id ?? this.#tenant;
    const threadId = this.#forks.copiedTo(tenantId, event, envelope);
    return threadId === undefined ? undefined : { tenantId, threadId };
  }

  /**
   * The thread of a line.
   *
   * @param opens whether the event opens its thread for the lines that follow.
   * @param goesOn whether the event goes on with a run. Where its thread is new here, the lines before
   *   that named none were of that thread.
   */
  of(envelope: LineEnvelope, opens: boolean, goesOn: boolean): Thread {
    const tenant = envelope.tenant_id ?? this.#tenant;
    const threadId = envelope.thread_id;
    let thread: Thread | undefined;
    if (threadId === undefined) thread = this.#current.get(tenant);
    else if (this.#isLast(tenant, threadId)) thread = this.#last;
    thread ??= this.#find(tenant, threadId) ?? this.#begin(tenant, threadId, goesOn);
    if (thread !== this.#last) {
      // Lines that name no thread are a sign of life of theirs as well.
      if (threadId === undefined) this.#byName.set(tenant, thread.threadId ?? "", thread);
      this.#last = thread;
    }
    if (opens) this.#open(tenant, thread);
    return thread;
  }

  /**
   * Where a line that names no thread comes after the run of the thread that was opened last: the thread
   * whose open run has a call that the event is of, if there is one. Sub-agents that share their caller's
   * event store have threads of their own there, and so has who is served while a call waits for a human.
   * Progress that names an open call is of that call's thread, also while another run goes on.
   *
   * @param thread that {@link of} gives for the line.
   */
  ofCall(thread: Thread, event: AgentSdkEvent, { thread_id }: LineEnvelope): Thread {
    if (thread_id !== undefined) return thread;
    const { run, tenantId } = thread;
    const opened = this.#opened.get(tenantId);
    let caller: Thread | undefined;
    if (event.type === "subagent_progress" && event.subagent_id !== "") {
      const { subagent_id } = event;
      if (run?.hasOpen(subagent_id)) return thread;
      caller = opened?.find((each) => each.run?.hasOpen(subagent_id));
    }
    const isOver = run?.open === false;
    if (isOver) caller ??= opened?.find((each) => each.run?.open && each.run.notedOf(event));
    if (caller === undefined) return thread;
    this.#byName.set(tenantId, caller.threadId ?? "", caller);
    this.#last = caller;
    // The lines that follow are of the run that goes on, if one does.
    if (isOver) this.#open(tenantId, caller);
    return caller;
  }

  #open(tenant: string, thread: Thread): void {
    const before = this.#current.get(tenant);
    if (before === thread) return;
    this.#current.set(tenant, thread);
    if (before === undefined) return;
    const others = (this.#opened.get(tenant) ?? []).filter(
      (other) => other !== thread && other !== before,
    );
    this.#opened.set(tenant, [before, ...others].slice(0, OPENED));
  }

  /** The last run of the thread that a line is of: a thread that is new does not begin with it. */
  runOf({ tenant_id: tenant = this.#tenant, thread_id }: LineEnvelope): OpenRun | undefined {
    const current = thread_id === undefined ? this.#current.get(tenant) : undefined;
    return (current ?? this.#find(tenant, thread_id))?.run;
  }

  /** The runs that are open, each once. */
  *openRuns(): Generator<OpenRun> {
    for (const { run } of this.#byName) if (run?.open) yield run;
  }

  #isLast(tenant: string, threadId: string): boolean {
    return this.#last?.threadId === threadId && this.#last.tenantId === tenant;
  }

  #find(tenant: string, threadId: string | undefined): Thread | undefined {
    return this.#byName.get(tenant, threadId ?? "");
  }

  #begin(tenant: string, threadId: string | undefined, goesOn: boolean): Thread {
    const thread = new Thread(tenant, threadId);
    const before = this.#current.get(tenant) ?? this.#find(tenant, undefined);
    if (goesOn && before?.threadId === undefined && before?.run?.open) {
      thread.run = before.run;
      before.run = undefined;
      // The ids of its sub-agents are made of the old stream and these numbers.
      thread.ordinals = before.ordinals;
      thread.totals = before.totals;
      before.totals = { tokens: undefined, cost: undefined };
      this.#current.set(tenant, thread);
    }
    this.#byName.set(tenant, threadId ?? "", thread);
    return thread;
  }
}

/** Whether lines without a thread belong to the event's thread from here on. */
export function opensThread({ type }: AgentSdkEvent): boolean {
  return type === "start" || type === "user_input" || type === "thread_created";
}

/** Whether an event that names its thread is not the first of a run. */
export function goesOn(event: AgentSdkEvent): boolean {
  if (event.type === "start") return Number(event.turn) > 1;
  return event.type === "done" || event.type === "budget_exceeded";
}

/** The numbers of a stream's lines, from 0. */
export class Ordinals {
  #next = 0;

  next(): number {
    const ordinal = this.#next;
    this.#next += 1;
    return ordinal;
  }
}

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
    if (fork !== undefined && isAt(fork.at, at)) {
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

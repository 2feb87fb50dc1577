import { type Instant, isAt, RecentMap, RecentPairs } from "../../../events/door.ts";
import type { LineEnvelope } from "../dialect.ts";
import type { AgentSdkEvent } from "./events.ts";
import type { OpenRun } from "./open-run.ts";
import type { ThreadTotals } from "./run-totals.ts";

/** Stream of lines that name no thread before any thread was opened. */
const DEFAULT_STREAM = "default";

/** Number of last opened threads of a tenant that are searched for calls. */
const OPENED = 8;

/** Tenant and thread of a line. */
interface ThreadState {
  readonly tenantId: string;
  readonly threadId: string;
}

/** One thread of a tenant. */
export class Thread {
  readonly tenantId: string;
  /** Input of the IDs of its runs. */
  readonly stream: string;
  /** Absent if no line named it. */
  readonly threadId?: string;
  /** Numbers of its lines, for lines without IDs. */
  ordinals = new Ordinals();
  /** Usage of its runs so far. */
  totals: ThreadTotals = { tokens: undefined, cost: undefined };
  /** Its current run, open or over. */
  run: OpenRun | undefined;
  /** The previous run, which is over. Its task may still report. */
  before: OpenRun | undefined;

  constructor(tenantId: string, threadId: string | undefined) {
    this.tenantId = tenantId;
    this.stream = threadId ?? DEFAULT_STREAM;
    if (threadId !== undefined) this.threadId = threadId;
  }
}

/**
 * Finds the thread of each line. Upstream names the thread in three event types only. Other events belong to the thread
 * of their tenant that was opened last, unless the operator added `thread_id` to the envelope.
 */
export class Threads {
  readonly #tenant: string;
  /** By tenant and thread. The empty name is that of lines without a thread. */
  readonly #byName: RecentPairs<Thread>;
  readonly #current: RecentMap<Thread>;
  /** By tenant: threads opened before the current one, the last one first. */
  readonly #opened: RecentMap<readonly Thread[]>;
  readonly #forks: Forks;
  #last: Thread | undefined;

  /** @param most minimum number of remembered threads, and of tenants. */
  constructor(tenant: string, most: number) {
    this.#tenant = tenant;
    this.#byName = new RecentPairs(most);
    this.#current = new RecentMap(most);
    this.#opened = new RecentMap(most);
    this.#forks = new Forks(most);
  }

  /** Threads that were forgotten to make room. */
  get forgotten(): number {
    return this.#byName.forgotten;
  }

  /** Tenant and thread of a line that a fork copied. `undefined` for other lines. */
  copy(event: AgentSdkEvent, envelope: LineEnvelope): ThreadState | undefined {
    const tenantId = envelope.tenant_id ?? this.#tenant;
    const threadId = this.#forks.copiedTo(tenantId, event, envelope);
    return threadId === undefined ? undefined : { tenantId, threadId };
  }

  /**
   * The thread of a line.
   *
   * @param opens whether later lines without a thread belong to the event's thread.
   * @param goesOn whether the event continues a run. If its thread is new, earlier lines without a thread belong to it.
   */
  of(envelope: LineEnvelope, opens: boolean, goesOn: boolean): Thread {
    const tenant = envelope.tenant_id ?? this.#tenant;
    const threadId = envelope.thread_id;
    let thread: Thread | undefined;
    if (threadId === undefined) thread = this.#current.get(tenant);
    else if (this.#isLast(tenant, threadId)) thread = this.#last;
    thread ??= this.#find(tenant, threadId) ?? this.#begin(tenant, threadId, goesOn);
    if (thread !== this.#last) {
      // Lines without a thread keep the entry of their thread recent as well.
      if (threadId === undefined) this.#byName.set(tenant, thread.threadId ?? "", thread);
      this.#last = thread;
    }
    if (opens) this.#open(tenant, thread);
    return thread;
  }

  /**
   * Finds the thread of the call to which a line without a thread belongs. If the run of the last opened thread is
   * over, this is the thread whose open run tracks the event's call. Sub-agents that share their caller's event store
   * open threads there, and so do users who are served while a call waits for a human. Progress that names an open call
   * belongs to that call's thread, even while another run goes on.
   *
   * @param thread the result of {@link of} for the line.
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
    // Later lines belong to the caller's run.
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

  /** The last run of a line's thread. Does not create a thread. */
  runOf({ tenant_id: tenant = this.#tenant, thread_id }: LineEnvelope): OpenRun | undefined {
    const current = thread_id === undefined ? this.#current.get(tenant) : undefined;
    return (current ?? this.#find(tenant, thread_id))?.run;
  }

  /** The open runs, each once. */
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
      // The IDs of its sub-agents use the old stream and these numbers.
      thread.ordinals = before.ordinals;
      thread.totals = before.totals;
      before.totals = { tokens: undefined, cost: undefined };
      this.#current.set(tenant, thread);
    }
    this.#byName.set(tenant, threadId ?? "", thread);
    return thread;
  }
}

/** Whether later lines without a thread belong to the event's thread. */
export function opensThread({ type }: AgentSdkEvent): boolean {
  return type === "start" || type === "user_input" || type === "thread_created";
}

/** Whether an event that names its thread continues a run. */
export function goesOn(event: AgentSdkEvent): boolean {
  if (event.type === "start") return Number(event.turn) > 1;
  return event.type === "done" || event.type === "budget_exceeded";
}

/** Numbers the lines of a stream, from 0. */
export class Ordinals {
  #next = 0;

  next(): number {
    const ordinal = this.#next;
    this.#next += 1;
    return ordinal;
  }
}

/** A thread that a server forked from another. */
interface Fork {
  readonly threadId: string;
  readonly source: string;
  readonly at: Readonly<Instant>;
}

/**
 * The last fork of each tenant. After `thread_created` a server copies the events of the source to the new thread, with
 * the time of the fork. They happened once, on the source.
 */
export class Forks {
  readonly #last: RecentMap<Fork>;

  /** @param most minimum number of remembered tenants. */
  constructor(most: number) {
    this.#last = new RecentMap(most);
  }

  /** The new thread if the line is a copy. Remembers a line that reports a fork. */
  copiedTo(tenant: string, event: AgentSdkEvent, envelope: LineEnvelope): string | undefined {
    const { thread_id: named, timestamp: at } = envelope;
    const fork = this.#last.get(tenant);
    if (fork !== undefined && isAt(fork.at, at)) {
      // Copies with a thread name the source, unless the envelope names the new thread.
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

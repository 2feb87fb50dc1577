import {
  checkEach,
  checkText,
  formatRfc3339,
  type Instant,
  millisecondsBetween,
  type OptionChecks,
  wholeFrom,
} from "../events/door.ts";
import {
  childrenIn,
  delayOf,
  idleMs,
  type OpenChildren,
  type Run,
  type Tree,
  type WaitKind,
  waitOf,
} from "./lifecycle/door.ts";
import { type SpanHandle, spanRefs } from "./spans/span-handle.ts";

/** Which open runs to list. */
export interface OpenRunsOptions {
  /** Maximum number of runs, from 1: the longest idle ones. Default 100. */
  readonly limit?: number | undefined;
  /** Only runs of this tenant. Default: of all tenants. */
  readonly tenantId?: string | undefined;
}

/** What an open run waits for. */
export interface OpenRunWait {
  /**
   * The first that applies: `approval` (a call waits for a decision, or for a child run that has paused),
   * `tool` (a tool call without an open child run), `model`, `child` (an open child run), `nothing`
   * (between calls). `unknown`: the bridge does not follow the run's calls, because it is not sampled and
   * there are no metrics, or the run may have ended and its source has no event for that.
   */
  readonly kind: WaitKind;
  /** The tool, the requested model, or the child's agent. */
  readonly name?: string | undefined;
  /** The time of waiting so far, in ms. */
  readonly sinceMs: number;
}

/** An open run, as it is now. */
export interface OpenRun {
  readonly tenantId: string;
  readonly runId: string;
  readonly parentRunId?: string | undefined;
  readonly rootRunId: string;
  readonly traceId: string;
  /** The span of the run's open segment. */
  readonly spanId: string;
  /** Whether that span is sampled. */
  readonly sampled: boolean;
  /** Absent if the run has no name. */
  readonly agent?: string | undefined;
  readonly threadId?: string | undefined;
  /** When the open segment began, by the clock of the run: RFC 3339. */
  readonly startedAt: string;
  /** The time since then, in ms. */
  readonly ageMs: number;
  /**
   * The time since the run's last event, or the last start or end of its child runs, in ms. If the time of
   * events differs by more than 10 s from their arrival, it counts from the arrival.
   */
  readonly idleMs: number;
  readonly waitsFor: OpenRunWait;
  /** Usage of the ended model calls, as far as it was reported. */
  readonly tokens: {
    readonly input?: number | undefined;
    readonly output?: number | undefined;
  };
  /** Their cost in US dollars, as a decimal. Absent if no cost is known. */
  readonly cost?: string | undefined;
}

const DEFAULT_LIMIT = 100;

/** @throws TypeError, RangeError for an invalid option, which the message names. */
export function checkOpenRunsOptions(options: OpenRunsOptions): OpenRunsOptions {
  return checkEach(options, CHECKS);
}

const CHECKS: OptionChecks<OpenRunsOptions> = { limit: wholeFrom(1), tenantId: checkText };

/**
 * Lists the open runs, the longest idle one first.
 *
 * @param trees the trees with open runs.
 */
export function listOpenRuns(
  trees: Iterable<Tree<SpanHandle>>,
  now: Instant,
  { limit = DEFAULT_LIMIT, tenantId }: OpenRunsOptions,
): OpenRun[] {
  const found: { readonly run: Run<SpanHandle>; readonly idle: number; readonly delay: number }[] =
    [];
  for (const tree of trees) {
    // A tree is of one tenant.
    if (tenantId !== undefined && tree.first?.tenantId !== tenantId) continue;
    const delay = delayOf(tree);
    for (let run = tree.first; run !== undefined; run = run.next) {
      found.push({ run, idle: idleMs(run, now, delay), delay });
    }
  }
  found.sort((one, other) => other.idle - one.idle);
  const children = new Map<Tree<SpanHandle>, OpenChildren<SpanHandle> | undefined>();
  return found.slice(0, limit).map(({ run, idle, delay }) => {
    const known = children.get(run.tree) ?? childrenIn(run.tree);
    children.set(run.tree, known);
    // The wait began before the run's last event, even if the clocks disagree.
    const msSince = (at: Instant) => Math.max(millisecondsBetween(at, now) - delay, idle);
    return describe(run, known, idle, msSince);
  });
}

/** The longest idle of the open runs of several bridges. */
export function firstOpenRuns(runs: OpenRun[], limit: number = DEFAULT_LIMIT): OpenRun[] {
  return runs.sort((one, other) => other.idleMs - one.idleMs).slice(0, limit);
}

function describe(
  run: Run<SpanHandle>,
  children: OpenChildren<SpanHandle> | undefined,
  idle: number,
  msSince: (at: Instant) => number,
): OpenRun {
  const { trace_id, span_id } = spanRefs(run);
  const { kind, name, since } = waitOf(run, children);
  return {
    tenantId: run.tenantId,
    runId: run.runId,
    parentRunId: run.parentRunId,
    rootRunId: run.lateRootRunId ?? run.rootRunId,
    traceId: trace_id,
    spanId: span_id ?? run.spanId,
    sampled: run.handle?.recording === true,
    agent: run.agent,
    threadId: run.threadId,
    startedAt: formatRfc3339(run.startedAt),
    ageMs: msSince(run.startedAt),
    idleMs: idle,
    waitsFor: { kind, name, sinceMs: msSince(since) },
    tokens: { input: run.used?.inputTokens, output: run.used?.outputTokens },
    cost: run.used?.cost,
  };
}

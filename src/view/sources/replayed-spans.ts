import type { SessionLog } from "../../audit/door.ts";
import {
  type FinishedSpan,
  SpanOutlet,
  type SpanStarted,
  type StartedSpan,
  serviceResource,
} from "../../bridge/door.ts";
import { messageOf, oncePerOperation, ReplayJob } from "../../cli/door.ts";
import type { AnyRuntime, OrderedLine, RecordedEvent } from "../../replay/door.ts";
import type { ViewSpan } from "../format.ts";
import type { RunStore } from "../runs/run-store.ts";
import type { SourcesOptions } from "../runs/viewed-runs.ts";
import type { RecordedLines } from "./recorded-lines.ts";
import type { SourceState } from "./source-state.ts";
import { viewSpanOf } from "./view-span.ts";
import { shownSpan } from "./without-content.ts";

interface ReplayedOptions extends SourcesOptions {
  readonly store: RunStore;
  /** Number of the source in the store. */
  readonly source: number;
  readonly runtimes: readonly [AnyRuntime, ...AnyRuntime[]];
  readonly tenantName: string;
  readonly audit?: SessionLog | undefined;
  /** The source of a file name in a problem. */
  readonly stateOf: (name: string) => SourceState | undefined;
  /**
   * Whether it is an audit log. A log has no duplicates, so few event IDs are remembered. Line numbers would be those
   * of the replayed rows, so problems have none.
   */
  readonly isLog: boolean;
}

const LOG_LIMITS = { eventIds: 1_000 };

/**
 * The replay of `replay`, with its spans sent to the store. If sources are followed, the store gets open spans as well.
 *
 * @param lines get the lines as they are played, and the traces whose spans begin in them.
 */
export function replayToStore(options: ReplayedOptions, lines?: RecordedLines): ReplayJob {
  const { content, follow, source, store } = options;
  const onStart: SpanStarted = (read, { spanId, traceId }) => {
    lines?.begins(store.index.traces.get(traceId));
    store.start(source, { traceId, spanId, read: () => shown(read(), content) });
  };
  const outlet = new SpanOutlet(
    [],
    (span) => store.add(source, shown(span, content)),
    follow ? onStart : undefined,
  );
  const onLine = lines === undefined ? undefined : lines.add.bind(lines);
  return replayJob(options, outlet, onLine);
}

/** A replay whose spans go to a function, when they end. */
export function replayTo(
  options: Omit<ReplayedOptions, "source" | "stateOf" | "store">,
  onSpan: (span: ViewSpan) => void,
  onStart?: (traceId: string) => void,
): ReplayJob {
  const outlet = new SpanOutlet(
    [],
    (span) => onSpan(shown(span, options.content)),
    onStart && ((_, { traceId }) => onStart(traceId)),
  );
  return replayJob({ ...options, stateOf: () => undefined }, outlet);
}

function shown(span: StartedSpan | FinishedSpan, content: boolean): ViewSpan {
  return shownSpan(viewSpanOf(span), content);
}

function replayJob(
  options: Omit<ReplayedOptions, "source" | "store">,
  outlet: SpanOutlet,
  onLine?: (line: OrderedLine<RecordedEvent>) => void,
): ReplayJob {
  const { audit, content, isLog, runtimes, stateOf: state, tenantName } = options;
  return new ReplayJob({
    service: serviceResource("entelix-otel"),
    outlet,
    audit,
    rows: undefined,
    onSpans: { captureContent: content, approvalPerson: content, exceptions: true, steps: true },
    limits: isLog ? LOG_LIMITS : undefined,
    runtimes,
    tenant: tenantName,
    onIssue: ({ expected, field, file, line }) => {
      state(file)?.problem(file, `${field}: expected ${expected}`, isLog ? undefined : line);
    },
    onRejected: undefined,
    onEvent: () => {},
    onLine,
    onError: oncePerOperation((error, place) => state("")?.problem(place, messageOf(error))),
  });
}

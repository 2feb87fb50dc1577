import type { SessionLog } from "../../audit/door.ts";
import {
  type FinishedSpan,
  SpanOutlet,
  type StartedSpan,
  serviceResource,
} from "../../bridge/door.ts";
import { messageOf, oncePerOperation, ReplayJob } from "../../cli/door.ts";
import type { AnyRuntime } from "../../replay/door.ts";
import type { ViewSpan } from "../format.ts";
import type { RunStore } from "../runs/run-store.ts";
import type { SourcesOptions } from "../runs/viewed-runs.ts";
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
 */
export function replayToStore(options: ReplayedOptions): ReplayJob {
  const { audit, content, follow, isLog, runtimes, source, stateOf, store, tenantName } = options;
  const shown = (span: StartedSpan | FinishedSpan): ViewSpan =>
    shownSpan(viewSpanOf(span), content);
  const outlet = new SpanOutlet(
    [],
    (span) => store.add(source, shown(span)),
    follow ? (read) => store.start(source, () => shown(read())) : undefined,
  );
  const state = (name: string) => stateOf(name);
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
    onError: oncePerOperation((error, place) => state("")?.problem(place, messageOf(error))),
  });
}

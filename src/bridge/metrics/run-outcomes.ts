import {
  FAILURE_KIND_IDS,
  FAILURE_ORIGINS,
  type FailureOrigin,
  type RunEnd,
  TOOL_ERROR_KINDS,
} from "../../events/door.ts";
import { UNCLASSED } from "./metric-names.ts";

/** How a run can end, as its metric has it. */
export interface RunOutcome {
  readonly outcome: RunEnd["outcome"];
  /** Only where it failed. */
  readonly failureKind: string | undefined;
  readonly origin: FailureOrigin | undefined;
}

/** Those that start at 0, so that the first of them is an increase to Prometheus. */
export const WATCHED_OUTCOMES: readonly RunOutcome[] = [
  endedAs("complete"),
  endedAs("interrupted"),
  endedAs("abandoned"),
  ...FAILURE_KIND_IDS.map((kind) => failedAs(kind, usualOrigin(kind))),
  // What a model call throws may be a fault of the program too.
  failedAs("internal", "model"),
];

/** All of them. A newer agent may fail in a way that is not known here. */
export const OUTCOMES: readonly RunOutcome[] = [
  ...WATCHED_OUTCOMES,
  endedAs("refused"),
  ...[...FAILURE_KIND_IDS, UNCLASSED].flatMap((kind) =>
    FAILURE_ORIGINS.map((origin) => failedAs(kind, origin)).filter(isUnwatched),
  ),
];

const FAILED_POSITIONS = new Map(OUTCOMES.map((how, at) => [failureKey(how), at]));
const UNFAILED_POSITIONS = new Map(OUTCOMES.map(({ outcome }, at) => [outcome, at]));

/** Where the end of a run stands among {@link OUTCOMES}. */
export function positionOf(end: RunEnd): number {
  if (end.outcome !== "failed") return UNFAILED_POSITIONS.get(end.outcome) ?? 0;
  const failureKind = failureKindOf(end.kind);
  return FAILED_POSITIONS.get(failureKey({ failureKind, origin: originOf(end) })) ?? 0;
}

/** Where a run's failure arose, as its sender says, else as is usual for its kind. */
export function originOf({
  envelope,
  kind,
}: RunEnd & { readonly outcome: "failed" }): FailureOrigin {
  const said = envelope?.origin;
  return FAILURE_ORIGINS.find((known) => known === said) ?? usualOrigin(failureKindOf(kind));
}

/** Where a failure of this kind arose whose sender does not say it. */
function usualOrigin(failureKind: string): FailureOrigin {
  switch (failureKind) {
    case "tool_error_terminal":
      return "tool";
    case "model_dispatch":
      return "model";
    default:
      return "run";
  }
}

function failureKey({ failureKind, origin }: Omit<RunOutcome, "outcome">): string {
  return `${failureKind} ${origin}`;
}

function isUnwatched(how: RunOutcome): boolean {
  const key = failureKey(how);
  return !WATCHED_OUTCOMES.some((watched) => failureKey(watched) === key);
}

/** The wire id of a failure kind; `_OTHER` for what is not known here. */
export function failureKindOf(kind: { readonly type: string } | null | undefined): string {
  const type = kind?.type;
  return FAILURE_KIND_IDS.find((known) => known === type) ?? UNCLASSED;
}

/** A tool error kind; `_OTHER` for what is not known here. */
export function toolErrorKindOf(kind: unknown): string {
  return TOOL_ERROR_KINDS.find((known) => known === kind) ?? UNCLASSED;
}

function endedAs(outcome: RunEnd["outcome"]): RunOutcome {
  return { outcome, failureKind: undefined, origin: undefined };
}

function failedAs(failureKind: string, origin: FailureOrigin): RunOutcome {
  return { outcome: "failed", failureKind, origin };
}

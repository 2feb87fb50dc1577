import { processWide } from "../process-wide.ts";
import type { AgentError } from "./agent-error.ts";
import { listProperty, property, suppressedIn } from "./thrown.ts";

/**
 * The origin of a failure: a model call, a tool call, or the run's own code. The value of `entelix.failure.origin`.
 */
export type FailureOrigin = "model" | "tool" | "run";

/** Every {@link FailureOrigin}. */
export const FAILURE_ORIGINS = ["model", "tool", "run"] as const satisfies readonly FailureOrigin[];

/** The origin of an error, with the tool's name if it was a tool. */
export type FailureSource =
  | { readonly origin: "model" | "run" }
  | {
      readonly origin: "tool";
      readonly tool?: string | undefined;
      /**
       * The schema of the tool's input: a JSON Schema, or a schema of a library that implements Standard JSON Schema.
       * The text for the model may then contain its names and numbers. Default: unknown.
       */
      readonly schema?: object | undefined;
    };

export const FROM_MODEL: FailureSource = { origin: "model" };
export const FROM_RUN: FailureSource = { origin: "run" };

/** The schema of the tool's input, if the error is from a tool and the schema is known. */
export function schemaIn(source: FailureSource | undefined): object | undefined {
  return source?.origin === "tool" ? source.schema : undefined;
}

/** Bounds for following causes, which may be cyclic or, with a Proxy, endless. */
const MAX_DEPTH = 16;
const MAX_VISITED = 64;

/** Most further records of an error that many runs throw, such as that of a shared connection. */
const MAX_RECORDS = 16;

/** The tree of runs in which an error left a call, and the earliest moment. */
export interface SourceScope {
  readonly rootRunId: string;
  /** From {@link sourceMoment}. If the error left a call before it, the same object was thrown again. */
  readonly since: number;
}

interface SourceRecord {
  readonly rootRunId: string;
  readonly at: number;
  readonly source: FailureSource;
  readonly cut: AgentError | undefined;
}

/** A thrown value that is not an object. */
interface ValueRecord extends SourceRecord {
  readonly value: unknown;
}

interface State {
  /** The last value that left a call and was not an object. */
  last?: ValueRecord | undefined;
  readonly records: WeakMap<object, SourceRecord[]>;
  /** Counts the starts of runs and calls, and the records. */
  moment: number;
}

const state = processWide(
  "failure-sources.v1",
  isState,
  (): State => ({ records: new WeakMap(), moment: 0 }),
);

function isState(value: unknown): value is State {
  return (
    property(value, "records") instanceof WeakMap && typeof property(value, "moment") === "number"
  );
}

/** The moment of the start of a run or call, for its {@link SourceScope}. */
export function sourceMoment(): number {
  state.moment += 1;
  return state.moment;
}

/**
 * Records that an error left a call, unless it, or an error inside it, left an inner call since then. A value that is
 * not an object is recognized only until the next call or run starts or another error is recorded, because an equal
 * value may come from anywhere.
 *
 * @param cut why the call was cut off. Default: it failed, or the error left an inner call that was cut off.
 * @returns the innermost call that the error left.
 */
export function recordSource(
  thrown: unknown,
  source: FailureSource,
  scope: SourceScope,
  cut = cutOf(thrown, scope),
): FailureSource {
  const innermost = sourceOf(thrown, scope) ?? source;
  const record = { rootRunId: scope.rootRunId, at: sourceMoment(), source: innermost, cut };
  if (isObject(thrown)) {
    const records = state.records.get(thrown) ?? [];
    records.unshift(record);
    state.records.set(thrown, records.slice(0, MAX_RECORDS));
  } else state.last = { ...record, value: thrown };
  return innermost;
}

/** The innermost call of these runs that an error, or an error inside it, left. Never throws. */
export function sourceOf(thrown: unknown, scope: SourceScope): FailureSource | undefined {
  if (!isObject(thrown)) return recordOf(thrown, scope)?.source;
  for (const error of errorsIn(thrown)) {
    const record = recordOf(error, scope);
    if (record !== undefined) return record.source;
  }
  return undefined;
}

/** Why the innermost call of these runs that threw exactly this value was cut off. `undefined`: it was not. */
export function cutOf(thrown: unknown, scope: SourceScope): AgentError | undefined {
  return recordOf(thrown, scope)?.cut;
}

function recordOf(thrown: unknown, scope: SourceScope): SourceRecord | undefined {
  if (!isObject(thrown)) return recordOfValue(thrown, scope);
  return state.records
    .get(thrown)
    ?.find(({ rootRunId, at }) => rootRunId === scope.rootRunId && at >= scope.since);
}

function recordOfValue(
  thrown: unknown,
  { rootRunId, since }: SourceScope,
): SourceRecord | undefined {
  const { last, moment } = state;
  if (last === undefined || !Object.is(last.value, thrown)) return undefined;
  const isThis = last.rootRunId === rootRunId && last.at >= since && last.at === moment;
  return isThis ? last : undefined;
}

/**
 * An error and the errors inside it, outermost first: its `cause`, the `errors` of an AggregateError, the last error
 * of the AI SDK, and the tool's error inside LangChain's.
 */
export function errorsIn(thrown: unknown): ReadonlySet<object> {
  const reached = new Set<object>();
  let level: readonly unknown[] = [thrown];
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth += 1) {
    const inside: unknown[] = [];
    for (const error of level) {
      if (!isObject(error) || reached.has(error)) continue;
      if (reached.size === MAX_VISITED) return reached;
      reached.add(error);
      inside.push(
        property(error, "cause"),
        property(error, "lastError"),
        property(error, "toolError"),
        suppressedIn(error),
        ...listProperty(error, "errors", MAX_DEPTH),
      );
    }
    level = inside;
  }
  return reached;
}

function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

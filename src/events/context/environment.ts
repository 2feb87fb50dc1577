import { checkRunContext, isAbsent, WRONG } from "./check-run-context.ts";
import {
  type CarrierOptions,
  decodeText,
  encodeText,
  RUN_CONTEXT_FIELDS,
  type RunContext,
  type RunContextField,
  reporterOf,
} from "./run-context.ts";

/** The variable of each field. OpenTelemetry's specification defines the first two names. */
const VARIABLES = {
  traceparent: "TRACEPARENT",
  tracestate: "TRACESTATE",
  root_run_id: "ENTELIX_ROOT_RUN_ID",
  parent_run_id: "ENTELIX_PARENT_RUN_ID",
  parent_tool_use_id: "ENTELIX_PARENT_TOOL_USE_ID",
  thread_id: "ENTELIX_THREAD_ID",
} as const satisfies Record<RunContextField, string>;

const nameOf = (field: RunContextField) => VARIABLES[field];

/** Most characters of an encoded ID: three for each of its bytes. */
const MOST_ENCODED = 3 * 512;

/** The variables that carry context. `undefined` removes a variable. */
type RunContextEnvironment = {
  readonly [K in (typeof VARIABLES)[RunContextField]]: string | undefined;
};

/**
 * The run context as variables for a child process. IDs are percent-encoded as in headers.
 *
 * The result has every variable. Absent fields are `undefined`, so that a child does not inherit the variables of
 * this process: Node's `spawn` leaves them out. It never throws.
 *
 * @param carried `undefined` removes all variables.
 *
 * @example
 * const env = { ...process.env, ...writeEnvironment(run) };
 */
export function writeEnvironment(
  carried: RunContext | undefined,
  options?: CarrierOptions,
): RunContextEnvironment {
  const checked = checkRunContext(carried ?? {}, nameOf, reporterOf(options));
  const id = (field: RunContextField) => {
    const value = checked?.[field];
    return value === undefined ? undefined : encodeText(value);
  };
  return {
    TRACEPARENT: checked?.traceparent,
    TRACESTATE: checked?.tracestate,
    ENTELIX_ROOT_RUN_ID: id("root_run_id"),
    ENTELIX_PARENT_RUN_ID: id("parent_run_id"),
    ENTELIX_PARENT_TOOL_USE_ID: id("parent_tool_use_id"),
    ENTELIX_THREAD_ID: id("thread_id"),
  };
}

/**
 * Reads the run context that the parent process passed to this one.
 *
 * @param env usually `process.env`.
 * @returns `undefined` without a valid parent run. It never throws, and reports ignored fields to `onIgnored`.
 *
 * @example
 * const carried = readEnvironment(process.env);
 */
export function readEnvironment(env: unknown, options?: CarrierOptions): RunContext | undefined {
  const report = reporterOf(options);
  const given: { [K in RunContextField]?: unknown } = {};
  try {
    if (typeof env !== "object" || env === null) throw new TypeError("no environment");
    for (const field of RUN_CONTEXT_FIELDS) given[field] = Reflect.get(env, VARIABLES[field]);
  } catch {
    report("environment", "unreadable");
    return undefined;
  }
  for (const field of RUN_CONTEXT_FIELDS) {
    if (field === "traceparent" || field === "tracestate") continue;
    const value = given[field];
    if (isAbsent(value) || typeof value !== "string") continue;
    if (value.length > MOST_ENCODED) {
      report(VARIABLES[field], "too_long");
      given[field] = WRONG;
      continue;
    }
    const text = decodeText(value);
    if (text === undefined) report(VARIABLES[field], "malformed");
    given[field] = text ?? WRONG;
  }
  return checkRunContext(given, nameOf, report);
}

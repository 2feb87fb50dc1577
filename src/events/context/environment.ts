import { checkRunContext, isAbsent, WRONG } from "./check-run-context.ts";
import { decodeText, encodeText } from "./percent-text.ts";
import {
  type CarrierOptions,
  RUN_CONTEXT_FIELDS,
  type RunContext,
  type RunContextField,
  tellerOf,
} from "./run-context.ts";

/** The variable of each field: the first two as OpenTelemetry's specification names them. */
const VARIABLES = {
  traceparent: "TRACEPARENT",
  tracestate: "TRACESTATE",
  root_run_id: "ENTELIX_ROOT_RUN_ID",
  parent_run_id: "ENTELIX_PARENT_RUN_ID",
  parent_tool_use_id: "ENTELIX_PARENT_TOOL_USE_ID",
  thread_id: "ENTELIX_THREAD_ID",
} as const satisfies Record<RunContextField, string>;

const nameOf = (field: RunContextField) => VARIABLES[field];

/** Characters that an id may take, encoded: three for each of its bytes. */
const MOST_ENCODED = 3 * 512;

/** The variables that carry context; `undefined` for one that must not be there. */
type RunContextEnvironment = {
  readonly [K in (typeof VARIABLES)[RunContextField]]: string | undefined;
};

/**
 * What is carried, as variables for a child process. Ids are percent-encoded as in headers.
 *
 * Every variable is named, with `undefined` for those that say nothing, so that a child does not get what
 * this process has from its own parent: Node's `spawn` leaves those out. It never throws.
 *
 * @param carried for `undefined` no variable is left.
 *
 * @example
 * const env = { ...process.env, ...writeEnvironment(run) };
 */
export function writeEnvironment(
  carried: RunContext | undefined,
  options?: CarrierOptions,
): RunContextEnvironment {
  const checked = checkRunContext(carried ?? {}, nameOf, tellerOf(options));
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
 * What this process was told by the one that started it.
 *
 * @param env `process.env`, as a rule.
 * @returns `undefined` where no parent run is named, or not so that it can be used. It never throws;
 *   what is ignored is told to `onIgnored`.
 *
 * @example
 * const carried = readEnvironment(process.env);
 */
export function readEnvironment(env: unknown, options?: CarrierOptions): RunContext | undefined {
  const tell = tellerOf(options);
  const given: { [K in RunContextField]?: unknown } = {};
  try {
    if (typeof env !== "object" || env === null) throw new TypeError("no environment");
    for (const field of RUN_CONTEXT_FIELDS) given[field] = Reflect.get(env, VARIABLES[field]);
  } catch {
    tell("environment", "unreadable");
    return undefined;
  }
  for (const field of RUN_CONTEXT_FIELDS) {
    if (field === "traceparent" || field === "tracestate") continue;
    const value = given[field];
    if (isAbsent(value) || typeof value !== "string") continue;
    if (value.length > MOST_ENCODED) {
      tell(VARIABLES[field], "too_long");
      given[field] = WRONG;
      continue;
    }
    const text = decodeText(value);
    if (text === undefined) tell(VARIABLES[field], "malformed");
    given[field] = text ?? WRONG;
  }
  return checkRunContext(given, nameOf, tell);
}

import { CARRIED_FIELDS, type CarriedContext, type CarriedField } from "./carried-context.ts";
import { checkCarried, isAbsent, WRONG } from "./check-carried.ts";
import { type CarryOptions, tellerOf } from "./ignored-field.ts";
import { decodeText, encodeText } from "./percent-text.ts";

/** The variable of each field: the first two as OpenTelemetry's specification names them. */
const VARIABLES = {
  traceparent: "TRACEPARENT",
  tracestate: "TRACESTATE",
  root_run_id: "ENTELIX_ROOT_RUN_ID",
  parent_run_id: "ENTELIX_PARENT_RUN_ID",
  parent_tool_use_id: "ENTELIX_PARENT_TOOL_USE_ID",
  thread_id: "ENTELIX_THREAD_ID",
} as const satisfies Record<CarriedField, string>;

const nameOf = (field: CarriedField) => VARIABLES[field];

/** Characters that an id may take, encoded: three for each of its bytes. */
const MOST_ENCODED = 3 * 512;

/** The variables that carry context; `undefined` for one that must not be there. */
export type CarriedEnvironment = {
  readonly [K in (typeof VARIABLES)[CarriedField]]: string | undefined;
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
 * spawn("expert", { env: { ...process.env, ...toEnvironment(carryCurrent()) } });
 */
export function toEnvironment(
  carried: CarriedContext | undefined,
  options?: CarryOptions,
): CarriedEnvironment {
  const checked = checkCarried(carried ?? {}, nameOf, tellerOf(options));
  const id = (field: CarriedField) => {
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
 * const carried = fromEnvironment(process.env);
 */
export function fromEnvironment(
  env: { readonly [name: string]: string | undefined },
  options?: CarryOptions,
): CarriedContext | undefined {
  const tell = tellerOf(options);
  const given: { [K in CarriedField]?: unknown } = {};
  try {
    for (const field of CARRIED_FIELDS) given[field] = env[VARIABLES[field]];
  } catch {
    tell("environment", "unreadable");
    return undefined;
  }
  for (const field of CARRIED_FIELDS) {
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
  return checkCarried(given, nameOf, tell);
}

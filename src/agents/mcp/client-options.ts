import {
  checkFunction,
  checkHas,
  checkOneOf,
  checkOptionsObject,
  checkText,
  type InnerSink,
  type IsFailure,
} from "../../events/door.ts";
import { checkTenant } from "../core/common-options.ts";
import type { RunSubject } from "../runtime/run-subject.ts";
import type { Propagate } from "./meta.ts";

/** A call outside any run, as the options' functions get it. */
export interface LoneCall {
  /** Name of the tool. */
  readonly tool: string;
  /** Content. */
  readonly arguments: unknown;
}

/** How the calls of a client are reported. Every option may be left out. */
export interface McpClientOptions {
  /**
   * Where runs of calls outside any run go: a `Bridge`, or any other sink. Calls inside a run go to the
   * sink of that run. Default: none, so calls outside any run are not reported.
   */
  readonly sink?: InnerSink | undefined;
  /**
   * The tenant of calls outside any run: a text, or a function that is called once for each. If it
   * throws or returns anything but a non-empty text, the call is not reported (`refused`). Calls
   * inside a run have the run's. Default: none.
   */
  readonly tenant?: string | ((call: LoneCall) => string) | undefined;
  /**
   * What to do with a call outside any run. `run` makes a run around it, `skip` sends nothing. Default:
   * `run` if `sink` and `tenant` are given, else `skip`.
   */
  readonly loneCalls?: "run" | "skip" | undefined;
  /** Name of the agent of such runs. Default: the tool's name. */
  readonly agent?: string | undefined;
  /**
   * Whose run a call outside any run is: personal data. If it throws, or returns an invalid subject,
   * `onError` is called, and nothing is sent of it. Default: nothing.
   */
  readonly context?: ((call: LoneCall) => RunSubject | undefined) | undefined;
  /**
   * Which results are failures. Default: those with `isError: true`. The call is then a `tool_error`
   * with the wire code `tool_result_error`, and the run continues.
   */
  readonly isFailure?: IsFailure | undefined;
  /**
   * What requests inside a run carry in `_meta`. `run`: `traceparent`, `tracestate`, and the IDs of run,
   * call and thread. `trace`: the first two. `none`: nothing. Default `run`.
   */
  readonly propagate?: Propagate | undefined;
  /** Called with errors of a sink, of these functions and of this package. Default: none. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** @throws TypeError when an option is of another type. */
export function checkClientOptions(options: McpClientOptions): void {
  checkOptionsObject(options);
  const { tenant } = options;
  checkHas(options.sink, "sink", "send");
  if (tenant !== undefined) checkTenant(tenant);
  checkOneOf(options.loneCalls, "loneCalls", ["run", "skip"]);
  if (options.loneCalls === "run" && (options.sink === undefined || tenant === undefined)) {
    throw new TypeError('loneCalls: "run" needs the options sink and tenant');
  }
  checkText(options.agent, "agent");
  checkFunction(options.context, "context");
  checkFunction(options.isFailure, "isFailure");
  checkOneOf(options.propagate, "propagate", ["run", "trace", "none"]);
  checkFunction(options.onError, "onError");
}

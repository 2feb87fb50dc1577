import {
  checkFunction,
  checkHas,
  checkOneOf,
  checkOptionsObject,
  checkText,
  type InnerSink,
  type IsFailure,
} from "../../events/door.ts";
import { checkTenant } from "../core/door.ts";
import type { RunSubject } from "../runtime/door.ts";
import type { Propagate } from "./meta.ts";

/** A call outside any run, as the hooks of {@link McpClientOptions} get it. */
export interface LoneCall {
  /** Name of the tool. */
  readonly tool: string;
  /** Content. */
  readonly arguments: unknown;
}

/** Options of `mcpClient`. All are optional. */
export interface McpClientOptions {
  /**
   * Receives the runs of calls outside any run: a `Bridge`, or any other sink. Calls inside a run use the sink of
   * that run. Default: calls outside any run are not reported.
   */
  readonly sink?: InnerSink | undefined;
  /**
   * The tenant of calls outside any run: a text, or a function that is called once for each call. If it throws or
   * returns anything but a non-empty text, the call is not reported (`refused`). Calls inside a run have the tenant
   * of that run. Default: none.
   */
  readonly tenant?: string | ((call: LoneCall) => string) | undefined;
  /**
   * Handling of calls outside any run. `run`: the call gets a run of its own. `skip`: nothing is sent. Default: `run`
   * if `sink` and `tenant` are set, else `skip`.
   */
  readonly loneCalls?: "run" | "skip" | undefined;
  /** Name of the agent of runs for calls outside any run. Default: the tool's name. */
  readonly agent?: string | undefined;
  /**
   * The subject of the run for a call outside any run: personal data. If it throws or returns an invalid subject,
   * `onError` is called and no subject is sent. Default: none.
   */
  readonly context?: ((call: LoneCall) => RunSubject | undefined) | undefined;
  /**
   * Decides which results are failures. A failure is sent as `tool_error` with the wire code `tool_result_error`, and
   * the run continues. Default: results with `isError: true`.
   */
  readonly isFailure?: IsFailure | undefined;
  /**
   * Context that requests inside a run carry in `_meta`. `run`: `traceparent`, `tracestate`, and the IDs of run, call
   * and thread. `trace`: `traceparent` and `tracestate`. `none`: nothing. Default `run`.
   */
  readonly propagate?: Propagate | undefined;
  /** Called with errors of a sink, of these functions and of this package. Default: not called. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** @throws TypeError when an option has the wrong type. */
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

import {
  among,
  checkEach,
  checkText,
  having,
  type InnerSink,
  type OptionChecks,
} from "../../events/door.ts";
import { ADAPTER_CHECKS, type AdapterOptions } from "../core/door.ts";
import type { Propagate } from "./meta.ts";

/** A call outside any run, as the hooks of {@link McpClientOptions} get it. */
export interface LoneCall {
  /** Name of the tool. */
  readonly tool: string;
  /** Content. */
  readonly arguments: unknown;
}

/** Options of `mcpClient`. All are optional. */
export interface McpClientOptions
  extends Pick<AdapterOptions<LoneCall>, "context" | "isFailure" | "onError"> {
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
   * Context that requests inside a run carry in `_meta`. `run`: `traceparent`, `tracestate`, and the IDs of run, call
   * and thread. `trace`: `traceparent` and `tracestate`. `none`: nothing. Default `run`.
   */
  readonly propagate?: Propagate | undefined;
}

/** @throws TypeError when an option is invalid. */
export function checkClientOptions(given: McpClientOptions): McpClientOptions {
  const options = checkEach(given, CHECKS);
  const { loneCalls, sink, tenant } = options;
  if (loneCalls === "run" && (sink === undefined || tenant === undefined)) {
    throw new TypeError('loneCalls: "run" needs the options sink and tenant');
  }
  return options;
}

const { context, isFailure, onError, tenant } = ADAPTER_CHECKS;
const CHECKS: OptionChecks<McpClientOptions> = {
  context,
  isFailure,
  onError,
  sink: having("send"),
  tenant(given) {
    if (given !== undefined) tenant(given);
  },
  loneCalls: among("run", "skip"),
  agent: checkText,
  propagate: among("run", "trace", "none"),
};

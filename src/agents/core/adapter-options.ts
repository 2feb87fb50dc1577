import {
  checkFunction,
  having,
  type InnerSink,
  type IsFailure,
  type OptionChecks,
} from "../../events/door.ts";
import type { Price, RunSubject } from "../runtime/door.ts";
import type { DecidedBy } from "./hooks.ts";

/**
 * Options of every adapter. The functions must be synchronous. Their errors and wrong answers go to `onError`.
 *
 * @typeParam C what the framework knows about a run when it starts.
 */
export interface AdapterOptions<C> {
  /** Where the events go: a `Bridge`, or any other sink. */
  readonly sink: InnerSink;
  /**
   * The tenant of the runs. A function is called once for each outermost run. If it throws or returns anything but a
   * non-empty text, no event of that run is sent (`counts.refused`). A run inside another run has the same tenant.
   */
  readonly tenant: string | ((of: C) => string);
  /**
   * The subject of a run: personal data, so only the result of this function is sent. Called once for each outermost
   * run. If it throws or returns an invalid subject, `onError` is called. Default: the subject of the surrounding
   * run, else of the paused run or session that it resumes.
   *
   * @example
   * context: ({ metadata }) => ({ user: String(metadata.user) })
   */
  readonly context?: ((of: C) => RunSubject | undefined) | undefined;
  /**
   * Decides which tool results are failures. A failure is sent as `tool_error` with the wire code
   * `tool_result_error`, and the run continues. Default: results of MCP tools with `isError: true`, and a
   * `ToolMessage` of LangChain with `status: "error"`.
   */
  readonly isFailure?: IsFailure | undefined;
  /** Returns the price of a model call that reported its usage, in US dollars. Default: the cost is not known. */
  readonly price?: Price | undefined;
  /**
   * Names the person who decided about a tool call that waited. It gets the metadata of the run that was resumed.
   * Default: no person is named.
   */
  readonly decidedBy?: DecidedBy | undefined;
  /**
   * Called with errors of the sink, of the adapter and of these functions. Default: a process warning, once for each
   * text.
   */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** For the table of each adapter. */
export const ADAPTER_CHECKS = {
  sink: having("send", true),
  tenant: checkTenant,
  context: checkFunction,
  isFailure: checkFunction,
  price: checkFunction,
  decidedBy: checkFunction,
  onError: checkFunction,
} satisfies OptionChecks<AdapterOptions<never>>;

/** @throws TypeError unless it is a non-empty text or a function. */
function checkTenant(tenant: unknown): void {
  if (typeof tenant === "function") return;
  if (typeof tenant === "string" && tenant !== "") return;
  throw new TypeError("tenant: expected a text that is not empty, or a function that gives it");
}

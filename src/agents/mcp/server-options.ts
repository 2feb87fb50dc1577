import {
  checkFunction,
  checkText,
  checkWhole,
  type InnerSink,
  type IsFailure,
} from "../../events/door.ts";
import { checkCommonOptions } from "../core/common-options.ts";
import type { RunSubject } from "../runtime/run-subject.ts";

/** A call that came in, and what the transport knows of its caller. */
export interface McpCaller {
  /** Name of the tool, as the caller gave it. */
  readonly tool: string;
  /** The request's `_meta`. Anybody can put anything there. */
  readonly meta: Readonly<Record<string, unknown>>;
  /** Session of the transport, by HTTP. */
  readonly sessionId: string | undefined;
  /** What the application's authentication said (`authInfo` of the SDK). */
  readonly authInfo: unknown;
  /** The HTTP request: `requestInfo` of SDK 1.x, `request` of 2.x. */
  readonly request: unknown;
}

/** Where the runs of a server go, whose they are, and which callers are trusted. */
export interface McpServerOptions {
  /** Where the events go: a `Bridge`, or any other sink. */
  readonly sink: InnerSink;
  /**
   * The tenant of the runs: a text, or a function that is called once for each call, such as
   * `({ authInfo }) => tenantOfToken(authInfo)`. If it throws or returns anything but a non-empty text,
   * the call is not reported (`refused`). A caller's request never says its tenant.
   */
  readonly tenant: string | ((caller: McpCaller) => string);
  /**
   * Whether a caller is trusted. What a trusted caller's request says in `_meta` decides into whose
   * trace, run and conversation the call goes. `true`: every caller, such as for a child process. If a
   * function throws, the caller is not. Default `false`: each call is a trace of its own.
   */
  readonly trust?: boolean | ((caller: McpCaller) => boolean) | undefined;
  /** Name of the agent of the runs. Default: the server's name. */
  readonly agent?: string | undefined;
  /**
   * Whose run a call is: personal data. If it throws, or returns an invalid subject, `onError` is
   * called, and nothing is sent of it. Default: nothing.
   */
  readonly context?: ((caller: McpCaller) => RunSubject | undefined) | undefined;
  /** Which results are failures. Default: those with `isError: true`. */
  readonly isFailure?: IsFailure | undefined;
  /** Calls that are open at once. Above, the oldest is forgotten. Default 10,000. */
  readonly maxOpenCalls?: number | undefined;
  /** Called with errors of the sink, of these functions and of this package. Default: none. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export const DEFAULT_OPEN_CALLS = 10_000;

/**
 * @throws TypeError when an option is missing or of another type.
 * @throws RangeError when `maxOpenCalls` is not a whole number from 1.
 */
export function checkServerOptions(options: McpServerOptions): void {
  checkCommonOptions(options);
  if (typeof options.trust !== "boolean") checkFunction(options.trust, "trust");
  checkText(options.agent, "agent");
  checkWhole(options.maxOpenCalls ?? DEFAULT_OPEN_CALLS, "maxOpenCalls", 1);
}

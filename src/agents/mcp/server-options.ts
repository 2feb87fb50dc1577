import {
  checkFunction,
  checkText,
  checkWhole,
  type InnerSink,
  type IsFailure,
} from "../../events/door.ts";
import { checkCommonOptions } from "../core/door.ts";
import type { RunSubject } from "../runtime/door.ts";

/** A received call, and what the transport knows about its caller. */
export interface McpCaller {
  /** Name of the tool, from the caller. */
  readonly tool: string;
  /** The request's `_meta`. It is not trusted: callers can send anything. */
  readonly meta: Readonly<Record<string, unknown>>;
  /** Session of the HTTP transport. */
  readonly sessionId: string | undefined;
  /** Result of the application's authentication (`authInfo` of the SDK). */
  readonly authInfo: unknown;
  /** The HTTP request: `requestInfo` of SDK 1.x, `request` of 2.x. */
  readonly request: unknown;
}

/** Options of `mcpServer`. */
export interface McpServerOptions {
  /** Where the events go: a `Bridge`, or any other sink. */
  readonly sink: InnerSink;
  /**
   * The tenant of the runs: a text, or a function that is called once for each call, such as `({ authInfo }) =>
   * tenantOfToken(authInfo)`. If it throws or returns anything but a non-empty text, the call is not reported
   * (`refused`). The caller's request never sets the tenant.
   */
  readonly tenant: string | ((caller: McpCaller) => string);
  /**
   * Whether a caller is trusted. The `_meta` of a trusted caller's request sets the trace, parent run and
   * conversation of the call. `true`: every caller is trusted, for example in a child process. If a function throws,
   * the caller is not trusted. Default `false`: each call is a trace of its own.
   */
  readonly trust?: boolean | ((caller: McpCaller) => boolean) | undefined;
  /** Name of the agent of the runs. Default: the server's name. */
  readonly agent?: string | undefined;
  /**
   * The subject of a call's run: personal data. If it throws or returns an invalid subject, `onError` is called and
   * no subject is sent. Default: none.
   */
  readonly context?: ((caller: McpCaller) => RunSubject | undefined) | undefined;
  /** Decides which results are failures. Default: results with `isError: true`. */
  readonly isFailure?: IsFailure | undefined;
  /** Maximum number of open calls. Above it, the oldest is forgotten. Default 10,000. */
  readonly maxOpenCalls?: number | undefined;
  /** Called with errors of the sink, of these functions and of this package. Default: not called. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export const DEFAULT_OPEN_CALLS = 10_000;

/**
 * @throws TypeError when an option is missing or has the wrong type.
 * @throws RangeError when `maxOpenCalls` is not a whole number from 1.
 */
export function checkServerOptions(options: McpServerOptions): void {
  checkCommonOptions(options);
  if (typeof options.trust !== "boolean") checkFunction(options.trust, "trust");
  checkText(options.agent, "agent");
  checkWhole(options.maxOpenCalls ?? DEFAULT_OPEN_CALLS, "maxOpenCalls", 1);
}

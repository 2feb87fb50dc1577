import {
  checkEach,
  checkFunction,
  checkText,
  type OptionChecks,
  wholeFrom,
} from "../../events/door.ts";
import { ADAPTER_CHECKS, type AdapterOptions } from "../core/door.ts";

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
export interface McpServerOptions extends Omit<AdapterOptions<McpCaller>, "price" | "decidedBy"> {
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
  /** Maximum number of open calls. Above it, the oldest is forgotten. Default 10,000. */
  readonly maxOpenCalls?: number | undefined;
}

export const DEFAULT_OPEN_CALLS = 10_000;

/** @throws TypeError or RangeError when an option is missing or invalid. */
export function checkServerOptions(options: McpServerOptions): McpServerOptions {
  return checkEach(options, CHECKS);
}

const { decidedBy: _, price: __, ...COMMON } = ADAPTER_CHECKS;
const CHECKS: OptionChecks<McpServerOptions> = {
  ...COMMON,
  trust(value, field) {
    if (typeof value !== "boolean") checkFunction(value, field);
  },
  agent: checkText,
  maxOpenCalls: wholeFrom(1),
};

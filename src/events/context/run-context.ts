import { isUtf8 } from "node:buffer";
import { callHook } from "../users-functions.ts";

/**
 * The context of a run for a child agent in another process or language. With it, the child's run
 * joins the same trace below the tool call that started it.
 *
 * It does not contain the tenant. The receiver decides to which tenant the events belong.
 */
export interface RunContext {
  /**
   * W3C trace context of the tool call, else of the run. Absent if this process makes no spans. Then the run IDs
   * determine the child's parent.
   */
  readonly traceparent?: string | undefined;
  /** Only with a `traceparent`. */
  readonly tracestate?: string | undefined;
  /** The run at the top of the tree. */
  readonly root_run_id: string;
  /** The run that starts the child. */
  readonly parent_run_id: string;
  /** The tool call that starts the child. */
  readonly parent_tool_use_id?: string | undefined;
  /** The conversation. */
  readonly thread_id?: string | undefined;
}

/** A field of a {@link RunContext}. */
export type RunContextField = keyof RunContext;

/** Every field, in the order of writing. */
export const RUN_CONTEXT_FIELDS = [
  "traceparent",
  "tracestate",
  "root_run_id",
  "parent_run_id",
  "parent_tool_use_id",
  "thread_id",
] as const satisfies readonly RunContextField[];

/** Most bytes of an ID, in UTF-8. Four of them fit into the headers of any server. */
export const MOST_ID_BYTES = 512;

/** The header of each field. HTTP ignores case. */
export const RUN_CONTEXT_HEADERS = {
  traceparent: "traceparent",
  tracestate: "tracestate",
  root_run_id: "entelix-root-run-id",
  parent_run_id: "entelix-parent-run-id",
  parent_tool_use_id: "entelix-parent-tool-use-id",
  thread_id: "entelix-thread-id",
} as const satisfies Record<RunContextField, string>;

/** A sink that knows the context of the runs whose events it received. A `Bridge` does. */
export interface RunContextSource {
  /**
   * The run context for a child agent of a run or of one of its tool calls.
   *
   * @param toolUseId if several calls have this ID, the newest counts.
   * @returns `undefined` if the run is not known.
   */
  runContext(tenantId: string, runId: string, toolUseId?: string): RunContext | undefined;
}

/** Whether a sink implements {@link RunContextSource}. */
export function isRunContextSource(sink: unknown): sink is RunContextSource {
  return (
    typeof sink === "object" &&
    sink !== null &&
    "runContext" in sink &&
    typeof sink.runContext === "function"
  );
}

/**
 * Why a field was ignored.
 *
 * - `malformed`: it does not have the expected form
 * - `too_long`: it is longer than its limit
 * - `repeated`: it occurs several times with different values
 * - `incomplete`: it is missing and required
 * - `unreadable`: the carrier itself could not be read
 */
export type IgnoredReason = "malformed" | "too_long" | "repeated" | "incomplete" | "unreadable";

/** Options for reading and writing carriers. */
export interface CarrierOptions {
  /**
   * Called with each ignored field: with its name in the carrier and the reason, never with its
   * value, which may come from an attacker. Errors that it throws are ignored. Default: none.
   */
  readonly onIgnored?: ((field: string, reason: IgnoredReason) => void) | undefined;
}

/** Reports an ignored field. */
export type ReportIgnored = (field: string, reason: IgnoredReason) => void;

/** The `onIgnored` of the options, as a function that never throws. */
export function reporterOf(options: CarrierOptions | undefined): ReportIgnored {
  return (field, reason) => {
    callHook(() => options?.onIgnored?.(field, reason));
  };
}

/** Characters that are not encoded. Others are written as their UTF-8 bytes. */
const PLAIN = /^[A-Za-z0-9._~-]*$/;
const ENCODED = /^(?:[\x21-\x24\x26-\x7e]|%[0-9A-Fa-f]{2})*$/;

/**
 * A text with only characters that every header and every environment allows, percent-encoded as in URLs. So a line
 * end or comma in an ID cannot be taken for a part of the carrier.
 */
export function encodeText(text: string): string {
  if (PLAIN.test(text)) return text;
  // Through its bytes: half of a surrogate pair, which UTF-8 cannot express, becomes U+FFFD, and nothing throws.
  return encodeURIComponent(Buffer.from(text, "utf8").toString("utf8"));
}

/** The decoded text. `undefined` if it is not encoded in this way. */
export function decodeText(encoded: string): string | undefined {
  if (!ENCODED.test(encoded)) return undefined;
  if (!encoded.includes("%")) return encoded;
  const bytes = Buffer.from(
    encoded.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    ),
    "latin1",
  );
  return isUtf8(bytes) ? bytes.toString("utf8") : undefined;
}

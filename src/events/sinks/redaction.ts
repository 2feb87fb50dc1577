import { boundedCopy, MOST_COPY } from "../bounded-copy.ts";
import { answerOf } from "../users-functions.ts";

/** Describes the value that a redaction hook receives. */
export interface ContentField {
  /** The attribute of the value, or `status` for the description of a span's status. */
  readonly attribute: string;
  readonly tenantId: string;
  readonly runId: string;
  /** The tool, if the value belongs to a tool call. */
  readonly tool?: string | undefined;
}

/**
 * Redacts every value that may contain users' data before it reaches a span: captured content and the operator's
 * error text. The span shows the hook's result. The value is a copy in the form of its JSON: a `Date` is text, a
 * `Map` an object, bytes are base64. Texts are complete. Lists and objects above about 1 MiB are shortened to that.
 * The hook may change and return the copy. It must be synchronous. If it throws or returns a promise, a fixed text
 * replaces the value.
 */
export type RedactionHook = (value: unknown, field: ContentField) => unknown;

const HIDDEN = "[redaction failed]";

/**
 * The result of a redaction hook. A fixed text if the hook fails.
 *
 * @param failed called once for each value that was hidden.
 */
export function redacted(
  redact: RedactionHook,
  value: unknown,
  field: ContentField,
  failed: (error: unknown) => void,
): unknown {
  const form = {
    option: "redact",
    expected: "a value",
    isRequired: true,
    read: (given: unknown) => ({ given }),
  };
  const shown = answerOf(form, () => redact(ownCopy(value), { ...field }), failed);
  return shown === undefined ? HIDDEN : shown.given;
}

/** The hook must not change the caller's object, which audit row and other spans use. */
function ownCopy(value: unknown): unknown {
  const isText = typeof value !== "object" && typeof value !== "function";
  return isText ? value : boundedCopy(value, MOST_COPY).value;
}

import { boundedCopy, MOST_COPY } from "../bounded-copy.ts";
import { isPromise } from "../promises.ts";

/** Describes the value that a redaction hook sees. */
export interface ContentField {
  /** The attribute the value is meant for; `status` for the description of a span's status. */
  readonly attribute: string;
  readonly tenantId: string;
  readonly runId: string;
  /** The tool, where the value belongs to a tool call. */
  readonly tool?: string | undefined;
}

/**
 * Redacts every value that may contain users' data before it reaches a span: captured content and
 * the operator's error text. The span shows what the hook returns. The value is a copy as it reads
 * in JSON: a `Date` is text, a `Map` an object, bytes are base64. Texts are complete. Of lists and objects
 * with more than about 1 MiB, the copy has no more than that. The hook may change and return the copy. It
 * must be synchronous. If it throws or returns a promise, a fixed text replaces the value.
 */
export type RedactionHook = (value: unknown, field: ContentField) => unknown;

const HIDDEN = "[redaction failed]";

/** Called when a redaction hook failed. */
export interface RedactionTrouble {
  /** Once for each value that was hidden. */
  failed(error: unknown): void;
  /** What the promise of a hook rejected with, after `failed`. */
  rejected(error: unknown): void;
}

/** What a redaction hook makes of a value; a fixed text where the hook fails. */
export function redacted(
  redact: RedactionHook,
  value: unknown,
  field: ContentField,
  trouble: RedactionTrouble,
): unknown {
  try {
    const shown = redact(ownCopy(value), field);
    if (!isPromise(shown)) return shown;
    shown.then(undefined, (error: unknown) => trouble.rejected(error));
    throw new TypeError("redact: expected a value, got a promise");
  } catch (error) {
    trouble.failed(error);
    return HIDDEN;
  }
}

/** The hook must not change the caller's object, which the audit row and other spans are made of. */
function ownCopy(value: unknown): unknown {
  const isText = typeof value !== "object" && typeof value !== "function";
  return isText ? value : boundedCopy(value, MOST_COPY).value;
}

import { boundedCopy, MOST_COPY } from "../bounded-copy.ts";
import { isPromise } from "../promises.ts";

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

/** Called when a redaction hook failed. */
export interface RedactionTrouble {
  /** Called once for each value that was hidden. */
  failed(error: unknown): void;
  /** Called, after `failed`, with the rejection of a hook's promise. */
  rejected(error: unknown): void;
}

/** The result of a redaction hook. A fixed text if the hook fails. */
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

/** The hook must not change the caller's object, which audit row and other spans use. */
function ownCopy(value: unknown): unknown {
  const isText = typeof value !== "object" && typeof value !== "function";
  return isText ? value : boundedCopy(value, MOST_COPY).value;
}

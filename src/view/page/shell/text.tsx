import { useState } from "preact/hooks";
import { count, cut, safe, safeLines } from "../../../events/format/door.ts";

/** Titles are cut too: a browser shows them in a small box. */
const TITLE_LIMIT = 1000;

export interface TextProps {
  readonly value: string;
  /** UTF-16 units before a button for the rest. Default 300. */
  readonly limit?: number;
  /** Keep line breaks and tabs. Default: one line, breaks are written as `\n`. */
  readonly lines?: boolean;
}

/**
 * Text from outside: its direction of writing is isolated, control characters are visible escapes,
 * and a long text is cut, with a button for the rest.
 */
export function Text({ limit = 300, lines = false, value }: TextProps) {
  const [whole, setWhole] = useState(false);
  const show = lines ? safeLines : safe;
  const { isCut, text } = cut(value, limit);
  return (
    <>
      <bdi class={lines ? "lines" : undefined}>{whole ? show(value) : show(text)}</bdi>
      {isCut && (
        <>
          {whole ? " " : "… "}
          <button class="link" onClick={() => setWhole(!whole)} type="button">
            {whole ? "Show less" : `Show all ${count(value.length)} characters`}
          </button>
        </>
      )}
    </>
  );
}

/** A name from outside in a link that leads to the full name. It is cut: a link cannot contain a button. */
export function LinkText({
  limit = 60,
  value,
}: {
  readonly value: string;
  readonly limit?: number;
}) {
  const { isCut, text } = cut(value, limit);
  return (
    <bdi title={isCut ? safe(cut(value, TITLE_LIMIT).text) : undefined}>
      {safe(text)}
      {isCut && "…"}
    </bdi>
  );
}

/**
 * A name from outside in a cell or a heading: one line, cut with an ellipsis, and longer in the title. The full name
 * must be available elsewhere.
 */
export function Name({ value }: { readonly value: string }) {
  return (
    <bdi class="ellipsis" title={safe(cut(value, TITLE_LIMIT).text)}>
      {safe(cut(value, 200).text)}
    </bdi>
  );
}

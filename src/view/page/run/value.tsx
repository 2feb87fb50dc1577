import { useMemo } from "preact/hooks";
import type { ViewValue } from "../../format.ts";
import { indentedJson, jsonOf } from "../../model/json-text.ts";
import { CopyButton } from "../shell/copy-button.tsx";
import { Text } from "../shell/text.tsx";

/** Longer texts have a button for the rest. */
const LIMIT = 3000;
/** Longer texts have a button that copies them. */
const SHORT = 60;

export interface ValueProps {
  /** Name of the value, for the button. */
  readonly name: string;
  readonly value: ViewValue;
}

/** The value of an attribute; JSON in it is indented. */
export function Value({ name, value }: ValueProps) {
  const text = typeof value === "string" ? value : jsonOf(value);
  const json = useMemo(() => indentedJson(text), [text]);
  const copy = text.length > SHORT && <CopyButton label="Copy" text={text} />;
  if (json === undefined) {
    return (
      <span class="value" title={name}>
        <Text limit={LIMIT} lines value={text} /> {copy}
      </span>
    );
  }
  return (
    <div class="value">
      <Code text={json} />
      {copy}
    </div>
  );
}

/** A text with its line breaks, in the font of code. */
export function Code({ text }: { readonly text: string }) {
  return (
    <pre>
      <Text limit={LIMIT} lines value={text} />
    </pre>
  );
}

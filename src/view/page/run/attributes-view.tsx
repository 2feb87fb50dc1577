import type { ViewAttributes } from "../../format.ts";
import { CopyButton } from "../shell/copy-button.tsx";
import { Text } from "../shell/text.tsx";
import { Value } from "./value.tsx";

/** All attributes of a span. */
export function AttributesView({ attributes }: { readonly attributes: ViewAttributes }) {
  if (Object.keys(attributes).length === 0) {
    return <p class="muted">The span has no attributes.</p>;
  }
  return (
    <>
      <p class="no-print">
        <CopyButton
          label="Copy all as JSON"
          text={() => JSON.stringify(attributes, undefined, 2)}
        />
      </p>
      <AttributeList attributes={attributes} />
    </>
  );
}

/** Attributes of a span, an event or a link, by name. */
export function AttributeList({ attributes }: { readonly attributes: ViewAttributes }) {
  const entries = Object.entries(attributes).sort(([one], [other]) => (one < other ? -1 : 1));
  return (
    <dl class="attributes">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt class="mono">
            <Text limit={120} value={name} />
          </dt>
          <dd>
            <Value name={name} value={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

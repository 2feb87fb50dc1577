import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { RunModel } from "../../../model/run-model.ts";
import type { SpanNode } from "../../../model/span-tree.ts";
import { shortName } from "../../../model/span-words.ts";
import { LinkText } from "../../shell/text.tsx";
import { SpanLink } from "../span-link.tsx";

export interface ItemProps<Item> {
  readonly item: Item;
  readonly model: RunModel;
  readonly query: URLSearchParams;
}

/** The link of an item to its span in the timeline. */
export function ToTimeline({
  model,
  node,
  query,
}: Omit<ItemProps<unknown>, "item"> & { readonly node: SpanNode }) {
  return (
    <span class="talk-link no-print">
      <SpanLink node={node} query={query} runKey={model.detail.run.key}>
        <span class="visually-hidden">
          <LinkText value={shortName(node.span)} /> in the{" "}
        </span>
        timeline
      </SpanLink>
    </span>
  );
}

/** Content that is drawn when it is opened. */
export function Fold({
  children,
  open = false,
  summary,
}: {
  readonly summary: ComponentChildren;
  readonly open?: boolean;
  readonly children: ComponentChildren;
}) {
  const [isOpen, setOpen] = useState(open);
  return (
    <details
      class="talk-fold"
      onToggle={(event) => setOpen(event.currentTarget.open)}
      open={isOpen}
    >
      <summary>{summary}</summary>
      {isOpen && <div class="talk-inside">{children}</div>}
    </details>
  );
}

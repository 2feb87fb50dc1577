import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";
import { count } from "../../../events/format/door.ts";

export interface Tab {
  readonly id: string;
  readonly label: string;
  /** Shown after the label. */
  readonly count?: number;
}

export interface TabsProps {
  /** Label of the tabs for screen readers. */
  readonly label: string;
  readonly tabs: readonly Tab[];
  /** ID of the chosen tab. Default: the first tab. */
  readonly value: string;
  readonly onChoose: (id: string) => void;
  /** Content of the chosen tab. */
  readonly children: ComponentChildren;
}

/** Tabs after the pattern of the ARIA guide: arrows choose, Tab goes to the content. */
export function Tabs({ children, label, onChoose, tabs, value }: TabsProps) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const chosen = Math.max(
    0,
    tabs.findIndex((tab) => tab.id === value),
  );
  const onKeyDown = (event: KeyboardEvent) => {
    const to = indexAfter(event.key, chosen, tabs.length);
    const tab = to === undefined ? undefined : tabs[to];
    if (tab === undefined) return;
    event.preventDefault();
    onChoose(tab.id);
    list.current
      ?.querySelectorAll("button")
      .item(to ?? 0)
      .focus();
  };
  return (
    <>
      <div aria-label={label} class="tabs" onKeyDown={onKeyDown} ref={list} role="tablist">
        {tabs.map((tab, at) => (
          <button
            aria-controls={`${id}panel`}
            aria-selected={at === chosen}
            id={`${id}${tab.id}`}
            key={tab.id}
            onClick={() => onChoose(tab.id)}
            role="tab"
            tabIndex={at === chosen ? 0 : -1}
            type="button"
          >
            {tab.label}
            {tab.count !== undefined && <span class="muted"> {count(tab.count)}</span>}
          </button>
        ))}
      </div>
      <div aria-labelledby={`${id}${tabs[chosen]?.id}`} id={`${id}panel`} role="tabpanel">
        {children}
      </div>
    </>
  );
}

function indexAfter(key: string, at: number, length: number): number | undefined {
  switch (key) {
    case "ArrowRight":
      return (at + 1) % length;
    case "ArrowLeft":
      return (at + length - 1) % length;
    case "Home":
      return 0;
    case "End":
      return length - 1;
    default:
      return undefined;
  }
}

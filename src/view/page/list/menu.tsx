import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

export interface MenuProps {
  /** Label of the button. */
  readonly summary: ComponentChildren;
  /** Whether a value is chosen. */
  readonly isSet: boolean;
  readonly children: ComponentChildren;
}

/**
 * A button with a panel below it, whose content is rendered while it is open. It closes with Escape and when the focus
 * or a click goes elsewhere.
 */
export function Menu({ children, isSet, summary }: MenuProps) {
  const details = useRef<HTMLDetailsElement>(null);
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const onElsewhere = ({ target }: Event) => {
      const menu = details.current;
      if (menu?.open && target instanceof Node && !menu.contains(target)) menu.open = false;
    };
    document.addEventListener("pointerdown", onElsewhere);
    document.addEventListener("focusin", onElsewhere);
    return () => {
      document.removeEventListener("pointerdown", onElsewhere);
      document.removeEventListener("focusin", onElsewhere);
    };
  }, []);
  return (
    <details
      class={isSet ? "menu is-set" : "menu"}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || details.current?.open !== true) return;
        details.current.open = false;
        details.current.querySelector("summary")?.focus();
      }}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      ref={details}
    >
      <summary class="button">{summary}</summary>
      <div class="menu-panel">{open && children}</div>
    </details>
  );
}

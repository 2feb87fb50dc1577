import { useEffect, useRef, useState } from "preact/hooks";
import {
  FACETS,
  type Facet,
  isFiltered,
  type ListQuery,
  withoutFilters,
} from "../../model/list-query.ts";
import type { RunRow } from "../../model/run-index.ts";
import { FacetMenu } from "./facet-menu.tsx";
import { TimeMenu } from "./time-menu.tsx";

/** A search begins this long after the last key stroke, in ms. */
const DEBOUNCE_MS = 150;

const LABELS: Readonly<Record<Facet, string>> = {
  outcome: "Outcome",
  kind: "Failure kind",
  origin: "Origin",
  agent: "Agent",
  tenant: "Tenant",
};

export interface ListFiltersProps {
  readonly list: ListQuery;
  /** All runs. */
  readonly rows: readonly RunRow[];
  readonly onChange: (list: ListQuery) => void;
}

/** The search and the filters of the list. */
export function ListFilters({ list, onChange, rows }: ListFiltersProps) {
  return (
    <search class="filters row no-print">
      <Search list={list} onChange={onChange} />
      {FACETS.map((facet) => (
        <FacetMenu
          facet={facet}
          key={facet}
          label={LABELS[facet]}
          list={list}
          onChange={onChange}
          rows={rows}
        />
      ))}
      <TimeMenu list={list} onChange={onChange} />
      <label class="row">
        <input
          checked={list.subRuns}
          onChange={({ currentTarget }) => onChange({ ...list, subRuns: currentTarget.checked })}
          type="checkbox"
        />
        Sub-runs too
      </label>
      {isFiltered(list) && (
        <button onClick={() => onChange(withoutFilters(list))} type="button">
          Clear filters
        </button>
      )}
    </search>
  );
}

function Search({ list, onChange }: Pick<ListFiltersProps, "list" | "onChange">) {
  const [text, setText] = useState(list.search);
  const input = useRef<HTMLInputElement>(null);
  const sent = useRef(list.search);
  useEffect(() => {
    // Another part of the page has changed it, or the address.
    if (list.search !== sent.current) setText(list.search);
    sent.current = list.search;
  }, [list.search]);
  useEffect(() => {
    if (text === sent.current) return;
    const timer = setTimeout(() => {
      sent.current = text;
      onChange({ ...list, search: text });
    }, DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [text, list, onChange]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { altKey, ctrlKey, key, metaKey, target } = event;
      const isTyping = target instanceof Element && target.matches("input, select, textarea");
      if (key !== "/" || altKey || ctrlKey || metaKey || isTyping) return;
      event.preventDefault();
      input.current?.focus();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  return (
    <input
      aria-keyshortcuts="/"
      aria-label="Search in all columns, run IDs and trace IDs"
      class="search"
      onInput={({ currentTarget }) => setText(currentTarget.value)}
      onKeyDown={({ key }) => {
        if (key === "Escape") setText("");
      }}
      placeholder="Search columns, run ID, trace ID ( / )"
      ref={input}
      spellcheck={false}
      type="search"
      value={text}
    />
  );
}

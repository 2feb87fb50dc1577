import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Facet, isFiltered, type ListQuery, withoutFilters } from "../../model/list-query.ts";
import type { RunRow } from "../../model/run-index.ts";
import { FacetMenu, MoreFilters } from "./facet-menu.tsx";
import { TimeMenu } from "./time-menu.tsx";
import { useMedia } from "./use-media.ts";

/** Windows with room for menus beside the search. */
const ROOM = "(min-width: 60rem)";

/** A search begins this long after the last key stroke, in ms. */
const DEBOUNCE_MS = 80;

/** Filters with a menu of their own where the window has room. The menu of more filters has the others. */
const FIRST: readonly Facet[] = ["outcome", "kind", "agent", "tenant"];

export interface ListFiltersProps {
  readonly list: ListQuery;
  /** All runs. */
  readonly rows: readonly RunRow[];
  readonly onChange: (list: ListQuery) => void;
}

/** The search and the filters of the list. */
export function ListFilters({ list, onChange, rows }: ListFiltersProps) {
  const own = useMedia(ROOM) ? FIRST : [];
  const hasThreads = useMemo(() => rows.some(({ run }) => run.thread_id !== undefined), [rows]);
  return (
    <search class="filters row no-print">
      <Search list={list} onChange={onChange} />
      {own.map((facet) => (
        <FacetMenu facet={facet} key={facet} list={list} onChange={onChange} rows={rows} />
      ))}
      <MoreFilters list={list} onChange={onChange} own={own} rows={rows} />
      <TimeMenu list={list} onChange={onChange} />
      <label class="row">
        <input
          checked={list.subRuns}
          onChange={({ currentTarget }) => onChange({ ...list, subRuns: currentTarget.checked })}
          type="checkbox"
        />
        Sub-runs too
      </label>
      {(hasThreads || list.grouped) && (
        <label class="row">
          <input
            checked={list.grouped}
            onChange={({ currentTarget }) => onChange({ ...list, grouped: currentTarget.checked })}
            type="checkbox"
          />
          Group by conversation
        </label>
      )}
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
      aria-label="Search in texts, names and IDs"
      class="search"
      onInput={({ currentTarget }) => setText(currentTarget.value)}
      onKeyDown={({ key }) => {
        if (key === "Escape") setText("");
      }}
      placeholder="Search questions, answers, errors, tools, users, IDs ( / )"
      ref={input}
      spellcheck={false}
      type="search"
      value={text}
    />
  );
}

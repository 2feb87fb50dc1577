import { useMemo, useState } from "preact/hooks";
import { count, counted, cut, safe } from "../../../events/format/door.ts";
import { facetCounts } from "../../model/filter-rows.ts";
import { MOST_VALUES } from "../../model/list-limits.ts";
import { type Facet, type ListQuery, toggled } from "../../model/list-query.ts";
import { OUTCOMES } from "../../model/outcome.ts";
import type { RunRow } from "../../model/run-index.ts";
import { Name } from "../shell/text.tsx";
import { Menu } from "./menu.tsx";

/** With more values, the menu has a search field. */
const SEARCHED_FROM = 12;

export interface FacetMenuProps {
  readonly facet: Facet;
  readonly label: string;
  /** All runs. */
  readonly rows: readonly RunRow[];
  readonly list: ListQuery;
  readonly onChange: (list: ListQuery) => void;
}

/** Chooses values of one column. */
export function FacetMenu(props: FacetMenuProps) {
  const chosen = props.list.chosen[props.facet];
  return (
    <Menu isSet={chosen.size > 0} summary={summaryOf(props.label, chosen)}>
      <FacetValues {...props} />
    </Menu>
  );
}

function FacetValues({ facet, label, list, onChange, rows }: FacetMenuProps) {
  const [part, setPart] = useState("");
  const counts = useMemo(() => facetCounts(rows, list, facet), [rows, list, facet]);
  const chosen = list.chosen[facet];
  const values = valuesOf(facet, counts, chosen);
  const matching = values.filter((value) => value.toLowerCase().includes(part.toLowerCase()));
  const more = matching.length - MOST_VALUES;
  return (
    <>
      <fieldset>
        <legend class="visually-hidden">{label}</legend>
        {values.length > SEARCHED_FROM && (
          <input
            aria-label={`Find a value of ${label}`}
            onInput={({ currentTarget }) => setPart(currentTarget.value)}
            placeholder="Find"
            type="search"
            value={part}
          />
        )}
        {matching.slice(0, MOST_VALUES).map((value) => (
          <label class="choice" key={value}>
            <input
              checked={chosen.has(value)}
              onChange={() => onChange(toggled(list, facet, value))}
              type="checkbox"
            />
            {value === "" ? <span class="muted">(none)</span> : <Name value={value} />}
            <span class="muted number">{count(counts.get(value) ?? 0)}</span>
          </label>
        ))}
        {more > 0 && <p class="muted">{counted(more, "more value")}: type a part of it.</p>}
      </fieldset>
      {chosen.size > 0 && (
        <button
          onClick={() => onChange({ ...list, chosen: { ...list.chosen, [facet]: new Set() } })}
          type="button"
        >
          Any {label.toLowerCase()}
        </button>
      )}
    </>
  );
}

function summaryOf(label: string, chosen: ReadonlySet<string>): string {
  const [first, ...others] = chosen;
  if (first === undefined) return label;
  const shown = first === "" ? "(none)" : safe(cut(first, 24).text);
  return `${label}: ${shown}${others.length > 0 ? ` +${count(others.length)}` : ""}`;
}

/** Outcomes in their usual order, other values by frequency. Chosen values stay, also without a run. */
function valuesOf(
  facet: Facet,
  counts: ReadonlyMap<string, number>,
  chosen: ReadonlySet<string>,
): readonly string[] {
  const values = [...new Set([...counts.keys(), ...chosen])];
  const rank = (value: string) =>
    facet === "outcome" && OUTCOMES.includes(value) ? OUTCOMES.indexOf(value) : OUTCOMES.length;
  return values.sort(
    (a, b) => rank(a) - rank(b) || (counts.get(b) ?? 0) - (counts.get(a) ?? 0) || (a < b ? -1 : 1),
  );
}

import { useMemo, useState } from "preact/hooks";
import { count, counted, cut, safe } from "../../../events/format/door.ts";
import { facetCounts, filledFacets } from "../../model/filter-rows.ts";
import { MOST_VALUES } from "../../model/list-limits.ts";
import { FACETS, type Facet, type ListQuery, toggled } from "../../model/list-query.ts";
import { OUTCOMES } from "../../model/outcome.ts";
import type { RunRow } from "../../model/run-index.ts";
import { Name } from "../shell/text.tsx";
import { Menu } from "./menu.tsx";

/** With more values, the menu has a search field. */
const SEARCHED_FROM = 12;

const LABELS: Readonly<Record<Facet, string>> = {
  outcome: "Outcome",
  kind: "Failure kind",
  agent: "Agent",
  tenant: "Tenant",
  origin: "Origin",
  thread: "Conversation",
  user: "User",
  session: "Session",
  tag: "Tag",
  model: "Model",
  tool: "Tool",
};

interface FilterProps {
  /** All runs. */
  readonly rows: readonly RunRow[];
  readonly list: ListQuery;
  readonly onChange: (list: ListQuery) => void;
}

export interface FacetMenuProps extends FilterProps {
  readonly facet: Facet;
}

/** Chooses values of one filter. */
export function FacetMenu(props: FacetMenuProps) {
  const { facet, list } = props;
  const isSet = list.chosen[facet].size > 0;
  return (
    <Menu isSet={isSet} summary={chosenText(facet, list) ?? LABELS[facet]}>
      <FacetValues {...props} />
    </Menu>
  );
}

/**
 * A menu with the filters that have none of their own, each in a fold.
 *
 * @param own filters with a menu of their own.
 */
export function MoreFilters({ own, ...props }: FilterProps & { readonly own: readonly Facet[] }) {
  const facets = FACETS.filter((facet) => !own.includes(facet));
  const chosen = facets.flatMap((facet) => chosenText(facet, props.list) ?? []);
  const label = own.length === 0 ? "Filters" : "More filters";
  return (
    <Menu isSet={chosen.length > 0} summary={chosen.length === 0 ? label : chosen.join(", ")}>
      <FilledFacets {...props} facets={facets} />
    </Menu>
  );
}

/** The filters that some run has a value for. */
function FilledFacets({ facets, ...props }: FilterProps & { readonly facets: readonly Facet[] }) {
  const filled = useMemo(() => filledFacets(props.rows), [props.rows]);
  const shown = facets.filter((facet) => filled.has(facet) || props.list.chosen[facet].size > 0);
  if (shown.length === 0) return <p class="muted">The runs have no values to filter by.</p>;
  return (
    <>
      {shown.map((facet) => (
        <FacetFold facet={facet} key={facet} {...props} />
      ))}
    </>
  );
}

function FacetFold(props: FacetMenuProps) {
  const { facet, list } = props;
  const [isOpen, setOpen] = useState(list.chosen[facet].size > 0);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)} open={isOpen}>
      <summary>{chosenText(facet, list) ?? LABELS[facet]}</summary>
      {isOpen && <FacetValues {...props} />}
    </details>
  );
}

function FacetValues({ facet, list, onChange, rows }: FacetMenuProps) {
  const label = LABELS[facet];
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

/** `Outcome: failed +1`; `undefined` if no value is chosen. */
function chosenText(facet: Facet, list: ListQuery): string | undefined {
  const [first, ...others] = list.chosen[facet];
  if (first === undefined) return undefined;
  const shown = first === "" ? "(none)" : safe(cut(first, 24).text);
  return `${LABELS[facet]}: ${shown}${others.length > 0 ? ` +${count(others.length)}` : ""}`;
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

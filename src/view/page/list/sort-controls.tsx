import { type ListQuery, SORT_COLUMNS, sortedBy } from "../../model/list-query.ts";
import { COLUMNS, type Column } from "./columns.tsx";

export interface SortProps {
  readonly list: ListQuery;
  readonly onChange: (list: ListQuery) => void;
}

/** The head of the table: a button in each column sorts by it. */
export function SortHeader({
  columns,
  list,
  onChange,
}: SortProps & { readonly columns: readonly Column[] }) {
  return (
    <thead>
      <tr aria-rowindex={1}>
        {columns.map(({ label, sort, style, title }) => {
          const isSorted = sort !== undefined && sort === list.sort;
          return (
            <th
              aria-sort={isSorted ? (list.descending ? "descending" : "ascending") : undefined}
              class={style}
              key={label}
              scope="col"
            >
              {sort === undefined ? (
                label
              ) : (
                <button onClick={() => onChange(sortedBy(list, sort))} title={title} type="button">
                  {label}
                  <span aria-hidden="true">{isSorted ? (list.descending ? " ↓" : " ↑") : ""}</span>
                </button>
              )}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

/** The sort control of narrow pages, which have no table head. */
export function SortSelect({ list, onChange }: SortProps) {
  return (
    <div class="row no-print">
      <label class="row">
        Sort by
        <select
          onChange={({ currentTarget }) => {
            const column = SORT_COLUMNS.find((name) => name === currentTarget.value);
            if (column !== undefined) onChange(sortedBy(list, column));
          }}
          value={list.sort}
        >
          {COLUMNS.map(
            ({ label, sort }) =>
              sort !== undefined && (
                <option key={sort} value={sort}>
                  {label}
                </option>
              ),
          )}
        </select>
      </label>
      <button onClick={() => onChange({ ...list, descending: !list.descending })} type="button">
        {list.descending ? "↓ Descending" : "↑ Ascending"}
      </button>
    </div>
  );
}

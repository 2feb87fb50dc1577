import type { TimelineRow } from "./rows.ts";

/** Action of a key in the timeline, by the tree pattern of the ARIA guide. */
export type TreeMove =
  | { readonly does: "go"; readonly to: number }
  | { readonly does: "toggle" }
  | { readonly does: "nothing" };

const NOTHING: TreeMove = { does: "nothing" };

/**
 * @param key as `KeyboardEvent.key` names it.
 * @param at index of the row that is active.
 * @param page rows that fit on the screen.
 */
export function treeMove(
  key: string,
  rows: readonly TimelineRow[],
  at: number,
  page: number,
): TreeMove {
  const row = rows[at];
  if (row === undefined) return rows.length === 0 ? NOTHING : { does: "go", to: 0 };
  switch (key) {
    case "ArrowDown":
      return go(at + 1, rows);
    case "ArrowUp":
      return go(at - 1, rows);
    case "PageDown":
      return go(Math.min(at + page, rows.length - 1), rows);
    case "PageUp":
      return go(Math.max(at - page, 0), rows);
    case "Home":
      return go(0, rows);
    case "End":
      return go(rows.length - 1, rows);
    case "ArrowRight":
      if (row.expanded === undefined) return NOTHING;
      return row.expanded ? go(at + 1, rows) : { does: "toggle" };
    case "ArrowLeft":
      return row.expanded === true ? { does: "toggle" } : go(parentIndex(rows, at), rows);
    case " ":
      return row.expanded === undefined ? NOTHING : { does: "toggle" };
    default:
      return NOTHING;
  }
}

/** The next row whose name has the text, after the active one, then from the top; -1 if there is none. */
export function findRow(
  names: readonly string[],
  text: string,
  after: number,
  match: "start" | "within",
): number {
  const wanted = text.toLowerCase();
  if (wanted === "") return -1;
  for (let step = 1; step <= names.length; step++) {
    const at = (after + step) % names.length;
    const name = names[at]?.toLowerCase() ?? "";
    if (match === "start" ? name.startsWith(wanted) : name.includes(wanted)) return at;
  }
  return -1;
}

function go(to: number, rows: readonly TimelineRow[]): TreeMove {
  return to >= 0 && to < rows.length ? { does: "go", to } : NOTHING;
}

function parentIndex(rows: readonly TimelineRow[], at: number): number {
  const parent = rows[at]?.item.parent;
  if (parent === undefined) return -1;
  let index = at - 1;
  while (index >= 0 && rows[index]?.item !== parent) index--;
  return index;
}

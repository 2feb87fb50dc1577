import type { OutlineItem } from "./outline.ts";
import type { SpanNode } from "./span-tree.ts";

/** A visible row of the timeline, with its attributes for screen readers. */
export interface TimelineRow {
  readonly item: OutlineItem;
  /** Among the rows shown under its parent, from 1. */
  readonly position: number;
  readonly setSize: number;
  /** `undefined`: no visible rows are under it. */
  readonly expanded: boolean | undefined;
}

/**
 * The visible rows in order. Spans are open and folds closed, unless they are in `toggled`.
 *
 * @param toggled ids of items.
 * @param only spans that are shown; all without it.
 */
export function timelineRows(
  roots: readonly OutlineItem[],
  toggled: ReadonlySet<string>,
  only?: ReadonlySet<SpanNode>,
): readonly TimelineRow[] {
  const rows: TimelineRow[] = [];
  const shownIn = (items: readonly OutlineItem[]) =>
    only === undefined ? items : items.filter((item) => isShown(item, only));
  const open: { items: readonly OutlineItem[]; at: number }[] = [{ items: shownIn(roots), at: 0 }];
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const item = top.items[top.at];
    if (item === undefined) {
      open.pop();
      continue;
    }
    top.at++;
    const children = shownIn(item.children);
    const expanded = children.length === 0 ? undefined : isExpanded(item, toggled);
    rows.push({ item, position: top.at, setSize: top.items.length, expanded });
    if (expanded === true) open.push({ items: children, at: 0 });
  }
  return rows;
}

export function isExpanded(item: OutlineItem, toggled: ReadonlySet<string>): boolean {
  return (item.calls === undefined) !== toggled.has(item.id);
}

/** Toggles items so that an item is visible. Returns the same set if it is visible already. */
export function toggledToShow(
  item: OutlineItem,
  toggled: ReadonlySet<string>,
): ReadonlySet<string> {
  let changed: Set<string> | undefined;
  for (let around = item.parent; around !== undefined; around = around.parent) {
    if (isExpanded(around, toggled)) continue;
    changed ??= new Set(toggled);
    if (!changed.delete(around.id)) changed.add(around.id);
  }
  return changed ?? toggled;
}

/** The item itself if it has a row, else the nearest ancestor or fold that has one. */
export function shownFor(
  item: OutlineItem | undefined,
  hasRow: (id: string) => boolean,
): OutlineItem | undefined {
  let shown = item;
  while (shown !== undefined && !hasRow(shown.id)) shown = shown.parent;
  return shown;
}

function isShown(item: OutlineItem, only: ReadonlySet<SpanNode>): boolean {
  return item.calls === undefined ? only.has(item.node) : item.calls.some((call) => only.has(call));
}

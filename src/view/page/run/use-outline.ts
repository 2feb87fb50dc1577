import { useMemo, useState } from "preact/hooks";
import { frameworkSteps, type Outline, outlineOf } from "../../model/outline.ts";
import { type TimelineRow, timelineRows } from "../../model/rows.ts";
import type { RunModel } from "../../model/run-model.ts";
import type { SpanNode } from "../../model/span-tree.ts";
import { readStored, store } from "../shell/stored.ts";

/** Whether steps of frameworks have rows. The choice stays in this browser. */
export interface StepsSwitch {
  /** Steps that can be hidden. */
  readonly count: number;
  readonly areShown: boolean;
  readonly show: (on: boolean) => void;
}

/** The rows of the timeline, and what the user did to them. */
export interface ShownOutline {
  readonly outline: Outline;
  readonly rows: readonly TimelineRow[];
  /** IDs of the items that the user opened or closed. */
  readonly toggled: ReadonlySet<string>;
  readonly setToggled: (toggled: ReadonlySet<string>) => void;
  readonly steps: StepsSwitch;
}

const STEPS = "steps";

/**
 * @param named IDs of items in the address: they have a row, even if they are steps.
 * @param only spans that are shown; all without it.
 */
export function useOutline(
  model: RunModel,
  named: readonly (string | null)[],
  only: ReadonlySet<SpanNode> | undefined,
): ShownOutline {
  const { failures, tree } = model;
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const [areShown, setShown] = useState(() => readStored(STEPS) === "shown");
  const steps = useMemo(() => frameworkSteps(tree, failures), [tree, failures]);
  const kept = named.flatMap((id) => {
    const node = tree.byId.get(id ?? "");
    return node !== undefined && steps.has(node) ? [node] : [];
  });
  const outline = useMemo(() => {
    if (areShown) return outlineOf(tree);
    const hidden = new Set(steps);
    for (const node of kept) hidden.delete(node);
    return outlineOf(tree, hidden);
  }, [tree, steps, areShown, kept.map(({ id }) => id).join()]);
  const rows = useMemo(() => timelineRows(outline.roots, toggled, only), [outline, toggled, only]);
  const show = (on: boolean) => {
    store(STEPS, on ? "shown" : "hidden");
    setShown(on);
  };
  return { outline, rows, toggled, setToggled, steps: { count: steps.size, areShown, show } };
}

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { count, counted } from "../../../events/format/door.ts";
import { idleTimes } from "../../model/idle.ts";
import { itemWith, timeOf } from "../../model/outline.ts";
import { shownFor, type TimelineRow, toggledToShow } from "../../model/rows.ts";
import type { RunModel } from "../../model/run-model.ts";
import type { SpanNode } from "../../model/span-tree.ts";
import { shortName } from "../../model/span-words.ts";
import { rangeOf, timeAxis } from "../../model/time-axis.ts";
import { findRow } from "../../model/tree-keys.ts";
import { announce } from "../shell/live-region.tsx";
import { Name } from "../shell/text.tsx";
import { Details } from "./details.tsx";
import { Legend } from "./legend.tsx";
import { Overview } from "./overview.tsx";
import { Timeline } from "./timeline.tsx";
import type { ShownOutline, StepsSwitch } from "./use-outline.ts";

export interface TimelineViewProps {
  readonly model: RunModel;
  /** End of the time axis in ms. */
  readonly end: number;
  readonly shown: ShownOutline;
  /** The span in the address. */
  readonly selected: SpanNode | undefined;
  readonly onSelect: (id: string) => void;
  /** ID of the row whose time fills the axis; default: the whole run. */
  readonly zoom: string | undefined;
  readonly onZoom: (id: string | undefined) => void;
  readonly onlyFailures: boolean;
  readonly onFailuresOnly: (on: boolean) => void;
}

/** Lanes of the agents, the tree of spans under them, and the details of one span beside it. */
export function TimelineView(props: TimelineViewProps) {
  const { end, model, onFailuresOnly, onSelect, onlyFailures } = props;
  const { outline, rows, setToggled, steps, toggled } = props.shown;
  const [firstFailure] = model.failures;
  const known = { outline, tree: model.tree };
  const zoomed = itemWith(props.zoom ?? "", known);
  const shown = props.selected ?? firstFailure ?? model.tree.roots[0];
  const [active, setActive] = useState(shown?.id ?? "");
  const tree = useRef<HTMLDivElement>(null);
  const details = useRef<HTMLElement>(null);
  const find = useRef<HTMLInputElement>(null);
  const chosenId = props.selected?.id;
  const idle = useMemo(() => idleTimes(model, end), [model, end]);
  const whole = useMemo(() => timeAxis(rangeOf(undefined, end), idle), [end, idle]);
  const axis = useMemo(
    () => (zoomed === undefined ? whole : timeAxis(rangeOf(timeOf(zoomed), end), idle)),
    [end, idle, whole, zoomed],
  );

  const reveal = (node: SpanNode) => {
    const item = outline.byNode.get(node);
    if (item !== undefined) setToggled(toggledToShow(item, toggled));
    setActive(node.id);
  };
  useEffect(() => {
    if (props.selected !== undefined) reveal(props.selected);
  }, [chosenId]);

  const goTo = (node: SpanNode) => {
    reveal(node);
    onSelect(node.id);
  };
  const toggle = (id: string) => {
    const changed = new Set(toggled);
    if (!changed.delete(id)) changed.add(id);
    setToggled(changed);
  };
  const choose = (row: TimelineRow, moveFocus: boolean) => {
    setActive(row.item.id);
    if (row.item.calls !== undefined) return toggle(row.item.id);
    onSelect(row.item.node.id);
    if (moveFocus) details.current?.focus();
  };
  const goToFailure = () => {
    if (firstFailure === undefined) return announce("No span failed.");
    goTo(firstFailure);
    tree.current?.focus();
  };
  const zoom = () => {
    const ids = new Set(rows.map(({ item }) => item.id));
    const item = shownFor(itemWith(active, known), (id) => ids.has(id));
    const on = item !== undefined && item !== zoomed;
    props.onZoom(on ? item.id : undefined);
    const name = on && shortName(item.node.span);
    announce(on ? `The time axis shows ${name}.` : "The time axis shows the run.");
  };

  return (
    <>
      <Legend isCut={whole.cut.length > 0} model={model} />
      <Overview
        axis={whole}
        end={end}
        model={model}
        onSelect={goTo}
        selected={shown}
        zoomed={zoomed && axis.range}
      />
      <div class="row tools no-print">
        <FindBox
          active={active}
          input={find}
          onFound={(id) => setActive(id)}
          onLeave={() => tree.current?.focus()}
          rows={rows}
        />
        <label class="row">
          <input
            checked={onlyFailures}
            disabled={firstFailure === undefined}
            onChange={(event) => onFailuresOnly(event.currentTarget.checked)}
            type="checkbox"
          />
          Failures only
        </label>
        <StepsBox steps={steps} />
        {firstFailure !== undefined && (
          <button onClick={goToFailure} type="button">
            {model.failures.length > 1 ? "First failure" : "Failure"} <kbd>f</kbd>
          </button>
        )}
        <button
          aria-pressed={zoomed !== undefined}
          onClick={zoom}
          title="The time axis shows the selected span, or the whole run again"
          type="button"
        >
          Zoom <kbd>z</kbd>
        </button>
        <span class="muted" role="status">
          {counted(rows.length, "row")}
          {firstFailure !== undefined && `, ${counted(model.failures.length, "failure")}`}
        </span>
      </div>
      {zoomed !== undefined && (
        <p class="print-only">
          The time axis shows <Name value={shortName(zoomed.node.span)} /> only.
        </p>
      )}
      <div class="split">
        <Timeline
          active={active}
          axis={axis}
          container={tree}
          end={end}
          model={model}
          onActivate={setActive}
          onChoose={choose}
          onFind={() => find.current?.focus()}
          onFirstFailure={goToFailure}
          onToggle={toggle}
          onZoom={zoom}
          outline={outline}
          rows={rows}
          selected={shown?.id}
        />
        {shown !== undefined && (
          <Details
            model={model}
            node={shown}
            onEscape={() => tree.current?.focus()}
            onGoTo={goTo}
            region={details}
          />
        )}
      </div>
    </>
  );
}

/** Shows or hides the steps of frameworks. */
function StepsBox({ steps: { areShown, count: number, show } }: { readonly steps: StepsSwitch }) {
  if (number === 0) return null;
  return (
    <label class="row" title="Steps of the framework around calls of models and tools">
      <input
        checked={areShown}
        onChange={({ currentTarget }) => show(currentTarget.checked)}
        type="checkbox"
      />
      <span>
        Steps{" "}
        <span class="muted">
          {count(number)}
          {!areShown && " hidden"}
        </span>
      </span>
    </label>
  );
}

interface FindBoxProps {
  readonly rows: readonly TimelineRow[];
  readonly active: string;
  readonly input: { current: HTMLInputElement | null };
  readonly onFound: (id: string) => void;
  readonly onLeave: () => void;
}

/** Finds rows by name: Enter goes to the next one, Escape back to the tree. */
function FindBox({ active, input, onFound, onLeave, rows }: FindBoxProps) {
  const names = useMemo(() => rows.map(({ item }) => shortName(item.node.span)), [rows]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") return onLeave();
    if (event.key !== "Enter") return;
    event.preventDefault();
    const text = input.current?.value ?? "";
    const at = rows.findIndex(({ item }) => item.id === active);
    const found = rows[findRow(names, text, at, "within")];
    if (found === undefined) return announce("No row has this name.");
    onFound(found.item.id);
    announce(shortName(found.item.node.span));
  };
  return (
    <label class="row">
      <span>
        Find <kbd>/</kbd>
      </span>
      <input onKeyDown={onKeyDown} placeholder="Name, then Enter" ref={input} type="search" />
    </label>
  );
}

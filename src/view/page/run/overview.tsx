import { useMemo, useRef } from "preact/hooks";
import { count, counted, cut, safe } from "../../../events/format/door.ts";
import type { SpanKindName } from "../../format.ts";
import type { TimeRange } from "../../model/idle.ts";
import { type Bar, type Lane, mergedBars, mergedMarks, spanAt } from "../../model/lanes.ts";
import type { RunModel } from "../../model/run-model.ts";
import type { SpanNode } from "../../model/span-tree.ts";
import { kindWords, SPAN_KINDS } from "../../model/span-words.ts";
import { positionOn, type TimeAxis } from "../../model/time-axis.ts";
import { Name } from "../shell/text.tsx";
import { useSize } from "./use-size.ts";

/** Most runs that are drawn. */
const MAX_LANES = 100;
const HEIGHT = 30;
/** More marks are shorter, so that the bars stay visible. */
const FEW_MARKS = 20;
const SHORT_MARK = 9;
/** Distance in pixels from which a click still finds a span. */
const REACH = 6;

/** Distance from the top of a run's row, in pixels. Each kind has its own height. */
const TRACKS: Readonly<Record<SpanKindName, { y: number; height: number }>> = {
  model: { y: 2, height: 7 },
  tool: { y: 10, height: 7 },
  step: { y: 18, height: 4 },
  other: { y: 23, height: 2 },
  run: { y: 26, height: 3 },
};

export interface OverviewProps {
  readonly model: RunModel;
  /** Axis of the run. */
  readonly axis: TimeAxis;
  /** End of open spans. */
  readonly end: number;
  readonly selected: SpanNode | undefined;
  readonly onSelect: (node: SpanNode) => void;
  /** Range of the timeline's axis, if that is a part of the run. */
  readonly zoomed: TimeRange | undefined;
}

/** A row for each run of an agent, with its spans. It is a picture: the tree below it works with the keyboard. */
export function Overview({ axis, end, model, onSelect, selected, zoomed }: OverviewProps) {
  const box = useRef<HTMLDivElement>(null);
  const { width } = useSize(box);
  const lanes = model.lanes.slice(0, MAX_LANES);
  return (
    <section aria-label="Agents" class="overview">
      <div class="lanes" tabIndex={lanes.length > 5 ? 0 : undefined}>
        <Patterns />
        <div aria-hidden="true" class="lane-probe" ref={box} />
        {width > 0 &&
          lanes.map((lane) => (
            <LaneRow
              axis={axis}
              end={end}
              firstFailure={model.failures.length > 1 ? model.failures[0] : undefined}
              key={lane.id}
              lane={lane}
              onSelect={onSelect}
              selected={selected}
              width={width}
              zoomed={zoomed}
            />
          ))}
      </div>
      {model.lanes.length > MAX_LANES && (
        <p class="muted">
          {count(model.lanes.length - MAX_LANES)} more agents are in the timeline only.
        </p>
      )}
    </section>
  );
}

interface LaneRowProps extends Omit<OverviewProps, "model"> {
  readonly lane: Lane;
  readonly width: number;
  /** If the run has further ones. */
  readonly firstFailure: SpanNode | undefined;
}

function LaneRow(props: LaneRowProps) {
  const { axis, end, firstFailure, lane, onSelect, selected, width, zoomed } = props;
  const paths = useMemo(() => pathsOf(lane, width, axis, end), [lane, width, axis, end]);
  const marks = useMemo(
    () => mergedMarks(lane.failures, (time) => axis.share(time) * width, end),
    [lane, width, axis, end],
  );
  const onClick = (event: MouseEvent) => {
    const kind = kindAt(event.offsetY);
    const at = (nodes: Iterable<SpanNode>) =>
      spanAt(nodes, event.offsetX, (time) => axis.share(time) * width, end, REACH);
    const found = at((kind && lane.nodes.get(kind)) ?? []) ?? at(all(lane));
    if (found !== undefined) onSelect(found);
  };
  const mark = (node: SpanNode | undefined) =>
    node !== undefined && lane.nodes.get(node.span.kind)?.includes(node)
      ? pixelsOf(axis, node.start, node.end ?? end, width)
      : undefined;
  const window = zoomed && pixelsOf(axis, zoomed.from, zoomed.to, width);
  const chosen = mark(selected);
  const top = marks.length > FEW_MARKS ? HEIGHT - SHORT_MARK : 0;
  const isFirst = firstFailure !== undefined && lane.failures[0] === firstFailure;
  return (
    <div class="lane">
      <span
        class="lane-name"
        style={{ paddingInlineStart: `${0.5 + Math.min(lane.depth, 6) * 0.6}rem` }}
      >
        <Name value={lane.agent} />
      </span>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the tree below has the keys */}
      <svg
        aria-label={laneText(lane)}
        height={HEIGHT}
        onClick={onClick}
        preserveAspectRatio="none"
        role="img"
        viewBox={`0 0 ${width} ${HEIGHT}`}
        width={width}
      >
        {window !== undefined && (
          <rect class="lane-window" height={HEIGHT} width={window.width} x={window.x} />
        )}
        {paths.map(({ d, name }) => (
          <path class={`lane-${name}`} d={d} fill={`url(#lane-${name})`} key={name} />
        ))}
        {chosen !== undefined && (
          <rect
            class="lane-selected"
            height={HEIGHT - 1}
            width={chosen.width}
            x={chosen.x}
            y={0.5}
          />
        )}
        {marks.length > 0 && (
          <g class="lane-failure">
            <path d={marks.map((x) => `M${within(x, width)} ${top}V${HEIGHT}`).join("")} />
            {isFirst && (
              <text x={clampText(marks[0] ?? 0, width)} y={9}>
                ✕ first failure
              </text>
            )}
          </g>
        )}
      </svg>
    </div>
  );
}

/** Width and height of the tile that fills the bars of a kind, and of its coloured part. */
const TILES = {
  run: [4, 4, 4, 4],
  model: [4, 4, 4, 4],
  tool: [4, 4, 4, 4],
  step: [4, 2, 4, 1.2],
  other: [3, 4, 1.5, 4],
  wait: [6, 6, 1.6, 6],
} as const;

/** Patterns of the bars: kinds differ without colour. Waits are hatched. */
function Patterns() {
  return (
    <svg aria-hidden="true" class="lane-patterns" height="0" width="0">
      <defs>
        {Object.entries(TILES).map(([kind, [width, height, barWidth, barHeight]]) => (
          <pattern
            height={height}
            id={`lane-${kind}`}
            key={kind}
            patternTransform={kind === "wait" ? "rotate(45)" : undefined}
            patternUnits="userSpaceOnUse"
            width={width}
          >
            <rect class={kind} height={barHeight} width={barWidth} />
          </pattern>
        ))}
      </defs>
    </svg>
  );
}

/** One path for each kind: 20,000 spans are a few elements. */
function pathsOf(lane: Lane, width: number, axis: TimeAxis, end: number) {
  const scale = (time: number) => axis.share(time) * width;
  const waits = [...lane.waits].sort((one, other) => one.start - other.start);
  const kinds = SPAN_KINDS.map((kind) => {
    const { height, y } = TRACKS[kind];
    return { name: kind, d: pathOf(mergedBars(lane.nodes.get(kind) ?? [], scale, end), y, height) };
  });
  return [{ name: "wait", d: pathOf(mergedBars(waits, scale, end), 0, HEIGHT) }, ...kinds].filter(
    ({ d }) => d !== "",
  );
}

function pathOf(bars: readonly Bar[], y: number, height: number): string {
  return bars.map(({ from, to }) => `M${from} ${y}h${to - from}v${height}h${from - to}z`).join("");
}

function kindAt(y: number): SpanKindName | undefined {
  return SPAN_KINDS.find((kind) => {
    const track = TRACKS[kind];
    return y >= track.y - 1 && y <= track.y + track.height;
  });
}

function* all(lane: Lane): Generator<SpanNode> {
  for (const nodes of lane.nodes.values()) yield* nodes;
}

function pixelsOf(axis: TimeAxis, start: number, end: number, width: number) {
  const position = positionOn(axis, start, end);
  return position && { x: position.start * width, width: Math.max(2, position.length * width) };
}

/** A mark at the end of the run would be half outside of the picture. */
function within(x: number, width: number): number {
  return Math.min(Math.max(x, 1), width - 1);
}

/** A text of about 80 pixels stays within the picture. */
function clampText(x: number, width: number): number {
  return Math.max(2, Math.min(x + 3, width - 82));
}

const SEGMENT = { word: "segment", plural: "segments" };

function laneText({ agent, failures, nodes, waits }: Lane): string {
  const parts = SPAN_KINDS.flatMap((kind) => {
    const number = nodes.get(kind)?.length ?? 0;
    const { plural, word } = kind === "run" ? SEGMENT : kindWords(kind);
    return number === 0 ? [] : `${count(number)} ${number === 1 ? word : plural}`;
  });
  if (failures.length > 0) parts.push(counted(failures.length, "failure"));
  if (waits.length > 0) parts.push(`${count(waits.length)} waits for people`);
  return `${safe(cut(agent, 200).text)}: ${parts.join(", ")}`;
}

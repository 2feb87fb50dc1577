import { useState } from "preact/hooks";
import { count, counted, cut, safe } from "../../../events/format/door.ts";
import {
  type FailureBar,
  type FailureBars,
  OTHER_KINDS,
  UNKNOWN_KIND,
} from "../../model/failure-bars.ts";
import { localTime } from "../../model/formats.ts";
import { type ListQuery, toggled } from "../../model/list-query.ts";
import { Name } from "../shell/text.tsx";

export interface FailureChartProps {
  readonly failures: FailureBars;
  readonly list: ListQuery;
  readonly onChange: (list: ListQuery) => void;
}

/** Runs over time, and on top the failed ones by kind. A bar filters by its time, a kind by itself. */
export function FailureChart({ failures, list, onChange }: FailureChartProps) {
  const { bars, highest, kinds } = failures;
  const [first, last] = [bars[0], bars.at(-1)];
  const [active, setActive] = useState(0);
  if (first === undefined || last === undefined) return null;
  const names = [...kinds.keys()];
  const precision = last.toMs - first.fromMs < 10 * 60_000 ? "seconds" : "minutes";
  const filled = bars.filter(({ runs }) => runs > 0);
  const stop = filled[Math.min(active, filled.length - 1)];
  const onKeyDown = (event: KeyboardEvent & { readonly currentTarget: HTMLElement }) => {
    const next = nextBar(event.key, active, filled.length);
    if (next === undefined) return;
    event.preventDefault();
    setActive(next);
    event.currentTarget.querySelectorAll("button")[next]?.focus();
  };
  return (
    <section aria-labelledby="failures-title" class="chart panel">
      <div class="row">
        <h2 id="failures-title">Runs over time</h2>
        <span class="muted">{kinds.size > 0 && "failed ones on top, by kind"}</span>
        <ul class="failure-legend row">
          {names.map((kind, at) => (
            <li key={kind}>
              <Legend
                at={at}
                count={kinds.get(kind) ?? 0}
                kind={kind}
                list={list}
                onChange={onChange}
              />
            </li>
          ))}
        </ul>
      </div>
      {/* Limits the width of a bar if there are few. */}
      <div style={{ maxWidth: `${Math.max(bars.length, 11) * 3}rem` }}>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: arrow keys go from bar to bar; each is a button. */}
        <div class="bars" onKeyDown={onKeyDown}>
          {bars.map((bar) =>
            bar.runs === 0 ? (
              <span class="failure-bar" key={bar.fromMs} />
            ) : (
              <button
                aria-label={`${barTime(bar)}: ${barText(bar)}. Show these runs.`}
                class="failure-bar"
                key={bar.fromMs}
                onClick={() => onChange({ ...list, fromMs: bar.fromMs, toMs: bar.toMs })}
                onFocus={() => setActive(filled.indexOf(bar))}
                tabIndex={bar === stop ? 0 : -1}
                title={`${barTime(bar)}: ${barText(bar)}`}
                type="button"
              >
                <span class="bar-rest" style={{ height: share(bar.runs - bar.failed, highest) }} />
                {kindsOf(bar).map(([kind, n]) => (
                  <span
                    class={`pattern-${names.indexOf(kind)}`}
                    key={kind}
                    style={{ height: share(n, highest) }}
                  />
                ))}
              </button>
            ),
          )}
        </div>
        <div class="failure-axis muted">
          <span>{localTime(first.fromMs, precision)}</span>
          <span>highest bar: {counted(highest, "run")}</span>
          <span>{localTime(last.toMs, precision)}</span>
        </div>
      </div>
      <FailureTable bars={filled} />
    </section>
  );
}

function Legend(props: {
  readonly at: number;
  readonly kind: string;
  readonly count: number;
  readonly list: ListQuery;
  readonly onChange: (list: ListQuery) => void;
}) {
  const { kind, list } = props;
  const content = (
    <>
      <span aria-hidden="true" class={`swatch pattern-${props.at}`} />
      <Name value={kind} /> <span class="muted">{count(props.count)}</span>
    </>
  );
  if (kind === OTHER_KINDS) return <span class="row">{content}</span>;
  const value = kind === UNKNOWN_KIND ? "" : kind;
  return (
    <button
      aria-pressed={list.chosen.kind.has(value)}
      onClick={() => props.onChange(toggled(list, "kind", value))}
      type="button"
    >
      {content}
    </button>
  );
}

/** The same as a table, for screen readers and for exact numbers. */
function FailureTable({ bars }: { readonly bars: readonly FailureBar[] }) {
  const [open, setOpen] = useState(false);
  return (
    <details class="no-print" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>As a table</summary>
      {open && (
        <table>
          <thead>
            <tr>
              <th scope="col">Time</th>
              <th class="number" scope="col">
                Runs
              </th>
              <th class="number" scope="col">
                Failed
              </th>
              <th scope="col">By kind</th>
            </tr>
          </thead>
          <tbody>
            {bars.map((bar) => (
              <tr key={bar.fromMs}>
                <td>{barTime(bar)}</td>
                <td class="number">{count(bar.runs)}</td>
                <td class="number">{count(bar.failed)}</td>
                <td>{kindsText(bar)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </details>
  );
}

function nextBar(key: string, active: number, length: number): number | undefined {
  switch (key) {
    case "ArrowLeft":
      return Math.max(active - 1, 0);
    case "ArrowRight":
      return Math.min(active + 1, length - 1);
    case "Home":
      return 0;
    case "End":
      return length - 1;
    default:
      return undefined;
  }
}

function barTime({ fromMs, toMs }: FailureBar): string {
  return `${localTime(fromMs)} to ${localTime(toMs)}`;
}

function barText(bar: FailureBar): string {
  const failed =
    bar.failed === 0 ? "none failed" : `${count(bar.failed)} failed: ${kindsText(bar)}`;
  return `${counted(bar.runs, "run")}, ${failed}`;
}

/** `2 internal, 1 cancelled` */
function kindsText(bar: FailureBar): string {
  return kindsOf(bar)
    .map(([kind, n]) => `${count(n)} ${safe(cut(kind, 60).text)}`)
    .join(", ");
}

function share(runs: number, highest: number): string {
  return `${(runs / highest) * 100}%`;
}

/** Kinds that occur in it. */
function kindsOf({ byKind }: FailureBar): readonly (readonly [string, number])[] {
  return [...byKind].filter(([, n]) => n > 0);
}

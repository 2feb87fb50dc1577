import { localTime } from "../../model/formats.ts";
import type { ListQuery } from "../../model/list-query.ts";
import { Menu } from "./menu.tsx";

export interface TimeMenuProps {
  readonly list: ListQuery;
  readonly onChange: (list: ListQuery) => void;
}

/** Chooses the time in which runs started, in the reader's time zone. */
export function TimeMenu({ list, onChange }: TimeMenuProps) {
  const { fromMs, toMs } = list;
  const isSet = fromMs !== undefined || toMs !== undefined;
  return (
    <Menu isSet={isSet} summary={isSet ? `Time: ${rangeText(fromMs, toMs)}` : "Time"}>
      <TimeField
        label="Started at or after"
        ms={fromMs}
        onChange={(ms) => onChange({ ...list, fromMs: ms })}
      />
      <TimeField
        label="Started before"
        ms={toMs}
        onChange={(ms) => onChange({ ...list, toMs: ms })}
      />
      {isSet && (
        <button
          onClick={() => onChange({ ...list, fromMs: undefined, toMs: undefined })}
          type="button"
        >
          Any time
        </button>
      )}
    </Menu>
  );
}

function TimeField(props: {
  readonly label: string;
  readonly ms: number | undefined;
  readonly onChange: (ms: number | undefined) => void;
}) {
  return (
    <label class="field">
      {props.label}
      <input
        onChange={({ currentTarget }) => {
          // A value without a zone is local time.
          const ms = Date.parse(currentTarget.value);
          props.onChange(Number.isNaN(ms) ? undefined : ms);
        }}
        step="1"
        type="datetime-local"
        value={props.ms === undefined ? "" : localTime(props.ms).replace(" ", "T")}
      />
    </label>
  );
}

function rangeText(fromMs: number | undefined, toMs: number | undefined): string {
  const text = (ms: number) => localTime(ms, ms % 60_000 === 0 ? "minutes" : "seconds");
  if (fromMs === undefined) return toMs === undefined ? "any" : `before ${text(toMs)}`;
  if (toMs === undefined) return `from ${text(fromMs)}`;
  const [from, to] = [text(fromMs), text(toMs)];
  return `${from} to ${from.slice(0, 10) === to.slice(0, 10) ? to.slice(11) : to}`;
}

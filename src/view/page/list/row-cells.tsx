import type { ComponentChildren } from "preact";
import { count, counted, cut, safe } from "../../../events/format/door.ts";
import { conversationCounts } from "../../model/conversations.ts";
import { agoText, localTime, utcTime } from "../../model/formats.ts";
import type { ListLine } from "../../model/list-lines.ts";
import { storyLine } from "../../model/story-words.ts";
import { runAddress } from "../route.ts";
import { Name } from "../shell/text.tsx";

/** How long ago a run began, and below it the time. `precise`: with milliseconds. */
export function RowTime(props: {
  readonly ms: number;
  readonly now: number;
  readonly precise: boolean;
}) {
  const { ms, now, precise } = props;
  const ago = agoText(ms, now);
  const [text, present] = [localTime(ms, precise ? "milliseconds" : "seconds"), localTime(now)];
  // Without the day of today, and without this year.
  const known = [11, 5].find((length) => text.slice(0, length) === present.slice(0, length)) ?? 0;
  const time = text.slice(known);
  const title = `${localTime(ms, "milliseconds")}, ${utcTime(ms)} (UTC)`;
  return (
    <time dateTime={utcTime(ms)} title={title}>
      {ago === undefined ? (
        time
      ) : (
        <>
          {ago}
          <span class="second-line">{time}</span>
        </>
      )}
    </time>
  );
}

/** The question, and below it how the run went. */
export function RowStory({ line }: { readonly line: ListLine }) {
  const { folded, run } = line.row;
  const story = storyLine(run);
  const failed = folded?.kind === "conversation" ? conversationCounts(line.row).failed : 0;
  return (
    <>
      {run.question !== undefined && <RowName line={line} value={run.question} />}
      {(story !== undefined || failed > 0) && (
        <span class={`second-line story-${story?.tone ?? "plain"}`}>
          {!hasFoldAtName(line) && <Fold line={line} />}{" "}
          {failed > 0 && <strong class="story-bad">{count(failed)} failed. </strong>}
          {story !== undefined && <Name value={story.text} />}
        </span>
      )}
    </>
  );
}

/** The name of a line, which is its question or its agent. It leads to the run; that of a conversation opens it. */
export function RowName({
  line,
  value,
}: {
  readonly line: ListLine;
  readonly value?: string | undefined;
}) {
  const { folded, run } = line.row;
  const name: ComponentChildren =
    value === undefined ? <span class="muted">(none)</span> : <Name value={value} />;
  return (
    <span class="line-name">
      {hasFoldAtName(line) && <Fold line={line} />}
      {folded?.kind === "conversation" ? (
        name
      ) : (
        // The row has the focus, and opens with Enter.
        <a href={runAddress(run.key)} tabIndex={-1}>
          {name}
          <span class="visually-hidden">, run {safe(cut(run.run_id, 100).text)}</span>
        </a>
      )}
    </span>
  );
}

/** Whether the button for the rows below a line is beside its name: without a question it is beside its story. */
function hasFoldAtName({ row: { run } }: ListLine): boolean {
  return run.question !== undefined || storyLine(run) === undefined;
}

/** Class of the button that shows and hides the rows below a row: the table handles its clicks. */
export const FOLD = "row-fold";

function Fold({ line: { isOpen, row } }: { readonly line: ListLine }) {
  const { folded } = row;
  if (folded === undefined) return null;
  const thing = folded.kind === "pauses" ? "pause" : "run";
  return (
    <button aria-expanded={isOpen} class={FOLD} tabIndex={-1} type="button">
      <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span> {counted(folded.rows.length, thing)}
    </button>
  );
}

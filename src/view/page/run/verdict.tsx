import { count, counted } from "../../../events/format/door.ts";
import type { RunDetail, ViewProblem, ViewVerdict } from "../../format.ts";
import { Text } from "../shell/text.tsx";
import { Time } from "../shell/time.tsx";

const LOOKS: Readonly<Record<ViewVerdict["state"], { tone: string; sign: string }>> = {
  intact: { tone: "good", sign: "✓" },
  open: { tone: "plain", sign: "…" },
  unclosed: { tone: "unsure", sign: "?" },
  damaged: { tone: "bad", sign: "✕" },
  checking: { tone: "plain", sign: "…" },
};

export interface VerdictLineProps {
  readonly from: RunDetail["rows_from"];
  readonly verdict: ViewVerdict | undefined;
}

/** Result of the verification of the audit log, with advice and problems. */
export function VerdictLine({ from, verdict }: VerdictLineProps) {
  if (verdict === undefined) return <p class="muted">{withoutVerdict(from)}</p>;
  const { advice, problem_count, problems, rows, state, text, verified_at } = verdict;
  const { sign, tone } = LOOKS[state];
  const more = advice.length > 0 || problems.length > 0;
  return (
    <div class={more ? `note ${tone}` : undefined}>
      <p class="row">
        <span class={`badge wraps ${tone}`}>
          <i aria-hidden="true">{sign}</i>
          <span>
            Audit log: <Text value={text} />
          </span>
        </span>
        <span class="muted">
          {counted(rows, "row")} checked
          {verified_at !== undefined && (
            <>
              {" at "}
              <Time ms={Date.parse(verified_at)} />
            </>
          )}
        </span>
      </p>
      {advice.map((line) => (
        <p key={line}>
          <Text lines value={line} />
        </p>
      ))}
      {problems.length > 0 && <Problems all={problem_count} problems={problems} />}
    </div>
  );
}

function withoutVerdict(from: RunDetail["rows_from"]): string {
  switch (from) {
    case "log":
      return "The audit log of these rows was not verified.";
    case "replay":
      return "No audit log was given. These are the rows that replay --audit would write.";
    case "none":
      return "No audit log or recording was given, so there are no rows.";
    default:
      return from satisfies never;
  }
}

function Problems({
  all,
  problems,
}: {
  readonly all: number;
  readonly problems: readonly ViewProblem[];
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
    <ul class="verdict-problems" tabIndex={0}>
      {problems.map(({ line, place, problem }) => (
        <li key={`${place} ${line} ${problem}`}>
          <Text value={line === undefined ? place : `${place}, line ${line}`} />:{" "}
          <Text value={problem} />
        </li>
      ))}
      {all > problems.length && <li>{count(all - problems.length)} more problems</li>}
    </ul>
  );
}

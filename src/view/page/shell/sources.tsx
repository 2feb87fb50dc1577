import { count, counted, percent, safe } from "../../../events/format/door.ts";
import type { ViewProblem, ViewSource, ViewVerdict } from "../../format.ts";
import { Text } from "./text.tsx";
import { Time } from "./time.tsx";

const KINDS: Readonly<Record<ViewSource["kind"], string>> = {
  recording: "recording",
  spans: "span file",
  folder: "folder",
  "audit-log": "audit log",
  otlp: "spans that are sent here",
  database: "database",
  jaeger: "Jaeger",
};

const TONES: Readonly<Record<ViewVerdict["state"], string>> = {
  intact: "good",
  open: "plain",
  unclosed: "unsure",
  damaged: "bad",
  checking: "plain",
};

const SIGNS: Readonly<Record<ViewVerdict["state"], string>> = {
  intact: "✓",
  open: "…",
  unclosed: "?",
  damaged: "✕",
  checking: "…",
};

/** The sources, their problems, and the verdicts of the audit logs. */
export function Sources({ sources }: { readonly sources: readonly ViewSource[] }) {
  const wrong = sources.filter(isWrong);
  const reading = sources.filter(({ read }) => read < 1);
  return (
    <details class="sources panel" open={wrong.length > 0 && sources.length < 6}>
      <summary>
        {counted(sources.length, "source")}
        {reading.length > 0 && `, ${count(reading.length)} being read`}
        {wrong.length > 0 && (
          <>
            {" "}
            <span class="badge bad">
              <i aria-hidden="true">!</i> {count(wrong.length)} with problems
            </span>
          </>
        )}
      </summary>
      <ul>
        {sources.map((source) => (
          <li key={`${source.kind} ${source.name}`}>
            <Source source={source} />
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Whether a source is damaged, or parts of it could not be read. */
function isWrong({ problem_count, verdict }: ViewSource): boolean {
  return problem_count > 0 || verdict?.state === "damaged";
}

function Source({ source }: { readonly source: ViewSource }) {
  const { followed, kind, name, problem_count, problems, read, verdict } = source;
  return (
    <>
      <p>
        <strong>
          <Text value={name} />
        </strong>{" "}
        <span class="muted">
          {KINDS[kind]}, {read < 1 ? `${percent(read)} read` : "read"}
          {followed ? ", followed" : ""}
        </span>
      </p>
      {verdict !== undefined && <Verdict verdict={verdict} />}
      <Problems count={problem_count} problems={problems} />
    </>
  );
}

/** Result of the verification of a log, with next steps. */
export function Verdict({ verdict }: { readonly verdict: ViewVerdict }) {
  const { advice, problem_count, problems, rows, state, text, verified_at } = verdict;
  return (
    <div>
      <p class="row">
        <span class={`badge ${TONES[state]}`}>
          <i aria-hidden="true">{SIGNS[state]}</i>
          <bdi>{safe(text)}</bdi>
        </span>
        <span class="muted">
          {counted(rows, "row")}
          {verified_at !== undefined && (
            <>
              , verified <Time ms={Date.parse(verified_at)} />
            </>
          )}
        </span>
      </p>
      {advice.map((sentence) => (
        <p key={sentence}>
          <Text value={sentence} />
        </p>
      ))}
      <Problems count={problem_count} problems={problems} />
    </div>
  );
}

function Problems(props: { readonly count: number; readonly problems: readonly ViewProblem[] }) {
  const more = props.count - props.problems.length;
  if (props.count === 0) return null;
  return (
    <ul class="problems">
      {props.problems.map((problem, at) => (
        <li key={at}>
          <code>
            <Text value={locationOf(problem)} />
          </code>
          : <Text value={problem.problem} />
        </li>
      ))}
      {more > 0 && <li class="muted">{counted(more, "more problem")}</li>}
    </ul>
  );
}

function locationOf({ line, place }: ViewProblem): string {
  return line === undefined ? place : `${place}:${line}`;
}

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { count, counted, durationText } from "../../../events/format/door.ts";
import type { RelatedRun, ViewRun } from "../../format.ts";
import { dollars, msOf } from "../../model/formats.ts";
import type { RunModel } from "../../model/run-model.ts";
import { Badge } from "../shell/badge.tsx";
import { ContentNote } from "../shell/content-note.tsx";
import { CopyButton } from "../shell/copy-button.tsx";
import { Text } from "../shell/text.tsx";
import { Time } from "../shell/time.tsx";
import { RunLink } from "./run-link.tsx";
import { Story } from "./story.tsx";
import { VerdictLine } from "./verdict.tsx";

export interface RunHeaderProps {
  readonly model: RunModel;
  readonly isReport: boolean;
}

/** What happened in a run, then its figures, related runs and IDs. */
export function RunHeader({ isReport, model }: RunHeaderProps) {
  const { detail } = model;
  const { content, run, trace_url, verdict } = detail;
  const { failure_kind, failure_origin, interruption_kind } = run;
  return (
    <header class="run-header">
      <div class="row">
        <Title name={run.agent ?? "Agent without a name"} />
        <Badge outcome={run.outcome} />
        {failure_kind !== undefined && (
          <span class="muted">
            <Text value={failure_kind} />
            {failure_origin !== undefined && (
              <>
                {" from "}
                <Text value={failure_origin} />
              </>
            )}
          </span>
        )}
        {interruption_kind !== undefined && (
          <span class="muted">
            <Text value={interruption_kind} />
          </span>
        )}
      </div>
      <Story model={model} run={run} />
      <Facts model={model} />
      <ContentNote content={content} isReport={isReport} />
      <div class="row run-foot">
        {verdict !== undefined && <VerdictLine from={detail.rows_from} verdict={verdict} />}
        <span>
          <span class="muted">Run</span>{" "}
          <span class="mono">
            <Text limit={80} value={run.run_id} />
          </span>
        </span>
        <CopyButton label="Copy run ID" text={run.run_id} />
        {trace_url !== undefined && <CopyButton label="Copy trace URL" text={trace_url} />}
        <CopyButton label="Copy run as JSON" text={() => JSON.stringify(detail, undefined, 2)} />
      </div>
    </header>
  );
}

/** The heading. It gets the focus when a run is opened, because the link that had it is gone. */
function Title({ name }: { readonly name: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <h1 ref={heading} tabIndex={-1}>
      <Text limit={120} value={name} />
    </h1>
  );
}

function Facts({ model }: { readonly model: RunModel }) {
  const { related, run } = model.detail;
  const { cost_usd, degraded, input_tokens, loop, output_tokens, waiting_ms, working_ms } = run;
  const hasTokens = input_tokens !== undefined || output_tokens !== undefined;
  const of = (relation: RelatedRun["relation"]) =>
    related.filter((other) => other.relation === relation);
  return (
    <>
      <dl class="facts figures">
        <Fact name="Duration">
          {working_ms === undefined ? "still open" : durationText(working_ms)}
        </Fact>
        {waiting_ms !== undefined && waiting_ms > 0 && (
          <Fact name="Waiting for people">{waitText(model.detail.run, waiting_ms)}</Fact>
        )}
        {hasTokens && (
          <Fact name="Tokens">
            {count(input_tokens ?? 0)} in, {count(output_tokens ?? 0)} out
          </Fact>
        )}
        {cost_usd !== undefined && (
          <Fact name="Cost">
            <span title={`$${cost_usd}`}>{dollars(cost_usd)}</span>
            {run.estimated_by !== undefined && <>, estimated by {run.estimated_by}</>}
          </Fact>
        )}
      </dl>
      <dl class="facts">
        {NAMED.map(({ name, read }) => {
          const value = read(run);
          return (
            value !== undefined && (
              <Fact key={name} name={name}>
                <Text limit={80} value={value} />
              </Fact>
            )
          );
        })}
        <Fact name="Started">
          <Time ms={msOf(run.start_ns)} precision="milliseconds" />
        </Fact>
        <Fact name="Spans">{count(model.tree.nodes.length)}</Fact>
        {degraded !== undefined && degraded.length > 0 && (
          <Fact name="Tools whose last call failed">
            <Text value={degraded.join(", ")} />
          </Fact>
        )}
        {loop !== undefined && (
          <Fact name="Loop of tool calls">
            <Text value={loop} />
          </Fact>
        )}
        <Related name="Parent run" runs={of("parent")} />
        <Related name="Resumes" runs={of("resumes")} />
        <Related name="Resumed by" runs={of("resumed_by")} />
        <Related name={counted(of("child").length, "child run")} runs={of("child")} />
      </dl>
    </>
  );
}

/** Facts that are a text, in their order. */
const NAMED: readonly {
  readonly name: string;
  readonly read: (run: ViewRun) => string | undefined;
}[] = [
  { name: "Model", read: ({ model }) => model },
  { name: "Tenant", read: ({ tenant_id }) => (tenant_id === "" ? undefined : tenant_id) },
  { name: "User", read: ({ user }) => user },
  { name: "Conversation", read: ({ thread_id }) => thread_id },
  { name: "Session", read: ({ session }) => session },
];

/** Most related runs of one kind that are listed before a button. */
const FEW = 5;

function Related({ name, runs }: { readonly name: string; readonly runs: readonly RelatedRun[] }) {
  if (runs.length === 0) return null;
  const list = (some: readonly RelatedRun[]) =>
    some.map((run) => (
      <li key={run.run_id}>
        <RunWithOutcome run={run} />
      </li>
    ));
  return (
    <Fact name={name}>
      <ul>{list(runs.slice(0, FEW))}</ul>
      {runs.length > FEW && (
        <details>
          <summary>{count(runs.length - FEW)} more</summary>
          <ul class="related">{list(runs.slice(FEW))}</ul>
        </details>
      )}
    </Fact>
  );
}

function RunWithOutcome({ run }: { readonly run: RelatedRun }) {
  return (
    <span class="row">
      <span>
        <RunLink run={run} />
        {run.key === undefined &&
          (run.other_tenant === true ? " (of another tenant)" : " (not in the list)")}
      </span>
      {run.outcome !== undefined && <Badge outcome={run.outcome} />}
    </span>
  );
}

/** A name with its value. */
export function Fact({
  children,
  name,
}: {
  readonly name: string;
  readonly children: ComponentChildren;
}) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** The wait, and how much of it was before a run that resumes another one. */
function waitText({ end_ns, start_ns, working_ms }: ViewRun, waitingMs: number): string {
  const within =
    end_ns === null || working_ms === undefined
      ? waitingMs
      : Number(BigInt(end_ns) - BigInt(start_ns)) / 1e6 - working_ms;
  const before = waitingMs - within;
  // Shorter ones may come from rounding.
  if (before < 0.1) return durationText(waitingMs);
  const part = within < 0.1 ? "" : `${durationText(before)} of it `;
  return `${durationText(waitingMs)}, ${part}before the run`;
}

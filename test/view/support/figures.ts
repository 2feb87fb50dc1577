import { MOST_RECEIVED_BYTES } from "../../../src/view/commands/open-sources.ts";
import { MOST_BYTES, MOST_RUNS } from "../../../src/view/commands/write-report.ts";
import { MOST_BARS, MOST_KINDS } from "../../../src/view/model/failure-bars.ts";
import { MOST_LISTED, MOST_PRINTED, MOST_VALUES } from "../../../src/view/model/list-limits.ts";
import { MOST_LEFT_OUT_IDS } from "../../../src/view/runs/left-out-runs.ts";
import { DEEPEST_CHILD } from "../../../src/view/runs/run-detail.ts";
import { MOST_OTHER_TRACES } from "../../../src/view/runs/traces.ts";
import { MOST_SENT_BYTES, RECEIVER_CONNECTIONS } from "../../../src/view/server/span-receiver.ts";
import { MOST_CONNECTIONS } from "../../../src/view/server/view-server.ts";
import { MOST_SEARCHES, MOST_TRACES } from "../../../src/view/sources/jaeger.ts";
import { MOST_VERDICT_PROBLEMS } from "../../../src/view/sources/log-verdict.ts";
import { REMEMBERED_THREADS } from "../../../src/view/sources/logs.ts";
import { MOST_NAMES } from "../../../src/view/sources/recorded-lines.ts";
import { SourceState } from "../../../src/view/sources/source-state.ts";

/** The limits of this room as its code has them, by their rows in `docs/limits.md`. */
export const VIEW_FIGURES: Readonly<Record<string, () => number | Promise<number>>> = {
  "IDs of left-out runs": () => MOST_LEFT_OUT_IDS,
  "names of runs and threads of a followed recording": () => MOST_NAMES,
  "traces without a run": () => MOST_OTHER_TRACES,
  "problems of a source": () => {
    const state = new SourceState("run.ndjson", "recording", false, () => {});
    for (let line = 1; line <= 1_000; line += 1) state.problem("run.ndjson", "no event", line);
    return state.view().problem_count === 1_000 ? state.view().problems.length : 0;
  },
  "problems of a verdict": () => MOST_VERDICT_PROBLEMS,
  "traces of a search in Jaeger": () => MOST_TRACES,
  "names of runs in Jaeger": () => MOST_SEARCHES,
  "levels of child runs": () => DEEPEST_CHILD,
  "threads of a log": () => REMEMBERED_THREADS,
  "runs of the list": () => MOST_LISTED,
  "rows of a print": () => MOST_PRINTED,
  "values that a filter of the list shows": () => MOST_VALUES,
  "bars of failures over time": () => MOST_BARS,
  "failure kinds with their own pattern": () => MOST_KINDS,
  "runs of a report": () => MOST_RUNS,
  "bytes of a report": () => MOST_BYTES,
  "connections to the page": () => MOST_CONNECTIONS,
  "bytes of the spans that --listen keeps": () => MOST_RECEIVED_BYTES,
  "bytes of a request to --listen": () => MOST_SENT_BYTES,
  "connections to --listen": () => RECEIVER_CONNECTIONS.most + RECEIVER_CONNECTIONS.spare,
};

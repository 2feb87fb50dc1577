import type { Board, Section } from "../board.ts";
import { bars } from "../charts.ts";
import { figure, rows } from "../figures.ts";
import { FINGERPRINT, JOB } from "../labels.ts";
import { type Clicked, jaegerLink, labelOf } from "../links.ts";
import { grown, grownAgo, orZero, RANGE, STEP, series, sum } from "../queries.ts";
import { OF_SERVICE } from "../scope.ts";
import { intervalVariable, serviceVariable } from "../variables.ts";

const all = series("entelix_failures_total", OF_SERVICE);
const other = series("entelix_failures_total", OF_SERVICE, `${FINGERPRINT}="_other"`);
/** Failures that have a fingerprint of their own. */
const named = series("entelix_failures_total", OF_SERVICE, `${FINGERPRINT}!="_other"`);
const KEY = [JOB, FINGERPRINT];

const traces = (clicked: Clicked) =>
  jaegerLink("Traces with this failure", clicked, {
    tags: { "entelix.failure.fingerprint": labelOf(clicked, FINGERPRINT) },
  });

const numbers: Section = {
  title: "In the time range; all tenants together",
  lines: [
    {
      height: 4,
      panels: [
        figure({
          title: "Failures",
          description:
            "Root runs and tool calls that failed, also calls that the agent recovered from.",
          unit: "short",
          expr: orZero(sum([], grown(all, RANGE))),
          steps: ["green", [1, "orange"]],
        }),
        figure({
          title: "Different failures",
          description: "Fingerprints of failures of the time range, by service.",
          unit: "short",
          expr: orZero(`count(${sum(KEY, grown(named, RANGE))} > 0)`),
          steps: ["text"],
        }),
        figure({
          title: "Without a fingerprint of their own",
          description:
            "Failures counted as `_other`: more than 99 fingerprints came in 24 hours. Look for a name that holds an ID.",
          unit: "short",
          expr: orZero(sum([], grown(other, RANGE))),
          steps: ["green", [1, "red"]],
        }),
      ],
    },
  ],
};

const groups: Section = {
  title: "By fingerprint: kind | origin | tool or model | class of the error | wire code",
  lines: [
    {
      height: 9,
      panels: [
        bars({
          title: "Failures by fingerprint",
          description:
            "Failures of one cause together, `_other` included. A click leads to the traces.",
          unit: "short",
          queries: [{ expr: sum(KEY, grown(all, STEP)), legend: `{{${FINGERPRINT}}} {{${JOB}}}` }],
          links: [traces("series")],
        }),
      ],
    },
    {
      height: 12,
      panels: [
        rows({
          title: "Fingerprints in the time range",
          description:
            "How often each came, and how long before the end of the time range it came first and last. A click on a row leads to its traces.",
          unit: "short",
          labels: { [FINGERPRINT]: "Fingerprint", [JOB]: "Service" },
          values: [
            { header: "Failures", expr: `${sum(KEY, grown(named, RANGE))} > 0` },
            { header: "First, ago", expr: grownAgo("first", KEY, named), unit: "s" },
            { header: "Last, ago", expr: grownAgo("last", KEY, named), unit: "s" },
          ],
          links: [traces("row")],
        }),
      ],
    },
  ],
};

/** What failed, by what failures of one cause have in common. */
export const failures: Board = {
  key: "failures",
  title: "Entelix: failures by fingerprint",
  description:
    "Failures of one cause together: how many, since when, until when, and their traces.",
  variables: [serviceVariable(), intervalVariable()],
  sections: [numbers, groups],
};

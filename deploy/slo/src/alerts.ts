import { RECORDS } from "./records.ts";

/** Fewer bad runs in the long window raise no alert, however few runs there are. */
const LEAST_BAD_RUNS = 3;

const RUNBOOK = `**Start.** The description names the most frequent origin: \`model\`, \`tool\` or \`run\`. The dashboard of failures by
[fingerprint](fingerprints.md) shows the tool or model, the error class and the code.

**Meaning.** An objective of \`deploy/slo/objectives.yml\` allows a share of bad runs in 30 days: its error budget. The burn rate is the
current share of bad runs divided by the allowed share: at 1 the budget lasts exactly 30 days. A root run is bad if it failed with a
kind and origin of the objective, or if its working time is above the limit. Pauses, denied calls, cancelled runs and waits for people
do not count.
`;

const FAST = `${RUNBOOK}
**First look.** The description names the most frequent failure kind and origin; the link searches for such runs. The Objectives
dashboard shows the affected budgets and the start. An alert for a failure kind or a tool usually fires at the same time and has more
details.

**Usual causes.** The model provider or a tool is down, a credential expired, a deployment broke the agent, or a provider is slow.

**What to do.** Follow the runbook of the failure kind. If a deployment caused it, roll it back. Inform the owner of the objective.
The alert ends within 30 minutes after the runs are good again.`;

const SLOW = `${RUNBOOK}
**First look.** The Objectives dashboard shows the failures that used up the budget, by kind and origin, and the rest of the budget. The
fingerprints show the most frequent cause.

**Usual causes.** One tool or model that often fails, deadlines that are too short, or an objective that was never kept.

**What to do.** Plan the repair of the most frequent cause before the budget is used up. If the objective is stricter than users
need, change it in \`deploy/slo/objectives.yml\` and run \`npm run slo\`. [Objectives](objectives.md) has an example.`;

interface Burn {
  readonly long: string;
  readonly short: string;
  /** How many times as fast as in 30 days. */
  readonly above: number;
}

/** 2% of the budget in an hour, 5% in six. */
const PAGED: readonly Burn[] = [
  { long: "1h", short: "5m", above: 14.4 },
  { long: "6h", short: "30m", above: 6 },
];
/** 10% of the budget in three days. */
const TICKETED: readonly Burn[] = [{ long: "3d", short: "6h", above: 1 }];

/** The alerts of all objectives. */
export function alerts() {
  return [
    alert({
      name: "EntelixBudgetBurnsFast",
      severity: "page",
      burns: PAGED,
      summary: 'burns {{ $value | printf "%.1f" }} times as fast as its objective allows',
      over: "1h",
      lookback: "6h",
      when: "bad runs use up an error budget at 14.4 times the allowed rate for an hour, or at 6 times for 6 hours",
      runbook: FAST,
    }),
    alert({
      name: "EntelixBudgetBurnsSlowly",
      severity: "ticket",
      burns: TICKETED,
      summary: "will be used up before its 30 days are over",
      over: "3d",
      lookback: "2d",
      when: "bad runs use up an error budget faster than allowed, for 3 days",
      runbook: SLOW,
    }),
  ];
}

interface Alert {
  readonly name: string;
  readonly severity: "page" | "ticket";
  readonly burns: readonly Burn[];
  readonly summary: string;
  /** What burned most is looked for in this window. */
  readonly over: string;
  readonly lookback: string;
  readonly when: string;
  readonly runbook: string;
}

function alert({ burns, lookback, name, over, runbook, severity, summary, when }: Alert) {
  const most = mostBurned(over);
  return {
    alert: name,
    expr: burns.map(burning).join("\nor\n"),
    labels: { severity },
    annotations: {
      summary: `Error budget {{ $labels.objective }} of ${WHOSE} ${summary}`,
      description: `In ${burns.map(({ long }) => long).join(" or ")}, runs of {{ $labels.job }} were bad at {{ $value | printf "%.1f" }} times the rate that the objective {{ $labels.objective }} allows.{{ with $labels.within }} Bad are runs that work longer than {{ . }}.{{ end }}{{ with ${most} }}{{ with (first .).Labels }} Most of them: {{ .${KIND} }}, origin {{ .${ORIGIN} }}.{{ end }}{{ end }}`,
      runbook_url: `docs/alerts-agents.md#${name.toLowerCase()}`,
      jaeger: jaeger(most, lookback),
      when,
      runbook,
    },
  };
}

function burning({ above, long, short }: Burn): string {
  const { badRuns, burnRate, minimumRuns, runs } = RECORDS;
  return [
    "(",
    `  ${burnRate(long)} > ${above}`,
    `  and ${burnRate(short)} > ${above}`,
    `  and ${badRuns(long)} >= ${LEAST_BAD_RUNS}`,
    `  and ${runs(long)} >= on (objective) group_left () ${minimumRuns}`,
    ")",
  ].join("\n");
}

const KIND = "entelix_failure_kind";
const ORIGIN = "entelix_failure_origin";
const WHOSE = `{{ with $labels.gen_ai_agent_name }}{{ . }}{{ else }}{{ $labels.job }}{{ end }}{{ with $labels.entelix_tenant_id }} for tenant {{ . }}{{ end }}`;

/** A template's query for the kind and origin of most of the bad runs of the alert's objective. */
function mostBurned(window: string): string {
  const of = ["objective", "job", "gen_ai_agent_name", "entelix_tenant_id"];
  const matchers = of.map((label) => `${label}=%q`).join(", ");
  const counted = `${RECORDS.badRuns("1m")}{${matchers}, ${KIND}!=\\"\\"}[${window}]`;
  const query = `topk(1, sum by (${KIND}, ${ORIGIN}) (sum_over_time(${counted})) > 0)`;
  const values = of.map((label) => `$labels.${label}`).join(" ");
  return `printf "${query}" ${values} | query`;
}

/** Jaeger's search for bad runs: as those that burned most, or as slow as what is bad. */
function jaeger(most: string, lookback: string): string {
  const tag = (name: string, value: string) =>
    `%2C%22${name}%22%3A{{ ${value} | printf "%q" | urlquery }}`;
  const failed = [
    "%22entelix.run.outcome%22%3A%22failed%22",
    `{{ with ${most} }}{{ with (first .).Labels }}`,
    tag("entelix.failure.kind", `.${KIND}`),
    tag("entelix.failure.origin", `.${ORIGIN}`),
    "{{ end }}{{ end }}",
  ].join("");
  const who = [
    ["gen_ai.agent.name", "$labels.gen_ai_agent_name"],
    ["entelix.tenant_id", "$labels.entelix_tenant_id"],
  ].map(
    ([name = "", value = ""]) =>
      `{{ if not (match "^(_other|unknown)?$" ${value}) }}${tag(name, value)}{{ end }}`,
  );
  return [
    "http://127.0.0.1:16686/search?service=",
    '{{ reReplaceAll "^.*/" "" $labels.job | urlquery }}',
    `&lookback=${lookback}{{ with $labels.within }}&minDuration={{ . }}{{ end }}`,
    "&tags=%7B{{ if $labels.within }}%22gen_ai.operation.name%22%3A%22invoke_agent%22{{ else }}",
    failed,
    "{{ end }}",
    ...who,
    "%7D",
  ].join("");
}

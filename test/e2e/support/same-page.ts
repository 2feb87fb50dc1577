import type { Difference, Framework } from "./same-framework.ts";

/** What was reported of each scenario, a line a span. */
export type Reported = Readonly<Record<string, { readonly lines: readonly string[] }>>;

interface Found {
  readonly framework: Framework;
  readonly scenario: string;
  readonly difference: Difference;
}

const INTRODUCTION = `# The same run in every framework

This page compares the reports of all adapters with those of [\`runAgent\`](runtime.md), for the same scenarios. The
end-to-end tests play the scenarios with the real frameworks, in the oldest and the newest supported version. They
compare spans and audit rows, replay a recording of each scenario, which must make identical spans and rows, and check
this page. Names, steps, times and content are left out.

\`=\`: as \`runAgent\`. A number: it differs, see [below](#differences). \`-\`: the framework has no such scenario.`;

/** The page \`docs/frameworks.md\`. */
export function samePage(runtime: Reported, frameworks: readonly Framework[]): string {
  const scenarios = Object.keys(runtime);
  const all = frameworks.flatMap((framework) =>
    scenarios.flatMap((scenario): Found[] => {
      const difference = newestOf(framework)[scenario];
      return difference === undefined ? [] : [{ framework, scenario, difference }];
    }),
  );
  const different = all.filter(({ difference }) => difference.lines !== undefined);
  const absent = all.filter(({ difference }) => difference.lines === undefined);
  const cell = (framework: Framework, scenario: string) => {
    const isThis = (one: Found) => one.framework === framework && one.scenario === scenario;
    if (absent.some(isThis)) return "-";
    const at = different.findIndex(isThis);
    return at < 0 ? "=" : String(at + 1);
  };
  const row = (...cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rows = scenarios.map((scenario) =>
    row(scenario, ...frameworks.map((framework) => cell(framework, scenario))),
  );
  return `${[
    INTRODUCTION,
    [
      row("scenario", ...frameworks.map(({ name, page }) => `[${name}](${page})`)),
      row("---", ...frameworks.map(() => "---")),
      ...rows,
    ].join("\n"),
    "## Differences",
    ...different.map((one, at) => `${at + 1}. ${saidOf(one)}\n\n${block(one.difference.lines)}`),
    "## What a framework does not have",
    grouped(absent).join("\n"),
    "## Older versions",
    frameworks.flatMap(olderOf).join("\n"),
    "## What `runAgent` reports",
    "A line is a span: a run with its audit rows, a tool call or a model call.",
    ...Object.entries(runtime).map(([name, { lines }]) => `**${name}**\n\n${block(lines)}`),
  ].join("\n\n")}\n`;
}

function newestOf({ differences, ends }: Framework) {
  return { ...differences, ...ends.at(-1)?.differences };
}

const saidOf = ({ difference, framework, scenario }: Found) =>
  `${framework.name}, ${scenario}: ${difference.why}`;

const block = (lines: readonly string[] = []) => `\`\`\`text\n${lines.join("\n")}\n\`\`\``;

/** Scenarios that are absent for the same reason, a line. */
function grouped(absent: readonly Found[]): string[] {
  const reasons = new Map<string, string[]>();
  for (const { difference, framework, scenario } of absent) {
    const key = `- ${framework.name}: ${difference.why}`;
    reasons.set(key, [...(reasons.get(key) ?? []), scenario]);
  }
  return [...reasons].map(([reason, scenarios]) => `${reason} (${scenarios.join("; ")})`);
}

/** What only the oldest version does in another way. */
function olderOf({ ends, name }: Framework): string[] {
  const older = ends.slice(0, -1).flatMap(({ differences = {} }) => Object.entries(differences));
  return older.map(([scenario, { why }]) => `- ${name}, ${scenario}: ${why}`);
}

import type { Panel } from "./dashboard.ts";
import type { PanelData } from "./panel-data.ts";

/** What is wrong with the data of a panel: a query without data, or a name that its series do not have. */
export function panelProblems(panel: Panel, { answers }: PanelData): string[] {
  return answers.flatMap(({ series, target }) => {
    const where = `${panel.title} ${target.refId}`;
    const finite = series.some(({ points }) => points.some(([, value]) => Number.isFinite(value)));
    if (!finite) return [`${where}: no data`];
    const names = [...target.legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, name = ""]) => name);
    return [...names, ...linkLabels(panel)]
      .filter((name) => !series.some(({ labels }) => labels[name] !== undefined))
      .map((name) => `${where}: no series has the label ${name}`);
  });
}

/** The labels that the links of a panel take from what was clicked. */
export function linkLabels({ links }: Panel): string[] {
  return links.flatMap(({ url }) =>
    [...url.matchAll(/\$\{__(?:field\.labels|data\.fields)\.(\w+)/g)].map(([, name = ""]) => name),
  );
}

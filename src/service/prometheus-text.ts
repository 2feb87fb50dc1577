/** One value of a metric with its labels. */
export type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

/** The lines of one metric in Prometheus' text format. */
export function metricLines(
  name: string,
  kind: string,
  about: string,
  samples: readonly Sample[],
): string[] {
  return [
    `# HELP ${name} ${about}`,
    `# TYPE ${name} ${kind}`,
    ...samples.map(([labels, value]) => `${name}${labelText(labels)} ${value}`),
  ];
}

/** The sample of a metric without labels. */
export function one(value: number): readonly Sample[] {
  return [[{}, value]];
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const all = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return all.length === 0 ? "" : `{${all.join(",")}}`;
}

function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

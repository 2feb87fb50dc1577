const UNITS = [
  ["d", 86_400],
  ["h", 3_600],
  ["m", 60],
  ["s", 1],
] as const;

/** Seconds as Prometheus and Grafana write them, in the largest unit that leaves no rest: 300 is `5m`, 90 is `90s`. */
export function durationText(seconds: number): string {
  for (const [unit, length] of UNITS) {
    if (seconds >= length && seconds % length === 0) return `${seconds / length}${unit}`;
  }
  return `${Math.round(seconds * 1000)}ms`;
}

/** @throws RangeError for what is no number with one of the units ms, s, m, h, d */
export function durationSeconds(text: string): number {
  const [, number = "", unit = ""] = /^(\d+)(ms|s|m|h|d)$/.exec(text) ?? [];
  const length = unit === "ms" ? 0.001 : UNITS.find(([name]) => name === unit)?.[1];
  if (length === undefined) throw new RangeError(`${text}: expected a duration such as 15s or 5m`);
  return Number(number) * length;
}

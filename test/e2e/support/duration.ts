/** The units of Prometheus' durations in ms, in the order in which they are written. */
const UNITS = [
  ["y", 365 * 86_400_000],
  ["w", 7 * 86_400_000],
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
  ["ms", 1],
] as const;

const DURATION = new RegExp(`^${UNITS.map(([unit]) => `(?:(\\d+)${unit})?`).join("")}$`);

/** The milliseconds of a duration as Prometheus and Alertmanager write it (`1h30m`); undefined when it is none. */
export function parseDuration(text: string): number | undefined {
  const groups = DURATION.exec(text);
  if (groups === null || text === "") return undefined;
  return UNITS.reduce((total, [, ms], index) => total + ms * Number(groups[index + 1] ?? 0), 0);
}

/**
 * A duration divided by a factor.
 *
 * @throws RangeError when it is no duration, or what is left is no whole number of milliseconds.
 */
export function divideDuration(text: string, factor: number): string {
  const ms = parseDuration(text);
  if (ms === undefined) throw new RangeError(`expected a duration such as 5m, got "${text}"`);
  const divided = ms / factor;
  if (!Number.isInteger(divided)) {
    throw new RangeError(`${text} divided by ${factor} is no whole number of milliseconds`);
  }
  // Prometheus does not take "0ms" everywhere, but it takes "0s".
  return divided % 1000 === 0 ? `${divided / 1000}s` : `${divided}ms`;
}

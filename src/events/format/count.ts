const grouped = new Intl.NumberFormat("en-US");

/** A number of things with thousands separated: `12,345`. */
export function count(value: number): string {
  return grouped.format(value);
}

/** A number of things and what they are: `1 span`, `2 spans`. */
export function counted(value: number, thing: string, things = `${thing}s`): string {
  return `${count(value)} ${value === 1 ? thing : things}`;
}

/** A share from 0 to 1 as whole percent. 100% only where it is all. */
export function percent(share: number): string {
  return `${Math.floor(Math.min(Math.max(share, 0), 1) * 100)}%`;
}

/** The highest of some numbers, at least 0. A list of any length: as arguments of `Math.max` it would fill the stack. */
export function highest(values: Iterable<number>): number {
  let most = 0;
  for (const value of values) most = Math.max(most, value);
  return most;
}

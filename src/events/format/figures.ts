/** Made when it is first used: that takes 20 ms, more than the help of the command. */
let grouped: Intl.NumberFormat | undefined;

/** A number of things with thousands separated: `12,345`. */
export function count(value: number): string {
  grouped ??= new Intl.NumberFormat("en-US");
  return grouped.format(value);
}

/** A number of things and what they are: `1 span`, `2 spans`. */
export function counted(value: number, thing: string, things = `${thing}s`): string {
  return `${count(value)} ${value === 1 ? thing : things}`;
}

/** A share from 0 to 1 as whole percent, rounded down, so that only all is 100%. */
export function percent(share: number): string {
  return `${Math.floor(Math.min(Math.max(share, 0), 1) * 100)}%`;
}

/** The highest of some numbers, at least 0. Unlike the arguments of `Math.max`, the list may have any length. */
export function highest(values: Iterable<number>): number {
  let most = 0;
  for (const value of values) most = Math.max(most, value);
  return most;
}

/** A time in ms as short text: `850 µs`, `41 ms`, `1.2 s`, `12 min`, `3 h 5 min`, `4 d 2 h`. */
export function durationText(ms: number): string {
  if (ms < 0) return `-${durationText(-ms)}`;
  if (ms < 1) return `${Math.round(ms * 1000)} µs`;
  if (ms < 9.95) return `${ms.toFixed(1)} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

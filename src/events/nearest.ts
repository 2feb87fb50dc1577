/**
 * The most similar name, if it is close enough to be a typing error.
 *
 * @param most number of typing errors. Default: a third of the length.
 */
export function nearest(
  typed: string,
  names: readonly string[],
  most = Math.max(1, Math.floor(typed.length / 3)),
): string | undefined {
  let best: string | undefined;
  let least = most + 1;
  for (const name of names) {
    const distance = editDistance(typed, name);
    if (distance < least || (name.startsWith(typed) && typed.length > 1 && best === undefined)) {
      best = name;
      least = Math.min(least, distance);
    }
  }
  return best;
}

/** Number of insertions, deletions, replacements and swaps of neighbours between two texts. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let least = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) least = Math.min(least, (beforeLast[j - 2] ?? 0) + 1);
      row.push(least);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}

/**
 * Indices of a longest strictly rising selection of some numbers, ascending: what to keep so that as
 * much as possible stands in order.
 */
export function longestRise(numbers: readonly number[]): readonly number[] {
  /** For each length of a rise the index of the lowest number that ends one. */
  const ends: number[] = [];
  const before: (number | undefined)[] = [];
  for (const [index, number] of numbers.entries()) {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((numbers[ends[middle] ?? 0] ?? 0) < number) low = middle + 1;
      else high = middle;
    }
    before.push(ends[low - 1]);
    ends[low] = index;
  }
  const rise: number[] = [];
  for (let at = ends.at(-1); at !== undefined; at = before[at]) rise.push(at);
  return rise.reverse();
}

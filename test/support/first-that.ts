/** The least number from `begin` and below `end` that a condition holds for, which holds for all above it too. */
export function firstThat(end: number, holds: (n: number) => boolean, begin = 0): number {
  let low = begin;
  let high = end;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

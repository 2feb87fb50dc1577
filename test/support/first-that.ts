/** The least number below `end` that a condition holds for, which holds for all above it too. */
export function firstThat(end: number, holds: (n: number) => boolean): number {
  let low = 0;
  let high = end;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** How much of a piece of work was done at a time, in ms. */
export interface Look {
  readonly ms: number;
  readonly done: number;
}

/** The rate is that from here to there, in shares of what was done: begin and end have waits of their own. */
const [EARLY, LATE] = [0.1, 0.9];

/**
 * How fast something went in its middle.
 *
 * @param looks in their order, the first with nothing done.
 * @returns in so many a second, of what the looks count.
 */
export function middleRate(looks: readonly Look[]): number {
  const all = looks.at(-1)?.done ?? 0;
  const ms = timeOf(looks, LATE * all) - timeOf(looks, EARLY * all);
  return ((LATE - EARLY) * all) / (ms / 1000);
}

/** When so much was done, between two looks by their proportion. */
function timeOf(looks: readonly Look[], done: number): number {
  const next = looks.findIndex((look) => look.done >= done);
  const [from, to] = [looks[next - 1], looks[next]];
  if (from === undefined || to === undefined) return looks[0]?.ms ?? 0;
  return from.ms + ((done - from.done) / (to.done - from.done)) * (to.ms - from.ms);
}

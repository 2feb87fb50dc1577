const UNITS = [1, 2, 5];
/** Steps above a second that read well, in ms. */
const LONG = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200,
].map((seconds) => seconds * 1000);
const DAY = 86_400_000;

/**
 * Times to label on an axis from 0, in ms: round figures, the first one 0.
 *
 * @param length of the axis in ms.
 * @param most labels that have room.
 */
export function ticks(length: number, most: number): readonly number[] {
  if (!(length > 0) || most < 2) return [0];
  const step = roundStep(length / (most - 1));
  const times: number[] = [];
  for (let at = 0; at * step <= length * (1 + 1e-9); at++) times.push(at * step);
  return times;
}

/** The least round figure that is not below one. */
function roundStep(least: number): number {
  if (least > 1000) {
    return LONG.find((step) => step >= least) ?? Math.ceil(least / DAY) * DAY;
  }
  const power = 10 ** Math.floor(Math.log10(least));
  for (const unit of UNITS) if (unit * power >= least * (1 - 1e-9)) return unit * power;
  return 10 * power;
}

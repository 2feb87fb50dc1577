/** Whether a value is a whole number from 0 that JavaScript holds exactly. */
export function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** @throws RangeError unless the value is a whole number from `least`. */
export function checkWhole(value: number, field: string, least = 0): void {
  if (isCount(value) && value >= least) return;
  throw new RangeError(`${field}: expected a whole number from ${least}, got ${String(value)}`);
}

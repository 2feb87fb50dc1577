/** No reader takes a larger integer, and to write it would take long. */
const MOST_INTEGER = 10n ** 10_000n;

/** The digits of an integer, of at most 10,000. */
export function integerText(given: bigint): string | undefined {
  return given < MOST_INTEGER && given > -MOST_INTEGER ? String(given) : undefined;
}

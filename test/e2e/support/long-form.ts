/**
 * What a test needs in its short form, which CI runs, or in its long form (`npm run test:e2e -- --long`).
 *
 * @example
 * const days = inForm({ short: 2, long: 7 });
 */
export function inForm<T>({ short, long }: { readonly short: T; readonly long: T }): T {
  return process.env.ENTELIX_LONG_TESTS === "1" ? long : short;
}

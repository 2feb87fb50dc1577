/** Whether all cases are drawn and checked: in CI and in `npm run test:deep`. */
export const IS_DEEP = process.env.ENTELIX_DEEP_TESTS === "1";

/**
 * How many cases a property draws: all of them in `npm run test:deep`, a tenth in `npm test`.
 *
 * A file that calls this is run by both: vitest.deep.config.ts finds it by this import.
 */
export function runs(all: number): number {
  return IS_DEEP ? all : Math.ceil(all / 10);
}

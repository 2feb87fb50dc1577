import { checkWhole } from "../../../events/door.ts";

/** Bounds of what the mapping keeps. Each has a count when it bites. */
export interface DefectLimits {
  /** Sessions and sub-agents remembered. Default 10,000. */
  readonly streams: number;
  /** Tool calls open at once in one turn. Default 10,000. */
  readonly openCalls: number;
  /** Tool calls remembered for the sub-agents that they may have spawned. Default 20,000. */
  readonly callers: number;
  /** Audit rows that wait for their turns to end, over all turns. Default 100,000. */
  readonly heldRows: number;
  /** Characters of those rows together. Default 67,108,864. */
  readonly heldCharacters: number;
}

export const DEFAULT_DEFECT_LIMITS: DefectLimits = {
  streams: 10_000,
  openCalls: 10_000,
  callers: 20_000,
  heldRows: 100_000,
  heldCharacters: 64 * 1024 * 1024,
};

/**
 * The defaults with `given` on top.
 *
 * @throws RangeError when a limit is no whole number, or below 2.
 */
export function resolveDefectLimits(given: Partial<DefectLimits> = {}): DefectLimits {
  const limits = { ...DEFAULT_DEFECT_LIMITS, ...given };
  for (const [name, value] of Object.entries(limits)) checkWhole(value, `limits.${name}`, 2);
  return limits;
}

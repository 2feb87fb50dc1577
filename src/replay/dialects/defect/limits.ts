import { checkWhole } from "../../../events/door.ts";

/** Bounds of the mapping's state. Each has a count. */
export interface DefectLimits {
  /** Sessions and sub-agents that are remembered. Default 10,000. */
  readonly streams: number;
  /** Open tool calls of one turn. Default 10,000. */
  readonly openCalls: number;
  /** Tool calls that are remembered as parents of sub-agents. Default 20,000. */
  readonly callers: number;
  /** Audit rows that wait for the end of their turns, in all turns. Default 100,000. */
  readonly heldRows: number;
  /** Characters of these rows. Default 67,108,864. */
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
 * Adds the defaults.
 *
 * @throws RangeError if a limit is not a whole number from 2.
 */
export function resolveDefectLimits(given: Partial<DefectLimits> = {}): DefectLimits {
  const limits = { ...DEFAULT_DEFECT_LIMITS, ...given };
  for (const [name, value] of Object.entries(limits)) checkWhole(value, `limits.${name}`, 2);
  return limits;
}

import type { JournalRecord } from "./record.ts";

/** Damage in the journal's directory. */
export interface JournalDamage {
  /** Path of the file. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly expected: string;
  readonly found: string;
}

/**
 * Called with each damage: when the journal is opened, and each time the range is read. Damaged bytes are skipped and
 * stay unchanged on the disk.
 */
export type OnJournalDamage = (damage: JournalDamage) => void;

/** The journal is damaged, and there is no `onDamage`. */
export class JournalDamageError extends Error {
  readonly code = "EDAMAGED";
  readonly damage: JournalDamage;

  constructor(damage: JournalDamage) {
    const { expected, file, found, line } = damage;
    super(`${file}, line ${line}: expected ${expected}, found ${found}`);
    this.name = "JournalDamageError";
    this.damage = damage;
  }
}

/** The default `onDamage`. @throws JournalDamageError always. */
export function refuseDamage(damage: JournalDamage): never {
  throw new JournalDamageError(damage);
}

/** Bytes of the last write that are not a record. Empty if the file ends too early. */
export interface DamagedRange {
  /** Line of the file, from 1. */
  readonly line: number;
  /** Position in the file. */
  readonly position: number;
  readonly bytes: number;
  /** Offset of the expected record. */
  readonly offset: number;
  /** Number of missing lines. `undefined`: unknown, because the end mark is missing too. */
  readonly missing: number | undefined;
  /** The record after the range. `undefined`: the end of the file. */
  readonly before: JournalRecord | undefined;
}

/** A damaged range of the last write that opening set aside. */
export interface JournalTorn extends Omit<DamagedRange, "before"> {
  /** Path of the file. Line and position are those before the repair. */
  readonly file: string;
  /**
   * Path of a copy of the bytes from the first to the last damaged range of the file. `undefined` if these ranges have
   * no bytes.
   */
  readonly copy: string | undefined;
}

/** Called with the damaged ranges of a file after they were copied, before the file is changed. */
export type OnJournalTorn = (torn: readonly JournalTorn[]) => void;

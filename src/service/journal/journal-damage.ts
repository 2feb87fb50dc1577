import type { JournalRecord } from "./record.ts";

/** Something in the journal's directory that is not what the journal wrote there. */
export interface JournalDamage {
  /** Path of the file. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly expected: string;
  readonly found: string;
}

/**
 * Called with each damage that is met, perhaps more than once: when the journal is opened, and
 * each time the place is read. The damaged bytes are skipped, and unchanged on the disk.
 */
export type OnJournalDamage = (damage: JournalDamage) => void;

/** The journal is damaged, and no `onDamage` allows to continue. */
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

/** Bytes of the last write that are no record, or none where the file ends too early. */
export interface DamagedRange {
  /** Line of the file, from 1. */
  readonly line: number;
  /** Where in the file they stand. */
  readonly position: number;
  readonly bytes: number;
  /** Offset of what was expected there. */
  readonly offset: number;
  /** Lines that are missing there; `undefined`: the end mark is missing too, which would tell. */
  readonly missing: number | undefined;
  /** The record behind it; `undefined`: the place is the end of the file. */
  readonly before: JournalRecord | undefined;
}

/** A place in the last write that opening found damaged, and set aside. */
export interface JournalTorn extends Omit<DamagedRange, "before"> {
  /** Path of the file. Line and position are those before it was mended. */
  readonly file: string;
  /**
   * Path of a copy of the bytes, with all up to the last such place in the file; the first one is at
   * its start. `undefined` where no place in the file has bytes.
   */
  readonly copy: string | undefined;
}

/** Called with the places of a file once their copy is on the disk, before the file is changed. */
export type OnJournalTorn = (torn: readonly JournalTorn[]) => void;

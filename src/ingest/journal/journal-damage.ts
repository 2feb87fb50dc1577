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
 * Told of each damage when it is met, which may be more than once: when the journal is opened, and
 * each time the place is read. What is damaged is passed over then, and left as it is on the disk.
 */
export type OnJournalDamage = (damage: JournalDamage) => void;

/** The journal is damaged, and nobody has said that it is to be gone on with. */
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

/** @throws JournalDamageError always: what a journal does with damage that nobody wants to be told of. */
export function refuseDamage(damage: JournalDamage): never {
  throw new JournalDamageError(damage);
}

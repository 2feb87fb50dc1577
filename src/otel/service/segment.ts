import { EMPTY_THREAD, type RowAnchor } from "../../audit/audit-row.ts";

/** A row that an earlier life of the lane has stored; where it stands is asked for only if it matters. */
interface Remembered {
  readonly resolve: (anchor: RowAnchor | Promise<RowAnchor>) => void;
  readonly find: () => Promise<RowAnchor>;
}

/** One open segment of a run, as a lane keeps it. */
export class Segment {
  /** The offset that must not be passed while it is open: that of the run's first line. */
  readonly first: number;
  /** It was over, and stored, before the lane was made: nothing of it is stored again. */
  readonly muted: boolean;
  /** Of each thread the last row that is stored already. */
  #remembered: Map<string, Remembered> | undefined;

  constructor(first: number, muted: boolean) {
    this.first = first;
    this.muted = muted;
  }

  /**
   * A row that is stored already. Only the last row's place stands on the span: the others are said to
   * stand nowhere.
   *
   * @param repeated whether the row came before: then it is not the last one, unless it is the only one.
   */
  remember(
    thread: string,
    repeated: boolean,
    find: () => Promise<RowAnchor>,
  ): Promise<RowAnchor> | undefined {
    this.#remembered ??= new Map();
    const last = this.#remembered.get(thread);
    if (last !== undefined && repeated) return undefined;
    last?.resolve(EMPTY_THREAD);
    return new Promise((resolve) => {
      this.#remembered?.set(thread, { resolve, find });
    });
  }

  /** @param wanted whether its span will be stored, and so must say where the last row stands. */
  close(wanted: boolean): void {
    for (const { find, resolve } of this.#remembered?.values() ?? []) {
      resolve(wanted ? find() : EMPTY_THREAD);
    }
    this.#remembered = undefined;
  }
}

import { canonicalRunId } from "../../events/door.ts";
import type { StoredRow } from "../stored-row.ts";
import type { LogProblem } from "./verify-report.ts";

/** A run span's record of the run's last row: `entelix.audit.ordinal` and `entelix.audit.hash`. */
export interface SpanAnchor {
  readonly tenant_id: string;
  readonly run_id: string;
  readonly ordinal: number;
  readonly hash: string;
}

interface Wanted {
  readonly anchor: SpanAnchor;
  /** Position among the given spans, from 1. */
  readonly position: number;
  /** Position of a row with the run and ordinal and another hash. */
  other: string | undefined;
}

/**
 * Looks for the rows that run spans name. A log that was cut at its end has no trace of it, but the spans are stored
 * elsewhere.
 */
export class SpanAnchors {
  readonly #wanted = new Map<string, Wanted[]>();
  #matched = 0;

  static async from(
    anchors: Iterable<SpanAnchor> | AsyncIterable<SpanAnchor>,
  ): Promise<SpanAnchors> {
    const spans = new SpanAnchors();
    let position = 0;
    for await (const anchor of anchors) {
      position += 1;
      const name = nameOf(anchor.tenant_id, anchor.run_id, anchor.ordinal);
      const wanted = { anchor, position, other: undefined };
      const same = spans.#wanted.get(name);
      if (same === undefined) spans.#wanted.set(name, [wanted]);
      else same.push(wanted);
    }
    return spans;
  }

  /** Spans whose row was found. */
  get matched(): number {
    return this.#matched;
  }

  /** Called with each row of the log. */
  found(row: StoredRow, position: string): void {
    if (this.#wanted.size === 0 || row.run_id === null) return;
    const name = nameOf(row.tenant_id, row.run_id, row.ordinal);
    const wanted = this.#wanted.get(name);
    if (wanted === undefined) return;
    const left = wanted.filter(({ anchor }) => anchor.hash !== row.hash);
    this.#matched += wanted.length - left.length;
    for (const each of left) each.other = position;
    if (left.length === 0) this.#wanted.delete(name);
    else this.#wanted.set(name, left);
  }

  /** The spans whose row was not found. */
  *missing(): Generator<LogProblem> {
    for (const { anchor, other, position } of [...this.#wanted.values()].flat()) {
      const { ordinal, run_id, tenant_id } = anchor;
      const row = `row ${ordinal} of run ${run_id}`;
      const problem =
        other === undefined
          ? `${row} is missing: a span names it, the log has no such row`
          : `${row} has another hash than its span says (${other})`;
      yield { file: "spans", line: position, tenant_id, ordinal, problem };
    }
  }
}

/** Case is ignored in UUIDs: a span and a row may differ in it. */
function nameOf(tenant: string, run: string, ordinal: number): string {
  return `${tenant.length}:${tenant}${canonicalRunId(run)}:${ordinal}`;
}

import { CountColumn } from "./columns.ts";
import { TextTable } from "./text-table.ts";

/** Which run it is: run ids are unique for a tenant alone. */
export interface RunName {
  readonly tenant_id: string;
  readonly run_id: string;
}

/** Runs by number, from 0, in the order in which they were first named. */
export class RunKeys {
  readonly runIds = new TextTable();
  readonly #tenants = new TextTable();
  #size = 0;
  readonly #runId = new CountColumn();
  readonly #tenant = new CountColumn();
  /** First run with a run id, plus 1. */
  readonly #first = new CountColumn();
  /** The next run with the same run id, plus 1: few ids are of several tenants. */
  readonly #next = new Map<number, number>();

  get size(): number {
    return this.#size;
  }

  /** The number of a run, which it gets where it has none. */
  rowOf(tenantId: string, runId: string): number {
    const id = this.runIds.idOf(runId);
    const tenant = this.#tenants.idOf(tenantId);
    let last = 0;
    for (let at = this.#first.get(id); at > 0; at = this.#next.get(at - 1) ?? 0) {
      if (this.#tenant.get(at - 1) === tenant) return at - 1;
      last = at;
    }
    const row = this.#size;
    this.#size += 1;
    this.#runId.set(row, id);
    this.#tenant.set(row, tenant);
    if (last === 0) this.#first.set(id, row + 1);
    else this.#next.set(last - 1, row + 1);
    return row;
  }

  idOf(row: number): RunName {
    const run_id = this.runIds.text(this.#runId.get(row));
    return { run_id, tenant_id: this.#tenants.text(this.#tenant.get(row)) };
  }

  /** The runs of all tenants with this id. */
  rowsOf(runId: string): number[] {
    const rows: number[] = [];
    const id = this.runIds.find(runId);
    for (let at = this.#first.get(id); id > 0 && at > 0; at = this.#next.get(at - 1) ?? 0)
      rows.push(at - 1);
    return rows;
  }

  find(tenantId: string, runId: string): number | undefined {
    return this.rowsOf(runId).find((row) => this.idOf(row).tenant_id === tenantId);
  }

  /** Its run id; `tenant/run id` of those that another tenant was first to have, and of ids with a slash. */
  keyOf(row: number): string {
    const { run_id, tenant_id } = this.idOf(row);
    const isFirst = this.#first.get(this.#runId.get(row)) === row + 1;
    if (isFirst && !run_id.includes("/")) return run_id;
    return `${tenant_id.replaceAll("%", "%25").replaceAll("/", "%2F")}/${run_id}`;
  }

  rowOfKey(key: string): number | undefined {
    const slash = key.indexOf("/");
    const rows = this.rowsOf(slash < 0 ? key : key.slice(slash + 1));
    return rows.find((row) => this.keyOf(row) === key);
  }
}

import type { LineStatus } from "./line-outcomes.ts";
import type { RefusalCode } from "./refusal.ts";

/** Tenants that have counts of their own; senders' tenants are as many as there are tokens. */
export const MOST_TENANTS = 50;
/** What the tenants beyond are counted as. */
export const OTHER_TENANT = "_other";
/** Senders that are bound to no tenant. */
export const ANY_TENANT = "_any";

/** What the HTTP door has counted since it was opened. */
export class IngestFigures {
  /** By tenant and outcome. */
  readonly lines = new Map<string, Record<LineStatus, number>>();
  /** By route and status. */
  readonly requests = new Map<string, Map<number, number>>();
  readonly refusals = new Map<RefusalCode, number>();
  /** Lines of types that this version does not know; they are among the accepted ones. */
  unknownLines = 0;
  /** Bytes of bodies as they came. */
  receivedBytes = 0;
  /** Bytes of their text, after decompression. */
  textBytes = 0;
  /** Requests whose sender left before the end of its body. */
  senderGone = 0;
  /** Connections that were closed at once, being too many. */
  connectionsDropped = 0;
  /** Appends that failed. */
  journalErrors = 0;
  tokenReloads = 0;
  tokenReloadErrors = 0;

  addLines(tenant: string | undefined, counts: Readonly<Record<LineStatus, number>>): void {
    const known = this.#of(tenant ?? ANY_TENANT);
    known.accepted += counts.accepted;
    known.duplicate += counts.duplicate;
    known.rejected += counts.rejected;
  }

  addRequest(route: string, status: number): void {
    let byStatus = this.requests.get(route);
    if (byStatus === undefined) {
      byStatus = new Map();
      this.requests.set(route, byStatus);
    }
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
  }

  addRefusal(code: RefusalCode): void {
    this.refusals.set(code, (this.refusals.get(code) ?? 0) + 1);
  }

  #of(tenant: string): Record<LineStatus, number> {
    const name = this.lines.has(tenant) || this.lines.size < MOST_TENANTS ? tenant : OTHER_TENANT;
    let counts = this.lines.get(name);
    if (counts === undefined) {
      counts = { accepted: 0, duplicate: 0, rejected: 0 };
      this.lines.set(name, counts);
    }
    return counts;
  }
}

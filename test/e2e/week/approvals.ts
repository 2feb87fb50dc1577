import type { AgentProcess } from "./agent-process.ts";
import type { Reports } from "./reports.ts";

/** A run that paused for a person. */
export interface Wait {
  readonly job: string;
  readonly tenant: string;
  readonly asker: AgentProcess;
  readonly from: number;
  /** Absent until it is answered. */
  answer?: { readonly at: number; readonly by: AgentProcess };
}

const HOUR = 3600;
/** A process's last figures are shown for 5 minutes, and the alert stays until the next evaluation. */
const SHOWN_SECONDS = 7 * 60;

/**
 * The approvals that waited for more than an hour, which a ticket reports by design. One that another process answers
 * waits on in the one that asked, until that ends: docs/metrics.md says so.
 */
export class Approvals {
  readonly #waits: Wait[] = [];

  asked(wait: Wait): Wait {
    this.#waits.push(wait);
    return wait;
  }

  /** To be called at the end: only then it is known how long the processes lived. */
  report(reports: Reports): void {
    for (const { answer, asker, from, job, tenant } of this.#waits) {
      const ended = asker.endedAt ?? Number.POSITIVE_INFINITY;
      const until = answer?.by === asker ? answer.at : ended;
      const subject = { alertname: "EntelixApprovalsWaiting", job, entelix_tenant_id: tenant };
      if (until - from > HOUR) {
        reports.may(subject, from + HOUR, Math.min(until, ended) + SHOWN_SECONDS);
      }
    }
  }
}

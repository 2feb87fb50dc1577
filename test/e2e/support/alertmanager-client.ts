import { fetchJson, fetchText } from "./http.ts";
import { field, list, text, texts } from "./json-shape.ts";

export interface ManagedAlert {
  readonly labels: Readonly<Record<string, string>>;
  /** `active`, `suppressed` or `unprocessed`. */
  readonly state: string;
  /** Fingerprints of the alerts that keep this one silent. */
  readonly inhibitedBy: readonly string[];
  readonly receivers: readonly string[];
  readonly fingerprint: string;
}

/** Asks an Alertmanager by its HTTP API. */
export class AlertmanagerClient {
  readonly #base: string;

  constructor(base: string) {
    this.#base = base;
  }

  async ready(): Promise<void> {
    await fetchText(`${this.#base}/-/ready`);
  }

  async alerts(): Promise<ManagedAlert[]> {
    const answer = await fetchJson(`${this.#base}/api/v2/alerts`);
    return list({ answer }, "answer").map((alert) => {
      const status = field(alert, "status");
      return {
        labels: texts(alert, "labels"),
        state: text(status, "state"),
        inhibitedBy: list(status, "inhibitedBy").map((by) => text({ by }, "by")),
        receivers: list(alert, "receivers").map((receiver) => text(receiver, "name")),
        fingerprint: text(alert, "fingerprint"),
      };
    });
  }
}

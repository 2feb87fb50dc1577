import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { portOf } from "./free-ports.ts";
import { list, text, texts } from "./json-shape.ts";

/** One alert as Alertmanager delivered it. */
export interface DeliveredAlert {
  /** Whom it was routed to. */
  readonly receiver: string;
  readonly status: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly fingerprint: string;
  /** RFC 3339. With the fingerprint it tells a new firing from a repeated notification. */
  readonly startsAt: string;
}

/** Takes what Alertmanager sends to its webhooks, and keeps it in the order of arrival. */
export class WebhookReceiver {
  readonly alerts: DeliveredAlert[] = [];
  /** Messages that could not be read; a good test ends with none. */
  readonly faults: unknown[] = [];
  readonly #server = createServer((request, response) => this.#take(request, response));

  /** @param port of 127.0.0.1; 0 takes a free one. */
  async start(port = 0): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, "127.0.0.1", resolve);
    });
  }

  get port(): number {
    return portOf(this.#server);
  }

  /** The firings that were delivered, each once, however often they were notified. */
  firings(): DeliveredAlert[] {
    const firing = this.alerts.filter(({ status }) => status === "firing");
    const byKey = new Map(
      firing.map((alert) => [`${alert.fingerprint} ${alert.startsAt} ${alert.receiver}`, alert]),
    );
    return [...byKey.values()];
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      try {
        const message: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
        const receiver = text(message, "receiver");
        this.alerts.push(
          ...list(message, "alerts").map((alert) => ({
            receiver,
            status: text(alert, "status"),
            labels: texts(alert, "labels"),
            annotations: texts(alert, "annotations"),
            fingerprint: text(alert, "fingerprint"),
            startsAt: text(alert, "startsAt"),
          })),
        );
        response.writeHead(200).end();
      } catch (fault) {
        this.faults.push(fault);
        response.writeHead(400).end();
      }
    });
  }
}

import { setTimeout as sleep } from "node:timers/promises";

export interface OtlpAnswer {
  /** 0: nobody answered. */
  readonly status: number;
  readonly body: string;
}

/** As OTLP says: what may be sent again. */
const RETRYABLE = [0, 429, 502, 503, 504];

/** Posts a request of OTLP/JSON, once. */
export async function otlpPost(
  endpoint: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>> = {},
  timeoutMs = 5_000,
): Promise<OtlpAnswer> {
  try {
    const response = await fetch(`${endpoint}/v1/traces`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body,
      signal: AbortSignal.timeout(timeoutMs),
    });
    return { status: response.status, body: await response.text() };
  } catch (error) {
    return { status: 0, body: String(error) };
  }
}

/** Posts until the collector has taken it, for a minute at most. @throws Error when it refuses for good. */
export async function otlpPostUntilTaken(endpoint: string, body: string): Promise<void> {
  const end = performance.now() + 60_000;
  for (;;) {
    const answer = await otlpPost(endpoint, body);
    if (answer.status === 200) return;
    if (!RETRYABLE.includes(answer.status) || performance.now() > end) {
      throw new Error(`not taken: ${answer.status} ${answer.body}`);
    }
    await sleep(200);
  }
}

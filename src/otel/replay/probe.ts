import { isPassing, type SendFailure, statusOf } from "../export/attempt.ts";
import { OtlpPost } from "../export/otlp-post.ts";
import { formatOf } from "../export/request-format.ts";
import { REPLAY } from "../export/send-policy.ts";
import { SpanSender } from "../export/span-sender.ts";
import { protocolFromEnvironment, type SignalName } from "../setup/exporter-choice.ts";

/** Whether a receiver takes requests. */
export interface Probe {
  readonly ok: boolean;
  /** HTTP status of a refusal; `undefined` without an answer, or where it is {@link busy}. */
  readonly status: number | undefined;
  /** It answered that it takes nothing now. */
  readonly busy: boolean;
  /** What the receiver or the system said. */
  readonly said: string;
}

/**
 * Sends an empty request, as the exporter of that signal would send it.
 *
 * @param url where requests go, `/v1/traces` or `/v1/metrics` included.
 * @param timeoutMs how long it may take with its retries, in ms.
 */
export async function probe(signal: SignalName, url: string, timeoutMs: number): Promise<Probe> {
  const { bytes, contentType } = await emptyRequest(signal);
  const post = new OtlpPost({ url, ownTimeoutMs: timeoutMs, signal, contentType });
  const policy = { ...REPLAY, withinMs: post.timeoutMs };
  const sender = new SpanSender({ post, requests: 1, policy });
  const outcome = await sender.send({ spans: 0, size: 0, encode: () => bytes });
  return probeOf(outcome.kind === "taken" ? undefined : outcome);
}

async function emptyRequest(signal: SignalName) {
  if (signal === "METRICS") {
    return { contentType: "application/json", bytes: Buffer.from('{"resourceMetrics":[]}') };
  }
  const { contentType, encode } = formatOf(protocolFromEnvironment("TRACES"));
  return { contentType, bytes: await encode([]) };
}

/** What the end of an empty request says of a receiver. */
export function probeOf(failure: SendFailure | undefined): Probe {
  if (failure === undefined) return { ok: true, status: undefined, busy: false, said: "" };
  const status = statusOf(failure.error);
  const busy = status !== undefined && isPassing(status);
  const said = describeFailure(failure);
  return { ok: false, status: busy ? undefined : status, busy, said };
}

/** A failed request in a line: what the receiver answered, or what the system said. */
export function describeFailure({ error, said = "" }: SendFailure): string {
  const status = statusOf(error);
  const code = "code" in error ? String(error.code) : "";
  if (status === undefined) return error.message || code || error.name;
  const busy = isPassing(status) ? " (it takes nothing now)" : "";
  const answer = `${`HTTP ${status} ${error.message}`.trimEnd()}${busy}`;
  return said === "" || said === "{}" ? answer : `${answer}: ${said.slice(0, 300)}`;
}

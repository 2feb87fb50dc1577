import { OTLPMetricExporterBase } from "@opentelemetry/exporter-metrics-otlp-http";
import { JsonMetricsSerializer, ProtobufMetricsSerializer } from "@opentelemetry/otlp-transformer";
import type { PushMetricExporter, ResourceMetrics } from "@opentelemetry/sdk-metrics";
import { asError } from "../../../events/door.ts";
import { describeFailure } from "../../export/attempt.ts";
import { OtlpPost } from "../../export/otlp-post.ts";
import { CONTENT_TYPES } from "../../export/request-format.ts";
import { REPLAY } from "../../export/send-policy.ts";
import { type Outcome, SpanSender } from "../../export/span-sender.ts";
import type { OtlpTarget } from "../exporter-choice.ts";
import { moreOf } from "../span-ledger.ts";

type ExportDone = Parameters<PushMetricExporter["export"]>[1];
type ExportResult = Parameters<ExportDone>[0];

/** The SDK's `ExportResultCode`, whose package is not a dependency. */
const SUCCESS: ExportResult["code"] = 0;
const FAILED: ExportResult["code"] = 1;

/**
 * Sends metrics by OTLP. OpenTelemetry's exporter chooses temporality and aggregation, and its serializer encodes. The
 * request is sent as those of spans are: with its answer checked, the same certificates and proxies, and an end.
 */
export class OtlpMetricExporter extends OTLPMetricExporterBase {
  readonly #requests: MetricRequests;

  constructor(target: OtlpTarget) {
    const requests = new MetricRequests(target);
    super(requests);
    this.#requests = requests;
  }

  /** Ends the current requests. They fail, and so do later ones. */
  giveUp(): void {
    this.#requests.giveUp();
  }
}

/** Exports that are under way or wait. More would only repeat them during an outage. */
const MOST_OPEN = 2;

/** The requests of metrics, one at a time. */
class MetricRequests {
  readonly #sender: SpanSender;
  readonly #encode: (metrics: ResourceMetrics) => Uint8Array | undefined;
  /** Exports that are not settled. */
  #open = 0;

  constructor({ headers, protocol, url }: OtlpTarget) {
    const serializer = protocol === "http/json" ? JsonMetricsSerializer : ProtobufMetricsSerializer;
    this.#encode = (metrics) => serializer.serializeRequest(metrics);
    const contentType = CONTENT_TYPES[protocol];
    const post = new OtlpPost({ url, headers, signal: "METRICS", contentType });
    // Values are cumulative, so an export that fails is not worth more than the retries of one request.
    const policy = { ...REPLAY, keepsAlive: false, withinMs: post.timeoutMs };
    this.#sender = new SpanSender({ post, requests: 1, policy });
  }

  export(metrics: ResourceMetrics, done: ExportDone): void {
    // The values are cumulative, so the next export has what this one had.
    if (this.#open >= MOST_OPEN) {
      done({ code: FAILED, error: new Error("the exports before it are not confirmed yet") });
      return;
    }
    let bytes: Uint8Array | undefined;
    try {
      bytes = this.#encode(metrics);
    } catch (error) {
      done({ code: FAILED, error: asError(error) });
      return;
    }
    const encode = () => bytes ?? new Uint8Array();
    const settled = ({ outcome }: { readonly outcome: Outcome }) => {
      this.#open -= 1;
      done(resultOf(outcome));
    };
    this.#open += 1;
    this.#sender.add({ spans: pointsOf(metrics), size: 0, encode }, { settled });
  }

  forceFlush(): Promise<void> {
    return this.#sender.whenSettled();
  }

  shutdown(): Promise<void> {
    return this.#sender.whenSettled();
  }

  giveUp(): void {
    this.#sender.giveUp(new Error("the export was ended"));
  }

  /** Required by the base class, which measures itself with it if an application asks for that. */
  setMetrics(): void {}
}

/** The number of data points. */
function pointsOf({ scopeMetrics }: ResourceMetrics): number {
  return scopeMetrics
    .flatMap(({ metrics }) => metrics)
    .reduce((sum, { dataPoints }) => sum + dataPoints.length, 0);
}

/** With the receiver's text. Metrics have no content, so the text cannot repeat any. */
function resultOf(outcome: Outcome): ExportResult {
  if (outcome.kind !== "taken") {
    const text = `${describeFailure(outcome)}${moreOf(outcome.error)}`;
    return { code: FAILED, error: new Error(text, { cause: outcome.error }) };
  }
  const { detail = "it does not say why", refused } = outcome;
  if (refused === 0) return { code: SUCCESS };
  const error = new Error(`the receiver refused data points (${refused}): ${detail}`);
  return { code: FAILED, error };
}

// The door of `bridge/export`: spans and metrics on their way to a receiver. Other parts of the room import from here.

export { isPassing, type SendFailure, statusOf, withoutHeaderName } from "./attempt.ts";
export { ChunkSpanProcessor } from "./chunk-span-processor.ts";
export {
  type BatchSettings,
  batchSettings,
  concurrencyLimit,
  exportSettings,
} from "./export-settings.ts";
export { OtlpPost } from "./otlp-post.ts";
export { encodeTraceRequest, formatOf, type RequestFormat } from "./request-format.ts";
export { Backoff, Retry, type RetryDelays } from "./retry.ts";
export { REPLAY, SERVICE } from "./send-policy.ts";
export { SpanSender } from "./span-sender.ts";

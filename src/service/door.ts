// The door of `service`: serve and consume. See ROOM.md.

export {
  type Answer,
  refusedAnswer,
  type StreamedAnswer,
  textAnswer,
  writeAnswer,
} from "./http/answer.ts";
export { checkHead, encodingOf, hasExpectation } from "./http/event-request.ts";
export { HeldBytes } from "./http/held-body.ts";
export { HttpFront } from "./http/http-front.ts";
export { DEFAULT_INGEST_LIMITS, type IngestLimits } from "./http/ingest-limits.ts";
export { IngestService } from "./http/ingest-service.ts";
export { MOST_RUNS, USUAL_RUNS } from "./http/open-runs.ts";
export { OPEN_RUNS, type OpenRunsAnswer } from "./http/open-runs-form.ts";
export { EndedEarly, Refusal, SenderGone } from "./http/refusal.ts";
export { bodyText, RequestBody } from "./http/request-body.ts";
export { isLocalHost, isLoopback, OPENAPI_TEXT, readTarget } from "./http/routes.ts";
export { parseTokens, type TokenEntry, tokenDigest } from "./http/tokens/token-file.ts";
export type { JournalTorn } from "./journal/journal-damage.ts";
export { consumeMetricsText } from "./kafka/consume-metrics.ts";
export {
  type ClientOptions,
  KafkaUnavailableError,
  kafkaMessage,
  loadKafkaLibrary,
  SASL_MECHANISMS,
  type SaslMechanism,
  type SaslOptions,
  type TlsOptions,
} from "./kafka/kafka-library.ts";
export { KafkaService, type KafkaServiceOptions } from "./kafka/kafka-service.ts";
export { type StatusOptions, StatusServer } from "./kafka/status-server.ts";
export { openStores, type Stores } from "./open-stores.ts";
export { LogProcessor } from "./processor/log-processor.ts";

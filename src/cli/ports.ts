/** Where a collector takes OTLP/HTTP, live: spans are counted, and alerts rest on that. */
export const LIVE_PORT = "4318";

/** Where the shipped collector takes replays by OTLP/HTTP, past its metrics. */
export const REPLAY_PORT = "4319";

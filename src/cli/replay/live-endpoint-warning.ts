import { LIVE_PORT, REPLAY_PORT } from "../ports.ts";

/** What to say of an endpoint at which a collector counts spans, of whatever time they are. */
export function liveEndpointWarning(endpoint: string | undefined): string | undefined {
  if (endpoint === undefined || new URL(endpoint).port !== LIVE_PORT) return undefined;
  return `--endpoint: port ${LIVE_PORT} is for what is live: a collector counts these spans again, and alerts may be raised; replays belong to port ${REPLAY_PORT}`;
}

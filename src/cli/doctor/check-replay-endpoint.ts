import { shownUrl } from "../../otel/setup/endpoint.ts";
import { protocolFromEnvironment } from "../../otel/setup/exporter-choice.ts";
import { LIVE_PORT, REPLAY_PORT } from "../ports.ts";
import { signalEndpoint } from "../signal-endpoint.ts";
import { safe } from "../terminal/safe-text.ts";
import { probeSpans } from "./check-endpoint.ts";
import { adviceFor } from "./endpoint-advice.ts";
import { type Finding, note, ok, problem } from "./finding.ts";

/**
 * Asks the receiver of replays, which takes spans past all metrics.
 *
 * @param option where the user says it is; default: beside the live one, where that is on its usual
 *   port.
 * @param live where spans go that are live.
 */
export async function checkReplayEndpoint(
  option: string | undefined,
  live: string | undefined,
): Promise<Finding[]> {
  const url = option === undefined ? beside(live) : signalEndpoint("traces", option, {});
  if (url === undefined) return [];
  const answer = await probeSpans(url);
  const named = `replay endpoint ${safe(shownUrl(url))}`;
  if (answer.ok) return [ok(`${named} takes spans`)];
  const what = `${named}: ${safe(answer.said)}`;
  if (option !== undefined) {
    return [problem(what, adviceFor(answer, url, protocolFromEnvironment("TRACES")))];
  }
  const advice =
    "A replay to the live port is counted again, and may raise alerts. collector-config.yaml has a receiver past the metrics on this port.";
  return [note(what, advice)];
}

function beside(live: string | undefined): string | undefined {
  if (live === undefined) return undefined;
  const url = new URL(live);
  if (url.port !== LIVE_PORT) return undefined;
  url.port = REPLAY_PORT;
  return url.href;
}

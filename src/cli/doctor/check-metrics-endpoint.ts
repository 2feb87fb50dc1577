import { probe } from "../../otel/replay/probe.ts";
import { shownUrl } from "../../otel/setup/endpoint.ts";
import { messageOf } from "../cli-error.ts";
import { LIVE_PORT, REPLAY_PORT } from "../ports.ts";
import { signalEndpoint, switchedOff } from "../signal-endpoint.ts";
import { safe } from "../terminal/safe-text.ts";
import { ANSWER_MS, type CheckedEndpoint } from "./check-endpoint.ts";
import { adviceFor } from "./endpoint-advice.ts";
import { type Finding, note, ok, problem } from "./finding.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Where metrics go when nobody says where. */
const DEFAULT_URL = `http://localhost:${LIVE_PORT}/v1/metrics`;

/**
 * Asks the receiver to take a request without metrics.
 *
 * @param option where the user says it is; default: where the variables point.
 * @param spans what the same receiver said to spans: nothing is told twice.
 * @param wanted whether the project has what sends metrics.
 */
export async function checkMetricsEndpoint(
  option: string | undefined,
  env: Env,
  spans: CheckedEndpoint,
  wanted: boolean,
): Promise<Finding[]> {
  const off = option === undefined ? switchedOff("metrics", env) : undefined;
  if (off !== undefined) return [note("metrics: not asked, nothing is sent there")];
  let url: string;
  try {
    url = signalEndpoint("metrics", option, env) ?? DEFAULT_URL;
  } catch (error) {
    const told = spans.findings.some(({ what }) => what === messageOf(error));
    return told ? [] : [problem(messageOf(error), "Mend the variable, or unset it.")];
  }
  const { origin, port } = new URL(url);
  if (spans.url !== undefined && origin === new URL(spans.url).origin) {
    if (!spans.takesSpans) return [note("metrics: not asked, the receiver takes no spans")];
    if (port === REPLAY_PORT) return [note("metrics: not asked, the receiver is for replays")];
  }
  const answer = await probe("METRICS", url, ANSWER_MS);
  const named = `endpoint ${safe(shownUrl(url))}`;
  if (answer.ok) return [ok(`${named} takes metrics`)];
  const report = wanted ? problem : note;
  return [report(`${named}: ${safe(answer.said)}`, adviceFor(answer, url, "http/json"))];
}

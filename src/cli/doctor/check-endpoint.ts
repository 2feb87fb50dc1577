import { type Probe, probe } from "../../otel/replay/probe.ts";
import { shownUrl } from "../../otel/setup/endpoint.ts";
import { protocolFromEnvironment } from "../../otel/setup/exporter-choice.ts";
import { messageOf } from "../cli-error.ts";
import { LIVE_PORT, REPLAY_PORT } from "../ports.ts";
import { signalEndpoint, switchedOff } from "../signal-endpoint.ts";
import { safe } from "../terminal/safe-text.ts";
import { adviceFor } from "./endpoint-advice.ts";
import { type Finding, note, ok, problem } from "./finding.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** How long a receiver may take to answer, with the exporter's retries, in ms. */
export const ANSWER_MS = 3_000;

/** Where spans go when nobody says where. */
const DEFAULT_URL = `http://localhost:${LIVE_PORT}/v1/traces`;

export interface CheckedEndpoint {
  readonly findings: readonly Finding[];
  /** Where spans go; `undefined` where they are not sent. */
  readonly url: string | undefined;
  /** Whether the receiver takes them. */
  readonly takesSpans: boolean;
}

/**
 * Asks the receiver to take a request without spans, as the exporter would send it.
 *
 * @param option where the user says it is; default: where the variables point.
 */
export async function checkEndpoint(
  option: string | undefined,
  env: Env,
): Promise<CheckedEndpoint> {
  if (option === undefined && switchedOff("traces", env) !== undefined) {
    return unasked(note("endpoint: not asked, nothing is sent there"));
  }
  let given: string | undefined;
  try {
    given = signalEndpoint("traces", option, env);
  } catch (error) {
    return unasked(problem(messageOf(error), "Mend the variable, or unset it."));
  }
  const url = given ?? DEFAULT_URL;
  const answer = await probeSpans(url);
  const named = `endpoint ${safe(shownUrl(url))}${given === undefined ? " (the default)" : ""}`;
  const findings = [
    answer.ok
      ? ok(`${named} takes spans`)
      : problem(
          `${named}: ${safe(answer.said)}`,
          adviceFor(answer, url, protocolFromEnvironment("TRACES")),
        ),
  ];
  if (new URL(url).port === REPLAY_PORT) {
    findings.push(
      problem(
        `${named}: port ${REPLAY_PORT} is for replays: what comes in there is not counted, and raises no alert`,
        `Send what is live to port ${LIVE_PORT}.`,
      ),
    );
  }
  return { findings, url, takesSpans: answer.ok };
}

function unasked(finding: Finding): CheckedEndpoint {
  return { findings: [finding], url: undefined, takesSpans: false };
}

/** Sends a receiver a request without spans. */
export function probeSpans(url: string): Promise<Probe> {
  return probe("TRACES", url, ANSWER_MS);
}

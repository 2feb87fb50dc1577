import { type Probe, probe, protocolFromEnvironment, shownUrl } from "../../bridge/door.ts";
import { messageOf } from "../cli-error.ts";
import { isLocal, LIVE_PORT, REPLAY_PORT, signalEndpoint, switchedOff } from "../endpoints.ts";
import { safe } from "../terminal/text.ts";
import { type Finding, note, ok, problem } from "./finding.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Time limit of a receiver's answer, with the exporter's retries, in ms. */
const ANSWER_MS = 3_000;

const DEFAULT_URL = `http://localhost:${LIVE_PORT}/v1`;

const FIX_VARIABLE = "Fix the variable, or unset it.";

/** A receiver that `--endpoint` or the code of `--import` names. */
export interface GivenEndpoint {
  /** The base URL; `undefined`: as the variables say. */
  readonly url: string | undefined;
  /** The `headers` in the code. */
  readonly headers: Readonly<Record<string, string>>;
  readonly isInCode: boolean;
}

interface CheckedEndpoint {
  readonly findings: readonly Finding[];
  /** Where spans go; `undefined` where they are not sent. */
  readonly url: string | undefined;
  /** Whether the receiver accepts spans. */
  readonly takesSpans: boolean;
}

/**
 * Sends a request without spans to the receiver, as the exporter would.
 *
 * @param wanted where it is. Default: as the variables say.
 */
export async function checkEndpoint(wanted: GivenEndpoint, env: Env): Promise<CheckedEndpoint> {
  const { headers, isInCode, url: option } = wanted;
  const unasked = { url: undefined, takesSpans: false };
  if ((option === undefined || isInCode) && switchedOff("traces", env) !== undefined) {
    return { ...unasked, findings: [note("endpoint: not checked, no spans are sent")] };
  }
  let given: string | undefined;
  try {
    given = signalEndpoint("traces", option, env);
  } catch (error) {
    return { ...unasked, findings: [problem(messageOf(error), FIX_VARIABLE)] };
  }
  const url = given ?? `${DEFAULT_URL}/traces`;
  const whence = isInCode ? " (in the code)" : given === undefined ? " (the default)" : "";
  const name = `endpoint ${safe(shownUrl(url))}${whence}`;
  const asked = await ask("TRACES", name, url, { headers, isInCode });
  const findings = [asked];
  if (new URL(url).port === REPLAY_PORT) {
    const what = `${name}: port ${REPLAY_PORT} is for replays: its spans are not counted and raise no alert`;
    findings.push(problem(what, `Send live spans to port ${LIVE_PORT}.`));
  }
  return { findings, url, takesSpans: asked.level === "ok" };
}

/**
 * Sends a request without metrics to the receiver.
 *
 * @param given where it is. Default: as the variables say.
 * @param spans the result for spans: what it reports is not reported again.
 * @param wanted whether the project has the packages that send metrics.
 */
export async function checkMetricsEndpoint(
  { headers, isInCode, url: option }: GivenEndpoint,
  env: Env,
  spans: CheckedEndpoint,
  wanted: boolean,
): Promise<Finding[]> {
  if ((option === undefined || isInCode) && switchedOff("metrics", env) !== undefined) {
    return [note("metrics: not checked, no metrics are sent")];
  }
  let url: string;
  try {
    url = signalEndpoint("metrics", option, env) ?? `${DEFAULT_URL}/metrics`;
  } catch (error) {
    const isReported = spans.findings.some(({ what }) => what === messageOf(error));
    return isReported ? [] : [problem(messageOf(error), FIX_VARIABLE)];
  }
  const { origin, port } = new URL(url);
  if (spans.url !== undefined && origin === new URL(spans.url).origin) {
    if (!spans.takesSpans) return [note("metrics: not checked, the receiver takes no spans")];
    if (port === REPLAY_PORT) return [note("metrics: not checked, the receiver is for replays")];
  }
  const level = wanted ? "problem" : "note";
  return [
    await ask("METRICS", `endpoint ${safe(shownUrl(url))}`, url, { headers, isInCode, level }),
  ];
}

/**
 * Sends a request without spans to the receiver of replays, which bypasses metrics.
 *
 * @param option the URL of `--replay-endpoint`. Default: port 4319 of the host of `live`, if `live` has port 4318.
 *   That one is reported only if it takes spans: who replays nothing needs none.
 * @param live where live spans go.
 */
export async function checkReplayEndpoint(
  option: string | undefined,
  live: string | undefined,
): Promise<Finding[]> {
  const url = option === undefined ? beside(live) : signalEndpoint("traces", option, {});
  if (url === undefined) return [];
  const name = `replay endpoint ${safe(shownUrl(url))}`;
  const asked = await ask("TRACES", name, url);
  return option !== undefined || asked.level === "ok" ? [asked] : [];
}

function beside(live: string | undefined): string | undefined {
  if (live === undefined) return undefined;
  const url = new URL(live);
  if (url.port !== LIVE_PORT) return undefined;
  url.port = REPLAY_PORT;
  return url.href;
}

interface Asked {
  /** Those of the code. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the code names the receiver, so that options and variables do not change it. */
  readonly isInCode?: boolean;
  /** Level of the finding if the receiver does not accept the request. Default `problem`. */
  readonly level?: "note" | "problem";
}

async function ask(
  signal: "TRACES" | "METRICS",
  name: string,
  url: string,
  { headers = {}, isInCode = false, level = "problem" }: Asked = {},
): Promise<Finding> {
  const answer = await probe(signal, url, ANSWER_MS, headers);
  if (answer.ok) return ok(`${name} takes ${signal === "TRACES" ? "spans" : "metrics"}`);
  return {
    level,
    what: `${name}: ${safe(answer.detail)}`,
    advice: adviceFor(answer, signal, url, isInCode),
  };
}

const OWN_LOG = "See the receiver's log.";

function adviceFor(
  { advice, busy, detail, status }: Probe,
  signal: "TRACES" | "METRICS",
  url: string,
  isInCode: boolean,
): string {
  if (busy) {
    return `The receiver runs, but its memory or queue is full, or its backend does not answer. ${OWN_LOG}`;
  }
  if (advice !== undefined) return advice;
  if (status === 400) {
    const isJson = protocolFromEnvironment(signal) === "http/json";
    const [encoding, other] = isJson ? ["JSON", "http/protobuf"] : ["protobuf", "http/json"];
    return `It may not take ${encoding}: try OTEL_EXPORTER_OTLP_${signal}_PROTOCOL=${other}. ${OWN_LOG}`;
  }
  if (status !== undefined) return OWN_LOG;
  const setting = isInCode ? "`endpoint` in the code" : "--endpoint or OTEL_EXPORTER_OTLP_ENDPOINT";
  if (/OTLP over gRPC|^Parse Error/.test(detail)) {
    return `Set ${setting} to the receiver's port for OTLP/HTTP, usually 4318.`;
  }
  const view = isLocal(url) ? `npx entelix-otel view --listen${portArgument(url)}, ` : "";
  return `Start ${view}a collector or Jaeger there, or set ${setting}.`;
}

/** The argument of `--listen` for this port; none for its default. */
function portArgument(url: string): string {
  const { port } = new URL(url);
  return port === "" || port === LIVE_PORT ? "" : ` ${port}`;
}

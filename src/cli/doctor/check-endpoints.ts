import {
  type Probe,
  type Protocol,
  probe,
  protocolFromEnvironment,
  shownUrl,
} from "../../bridge/door.ts";
import { messageOf } from "../cli-error.ts";
import { LIVE_PORT, REPLAY_PORT, signalEndpoint, switchedOff } from "../endpoints.ts";
import { safe } from "../terminal/text.ts";
import { type Finding, note, ok, problem } from "./finding.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** How long a receiver may take to answer, with the exporter's retries, in ms. */
export const ANSWER_MS = 3_000;

/** Where spans go when nobody says where. */
const DEFAULT_TRACES_URL = `http://localhost:${LIVE_PORT}/v1/traces`;

interface CheckedEndpoint {
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
  const url = given ?? DEFAULT_TRACES_URL;
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
function probeSpans(url: string): Promise<Probe> {
  return probe("TRACES", url, ANSWER_MS);
}

/** Where metrics go when nobody says where. */
const DEFAULT_METRICS_URL = `http://localhost:${LIVE_PORT}/v1/metrics`;

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
    url = signalEndpoint("metrics", option, env) ?? DEFAULT_METRICS_URL;
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

/** Port of OTLP over gRPC, which takes no HTTP requests of ours. */
const GRPC_PORT = "4317";

const OWN_LOG = "The receiver's own log says why.";

/**
 * What to do about a receiver that does not take a request at that address.
 *
 * @param protocol that the request was in.
 */
function adviceFor(probe: Probe, address: string, protocol: Protocol): string {
  const url = new URL(address);
  if (url.port === GRPC_PORT) {
    return "4317 is the port of OTLP over gRPC; this exporter sends OTLP/HTTP: try port 4318.";
  }
  switch (probe.status) {
    case undefined:
      return probe.busy
        ? `It is there: its memory or its queue is full, or what is behind it is away. ${OWN_LOG}`
        : adviceWithoutAnswer(probe.said);
    case 401:
    case 403:
      return "Say who you are: OTEL_EXPORTER_OTLP_HEADERS, for example authorization=Bearer%20TOKEN.";
    case 404:
    case 405:
      return url.pathname.endsWith("/v1/metrics")
        ? "Jaeger takes no metrics: send to a collector (collector-config.yaml), or set OTEL_METRICS_EXPORTER=none."
        : "Something else answers there. OTLP/HTTP is mostly on port 4318, at the path /v1/traces.";
    case 400:
      return protocol === "http/json"
        ? OWN_LOG
        : "It may not take protobuf: try OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/json. Its own log says why.";
    case 415:
      return protocol === "http/json"
        ? "It does not take JSON: switch OTLP/HTTP with JSON on at the receiver."
        : "It does not take protobuf: switch that on at the receiver, or set OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/json.";
    default:
      return OWN_LOG;
  }
}

/** What to do where no HTTP answer came. Node tells apart what went wrong with TLS by its texts alone. */
function adviceWithoutAnswer(said: string): string {
  if (said.includes("ENOTFOUND") || said.includes("EAI_AGAIN")) {
    return "The host name is not known here. Inside containers a service's own name counts, not localhost.";
  }
  if (/header content|a header has a name/.test(said)) {
    return "No request can carry the headers of OTEL_EXPORTER_OTLP_HEADERS.";
  }
  const alert = said.indexOf("alert ");
  if (alert >= 0 && said.includes("certificate", alert)) {
    return "It asks for a certificate of yours: OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY.";
  }
  if (/self-signed|first certificate|issuer certificate/.test(said)) {
    return "It is there, and not trusted: OTEL_EXPORTER_OTLP_CERTIFICATE names a file with its authority, as PEM.";
  }
  if (said.includes("certificate")) {
    return "It is there: its certificate has to be mended, or another name of it used.";
  }
  if (said.includes("wrong version number")) {
    return "It is there, and speaks no TLS on this port: try http:// in place of https://.";
  }
  if (said.startsWith("Parse Error")) {
    return "Something answers there, and not in HTTP/1.1. A port of OTLP over gRPC does so: OTLP/HTTP is mostly on port 4318.";
  }
  return "Start a collector or Jaeger there, or say where one is: --endpoint, OTEL_EXPORTER_OTLP_ENDPOINT.";
}

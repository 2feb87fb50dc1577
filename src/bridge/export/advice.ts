import type { SignalName } from "../setup/exporter-choice.ts";
import { shownUrl } from "../setup/shown-url.ts";
import { type SendFailure, StatusError, statusOf } from "./attempt.ts";

/** A request, for the advice on its failure. */
export interface AdvisedRequest {
  readonly url: string;
  readonly signal: SignalName;
  /** Whether it is in JSON, else in protobuf. */
  readonly isJson: boolean;
  /** Host and port of the proxy. `undefined` without one. */
  readonly proxy: string | undefined;
}

const USUAL = "OTLP/HTTP is usually on port 4318, at the path /v1/traces.";

const OTHER_PATH = `The receiver has no such path. ${USUAL} VictoriaMetrics takes only metrics, at /opentelemetry/v1/metrics.`;

/** What an operator can do about a failed request. `undefined`: the error says all that is known. */
export function adviceOn(failure: SendFailure, request: AdvisedRequest): string | undefined {
  const { detail = "", error } = failure;
  const status = statusOf(error);
  // VictoriaMetrics answers 400 at a path that it does not have.
  if (status === 400 && /\bpath\b/i.test(detail)) return OTHER_PATH;
  return status === undefined
    ? WITHOUT_ANSWER.find(([pattern]) => pattern.test(error.message))?.[1]
    : adviceOnStatus(status, request);
}

function adviceOnStatus(status: number, request: AdvisedRequest): string | undefined {
  const { isJson, signal, url } = request;
  const [encoding, other] = isJson ? ["JSON", "http/protobuf"] : ["protobuf", "http/json"];
  const variable = `OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`;
  switch (status) {
    case 401:
    case 403:
      return "Set credentials in OTEL_EXPORTER_OTLP_HEADERS, for example authorization=Bearer%20TOKEN.";
    case 404:
    case 405:
      return new URL(url).pathname.endsWith("/v1/metrics")
        ? "Jaeger takes no metrics: send to a collector (collector-config.yaml), or set OTEL_METRICS_EXPORTER=none."
        : `Another server answers there. ${USUAL}`;
    case 407:
      return "Set user and password in the proxy's address: HTTPS_PROXY=http://USER:PASSWORD@HOST:PORT.";
    case 415:
      return `The receiver does not take ${encoding}. Enable it there, or set ${variable}=${other}.`;
    default:
  }
  if (status < 300) {
    return `Another server answers there, such as Jaeger's page (16686) or the collector's health check (13133). ${USUAL}`;
  }
  return status < 400 ? "Set the endpoint to the address that it redirects to." : undefined;
}

/** By the text of the error, since Node has no codes for most errors of TLS. The first match counts. */
const WITHOUT_ANSWER: readonly (readonly [error: RegExp, advice: string])[] = [
  [
    /ENOTFOUND|EAI_AGAIN/,
    "The host name cannot be resolved. In a container, use the name of the service, not localhost.",
  ],
  [
    /header content|a header has a name/,
    "No request can carry the headers of OTEL_EXPORTER_OTLP_HEADERS.",
  ],
  [
    /alert (?:bad |no |unsupported )?certificate/,
    "It requires a client certificate. Set OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY.",
  ],
  [
    /self-signed|first certificate|issuer certificate/,
    "Its certificate is not trusted. Set OTEL_EXPORTER_OTLP_CERTIFICATE to a PEM file with its authority.",
  ],
  [/certificate/, "Its certificate is not valid. Fix it, or use a host name that it contains."],
  [/wrong version number/, "It does not use TLS on this port: try http:// instead of https://."],
];

/**
 * What a report of the failure adds to its error: the address if the server answered, the proxy, and the advice. The
 * error keeps it, since reports have only that.
 */
export function advise(failure: SendFailure, request: AdvisedRequest): void {
  const { error } = failure;
  const status = statusOf(error);
  const from = status === undefined ? [] : [`from ${shownUrl(request.url)}`];
  const through = request.proxy === undefined ? [] : [`through the proxy ${request.proxy}`];
  const way = [...from, ...through].join(" ");
  const isUnsaid = request.signal === "TRACES" && error instanceof StatusError;
  const advice = adviceOn(failure, request) ?? (isUnsaid ? DEBUG : undefined);
  const more = [way === "" ? "" : ` (${way})`, advice === undefined ? "" : `. ${advice}`].join("");
  Object.assign(error, { more });
}

/** The text of an answer can repeat content that was sent, so reports about spans do not have it. */
const DEBUG = "OTEL_LOG_LEVEL=debug shows its text.";

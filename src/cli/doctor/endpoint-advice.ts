import type { Probe } from "../../otel/replay/probe.ts";
import type { Protocol } from "../../otel/setup/exporter-choice.ts";

/** Port of OTLP over gRPC, which takes no HTTP requests of ours. */
const GRPC_PORT = "4317";

const OWN_LOG = "The receiver's own log says why.";

/**
 * What to do about a receiver that does not take a request at that address.
 *
 * @param protocol that the request was in.
 */
export function adviceFor(probe: Probe, address: string, protocol: Protocol): string {
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
  if (/alert .*certificate/.test(said)) {
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

import { OtlpEndpoint, type Probe } from "../../otel/replay/otlp-endpoint.ts";
import { messageOf } from "../cli-error.ts";
import { safe } from "../terminal/safe-text.ts";
import { tracesEndpoint } from "../traces-endpoint.ts";
import { type Finding, note, ok, problem } from "./finding.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** How long the receiver may take to answer, with the exporter's retries, in ms. */
const ANSWER_MS = 3_000;

/** Port of OTLP over gRPC, which takes no HTTP requests of ours. */
const GRPC_PORT = "4317";

/** Where spans go when nobody says where. */
export const DEFAULT_TRACES_URL = "http://localhost:4318/v1/traces";

/**
 * Asks the receiver to take a request without spans, as the exporter would send it.
 *
 * @param option where the user says it is; default: where the variables point.
 */
export async function checkEndpoint(option: string | undefined, env: Env): Promise<Finding> {
  if (option === undefined && !sends(env)) {
    return note("endpoint: not asked, nothing is sent there");
  }
  let url: string | undefined;
  try {
    url = tracesEndpoint(option, env);
  } catch (error) {
    return problem(messageOf(error), "Mend the variable, or unset it.");
  }
  const target = url ?? DEFAULT_TRACES_URL;
  const endpoint = new OtlpEndpoint({ url: target, timeoutMs: ANSWER_MS });
  const named = `endpoint ${safe(endpoint.result.url)}${url === undefined ? " (the default)" : ""}`;
  const answer = await endpoint.probe();
  await endpoint.close();
  if (answer.ok) return ok(`${named} takes spans`);
  return problem(`${named}: ${safe(answer.said)}`, adviceFor(answer, new URL(target)));
}

/** Whether the setup would send by OTLP at all; that it would not is a finding of its own. */
function sends(env: Env): boolean {
  if (env.OTEL_SDK_DISABLED?.trim().toLowerCase() === "true") return false;
  const exporters = env.OTEL_TRACES_EXPORTER?.trim().toLowerCase();
  return exporters !== "none" && exporters !== "console";
}

function adviceFor({ said, status }: Probe, url: URL): string {
  if (url.port === GRPC_PORT) {
    return "4317 is the port of OTLP over gRPC; this exporter sends OTLP/HTTP: try port 4318.";
  }
  switch (status) {
    case undefined:
      return said.includes("ENOTFOUND") || said.includes("EAI_AGAIN")
        ? "The host name is not known here. Inside containers a service's own name counts, not localhost."
        : "Start a collector or Jaeger there, or say where one is: --endpoint, OTEL_EXPORTER_OTLP_ENDPOINT.";
    case 401:
    case 403:
      return "Say who you are: OTEL_EXPORTER_OTLP_HEADERS, for example authorization=Bearer%20TOKEN.";
    case 404:
    case 405:
      return "Something else answers there. OTLP/HTTP is mostly on port 4318, at the path /v1/traces.";
    case 415:
      return "It does not take JSON: switch OTLP/HTTP with JSON on at the receiver.";
    default:
      return "The receiver's own log says why.";
  }
}

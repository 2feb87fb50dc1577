import { isHttpFailure } from "./agent-error.ts";
import { property } from "./thrown-property.ts";
import { retryAfterMs } from "./thrown-retry-after.ts";
import { rpcRetryMs } from "./thrown-rpc-status.ts";

/** What an error of an HTTP client says about the answer. */
export interface ThrownHttp {
  readonly status: number;
  readonly retryAfterMs: number | undefined;
}

/** Where the answer itself is: axios, got and gaxios; AWS; Hugging Face. */
const RESPONSES = ["response", "$response", "httpResponse"];

/**
 * The HTTP answer that an error carries, in the shapes that client libraries give it: `status`,
 * `statusCode` or Ollama's `status_code`, with `headers` (OpenAI, Anthropic, Google, a thrown
 * `Response`) or `responseHeaders` (AI SDK), the same below the answer, and AWS's `$metadata`.
 */
export function thrownHttp(thrown: unknown): ThrownHttp | undefined {
  const response = RESPONSES.map((key) => property(thrown, key)).find((it) => it != null);
  const status = [
    property(thrown, "status"),
    property(thrown, "statusCode"),
    property(thrown, "status_code"),
    property(response, "status"),
    property(response, "statusCode"),
    property(property(thrown, "$metadata"), "httpStatusCode"),
  ].find((value) => typeof value === "number");
  if (status === undefined) return undefined;
  const headers = [
    property(thrown, "headers"),
    property(thrown, "responseHeaders"),
    property(response, "headers"),
    // Cohere's; its status is made up where there was no answer.
    property(property(thrown, "rawResponse"), "headers"),
  ].find((value) => typeof value === "object" && value !== null);
  // Another number named `status` may as well be the exit code of a child process.
  if (!isHttpFailure(status) && headers === undefined) return undefined;
  return {
    status,
    retryAfterMs: retryAfterMs(headers, Date.now()) ?? rpcRetryMs(thrown, response),
  };
}

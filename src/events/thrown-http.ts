import { isHttpFailure } from "./agent-error.ts";
import { property } from "./thrown-property.ts";
import { retryAfterMs } from "./thrown-retry-after.ts";

/** What an error of an HTTP client says about the answer. */
export interface ThrownHttp {
  readonly status: number;
  readonly retryAfterMs: number | undefined;
}

/**
 * The HTTP answer that an error carries, in the shapes that client libraries give it: `status` or
 * `statusCode` with `headers` (OpenAI, Anthropic, Google, a thrown `Response`) or `responseHeaders`
 * (AI SDK), the same below `response` (axios, got, gaxios), `$metadata` and `$response` (AWS).
 */
export function thrownHttp(thrown: unknown): ThrownHttp | undefined {
  const response = property(thrown, "response") ?? property(thrown, "$response");
  const status = [
    property(thrown, "status"),
    property(thrown, "statusCode"),
    property(response, "status"),
    property(response, "statusCode"),
    property(property(thrown, "$metadata"), "httpStatusCode"),
  ].find((value) => typeof value === "number");
  if (status === undefined) return undefined;
  const headers = [
    property(thrown, "headers"),
    property(thrown, "responseHeaders"),
    property(response, "headers"),
  ].find((value) => typeof value === "object" && value !== null);
  // Another number named `status` may as well be the exit code of a child process.
  if (!isHttpFailure(status) && headers === undefined) return undefined;
  return { status, retryAfterMs: retryAfterMs(headers, Date.now()) };
}

import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Refusal } from "./refusal.ts";
import type { BodyEncoding } from "./request-body.ts";

/** Value of `?dialect=` for detection by line. */
const AUTO = "auto";

/** Properties of a request's events in its head. */
interface EventHead {
  readonly encoding: BodyEncoding;
  /** Name of the dialect. `undefined`: each line shows its own. */
  readonly dialect: string | undefined;
}

/**
 * Reads the head of a `POST /v1/events`.
 *
 * @param names known dialects, including `auto`.
 * @throws Refusal for the first problem.
 */
export function readEventHead(
  headers: IncomingHttpHeaders,
  query: URLSearchParams,
  names: readonly string[],
  maxBodyBytes: number,
): EventHead {
  checkType(headers["content-type"]);
  const encoding = encodingOf(headers["content-encoding"]);
  const dialect = dialectOf(query, names);
  const length = Number(headers["content-length"] ?? 0);
  if (length > maxBodyBytes) {
    throw new Refusal("body_size", `expected a body of at most ${maxBodyBytes} bytes`);
  }
  return { encoding, dialect };
}

function checkType(type = ""): void {
  const [media = "", ...parameters] = type.split(";").map((part) => part.trim().toLowerCase());
  const charsets = parameters.filter((parameter) => parameter.startsWith("charset="));
  const utf8 = charsets.every((charset) => /^charset="?utf-?8"?$/.test(charset));
  if (media === "application/x-ndjson" && utf8) return;
  throw new Refusal("media_type", "expected Content-Type: application/x-ndjson");
}

/** @throws Refusal for another `Content-Encoding` than gzip and identity. */
export function encodingOf(encoding = "identity"): BodyEncoding {
  const name = encoding.trim().toLowerCase();
  if (name === "gzip" || name === "x-gzip") return "gzip";
  if (name === "identity" || name === "") return "identity";
  throw new Refusal("encoding", "expected Content-Encoding: gzip, or none");
}

function dialectOf(query: URLSearchParams, names: readonly string[]): string | undefined {
  const [name = AUTO, another] = query.getAll("dialect");
  if (another === undefined && names.includes(name)) return name === AUTO ? undefined : name;
  throw new Refusal("dialect", `expected dialect to be one of ${names.join(", ")}`);
}

/**
 * Rejects request heads that Node's parser accepts although HTTP/1.1 forbids them, or this service does not support
 * them. Node would answer some with an empty body and ignore the rest.
 *
 * @throws Refusal for the first problem.
 */
export function checkHead(request: IncomingMessage): void {
  const { headers, headersDistinct, httpVersion } = request;
  if (httpVersion !== "1.1" && httpVersion !== "1.0") {
    throw new Refusal("bad_request", `expected HTTP/1.1, got HTTP/${httpVersion}`);
  }
  const hosts = headersDistinct.host?.length ?? 0;
  if (hosts > 1 || (hosts === 0 && httpVersion === "1.1")) {
    throw new Refusal(
      "bad_request",
      `expected one Host header, got ${hosts === 0 ? "none" : hosts}`,
    );
  }
  const coding = headers["transfer-encoding"];
  if (coding !== undefined) checkCoding(coding, httpVersion);
  if (hasExpectation(request) && headers.expect?.trim().toLowerCase() !== "100-continue") {
    throw new Refusal("expectation", "expected Expect: 100-continue, or none");
  }
}

/** Whether the sender waits for `100 Continue`. In HTTP/1.0 the header has no meaning. */
export function hasExpectation({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.expect !== undefined && httpVersion === "1.1";
}

/** With another coding than chunked the body would stay encoded, and its lines would be misread. */
function checkCoding(coding: string, httpVersion: string): void {
  if (httpVersion === "1.0") {
    throw new Refusal("bad_request", "expected no Transfer-Encoding in a request of HTTP/1.0");
  }
  if (coding.trim().toLowerCase() !== "chunked") {
    throw new Refusal("not_implemented", "expected Transfer-Encoding: chunked, or none");
  }
}

import type { IncomingMessage } from "node:http";
import { Refusal } from "./refusal.ts";

/**
 * Checks what Node's parser takes in the head of a request though HTTP/1.1 forbids it, or though nothing
 * here understands it. Node would answer some of it by itself, with an empty body, and pass over the rest.
 *
 * @throws Refusal for the first thing that is wrong.
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

/** Whether the sender waits for a word before it sends the body. In HTTP/1.0 the header means nothing. */
export function hasExpectation({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.expect !== undefined && httpVersion === "1.1";
}

/** Another coding than chunked would leave the body encoded, and its lines would be taken for others. */
function checkCoding(coding: string, httpVersion: string): void {
  if (httpVersion === "1.0") {
    throw new Refusal("bad_request", "expected no Transfer-Encoding in a request of HTTP/1.0");
  }
  if (coding.trim().toLowerCase() !== "chunked") {
    throw new Refusal("not_implemented", "expected Transfer-Encoding: chunked, or none");
  }
}

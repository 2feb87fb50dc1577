import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { checkHead, isLocalHost, Refusal } from "../../service/door.ts";

/** Random bytes of a secret: too many to be guessed. */
const SECRET_BYTES = 32;

const BEARER = "Bearer ";

/**
 * Admits the first browser that has the token of the address, and gives it a session. A copy of the address in a
 * history or a log is useless after that. The session is not a cookie, because browsers send cookies to every port of a
 * host. The page stores it for its own origin, and sends it in a header.
 */
export class PageAccess {
  /** For the address of the page. */
  readonly token = secret();
  readonly #session = secret();
  #used = false;

  /** @returns the session at the first use of the token, else `undefined`. */
  exchange(token: string): string | undefined {
    // A used token is compared as well, so that the time of the answer does not depend on it.
    if (!isSame(token, this.token) || this.#used) return undefined;
    this.#used = true;
    return this.#session;
  }

  /** Whether an `Authorization` header has the session. */
  admits(header = ""): boolean {
    return header.startsWith(BEARER) && isSame(header.slice(BEARER.length), this.#session);
  }
}

function secret(): string {
  return randomBytes(SECRET_BYTES).toString("base64url");
}

/** In constant time: hashes have the same length. */
function isSame(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/**
 * Checks that a request comes from a page of this server. It refuses pages of other sites, and other host names that
 * resolve to this address.
 *
 * @throws Refusal naming the first problem.
 */
export function checkRequest(request: IncomingMessage, port: number): void {
  checkHead(request);
  const { headers, method } = request;
  const { host, origin } = headers;
  if (!isLocalHost(host) || portOf(host) !== String(port)) {
    throw new Refusal("host", `expected the Host 127.0.0.1:${port}`);
  }
  const site = headers["sec-fetch-site"];
  const isForeign = site !== undefined && site !== "same-origin" && site !== "none";
  if (isForeign || (origin !== undefined && origin !== `http://${host}`)) {
    throw new Refusal(
      "forbidden",
      "This request comes from another page. Type or paste the address into the browser.",
    );
  }
  if (method !== "GET" && method !== "HEAD") {
    throw new Refusal("method", `expected GET or HEAD, got ${method}`);
  }
}

/** As text: browsers write a port without leading zeros. */
function portOf(host = ""): string {
  const [, port = "80"] = /:(\d*)$/.exec(host) ?? [];
  return port;
}

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { checkHead, isLocalHost, Refusal } from "../../service/door.ts";

/** Random bytes of a secret: far more than can be guessed. */
const SECRET_BYTES = 32;

/** What stands before the session in the header. */
const BEARER = "Bearer ";

/**
 * Decides who may see the runs: the first browser with the token of the address, which gets a session for it. The address
 * stays in histories and logs, where it is of no use to anybody. The session is no cookie, since browsers send cookies to
 * every port of a host: the page keeps it for its own origin, and sends it in a header.
 */
export class PageAccess {
  /** For the address of the page. */
  readonly token = secret();
  readonly #session = secret();
  #used = false;

  /** @returns the session for the token, at its first use; else nothing. */
  exchange(token: string): string | undefined {
    // Compared also when it was used, so that the time tells nothing.
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

/** In the same time wherever they differ, and however long they are. */
function isSame(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/**
 * Checks that a request comes from this machine's own user: no page of another site, and no name of a stranger's
 * that leads to this address, gets an answer.
 *
 * @throws Refusal for the first thing that is wrong.
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

/** As it is written: browsers write a number without zeros before it. */
function portOf(host = ""): string {
  const [, port = "80"] = /:(\d*)$/.exec(host) ?? [];
  return port;
}

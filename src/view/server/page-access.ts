import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

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

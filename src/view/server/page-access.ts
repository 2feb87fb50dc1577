import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** Random bytes of a secret: far more than can be guessed. */
const SECRET_BYTES = 32;

/**
 * Decides who may see the page: the first browser with the token of the address, and then the browser with the cookie it
 * was exchanged for. The address stays in histories and logs, where it is of no use to anybody.
 */
export class PageAccess {
  /** For the address of the page. */
  readonly token = secret();
  readonly #session = secret();
  readonly #cookie: string;
  #used = false;

  /** @param port part of the cookie's name: browsers share cookies among the ports of a host. */
  constructor(port: number) {
    this.#cookie = `entelix-view-${port}`;
  }

  /** @returns the cookie for the token, at its first use; else nothing. */
  exchange(token: string): string | undefined {
    // Compared also when it was used, so that the time tells nothing.
    if (!isSame(token, this.token) || this.#used) return undefined;
    this.#used = true;
    return `${this.#cookie}=${this.#session}; HttpOnly; SameSite=Strict; Path=/`;
  }

  /** Whether a `Cookie` header has the cookie. */
  admits(header: string | undefined): boolean {
    return (header ?? "").split(";").some((pair) => {
      const at = pair.indexOf("=");
      return pair.slice(0, at).trim() === this.#cookie && isSame(pair.slice(at + 1), this.#session);
    });
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

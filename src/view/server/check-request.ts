import type { IncomingMessage } from "node:http";
import { checkHead, isLocalHost, Refusal } from "../../service/door.ts";

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

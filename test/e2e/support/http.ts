/** How long a server of this machine may take to answer, in ms. */
const TIMEOUT_MS = 30_000;

export class HttpStatusError extends Error {
  readonly status: number;

  constructor(url: string, status: number, body: string) {
    super(`${url}: status ${status}: ${body.slice(0, 500)}`);
    this.name = "HttpStatusError";
    this.status = status;
  }
}

/** @throws HttpStatusError when the answer is no success. */
export async function fetchText(url: string, init: RequestInit = {}): Promise<string> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
  const body = await response.text();
  if (!response.ok) throw new HttpStatusError(url, response.status, body);
  return body;
}

export async function fetchJson(url: string, init: RequestInit = {}): Promise<unknown> {
  const body = await fetchText(url, init);
  const value: unknown = JSON.parse(body);
  return value;
}

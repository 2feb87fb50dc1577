import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { field, list, text } from "./json-shape.ts";

/** How often a line is sent until it is told of, where the caller does not say. */
const TRIES = 200;

/** What became of a line, by the service's answer. */
export interface LineResult {
  readonly line: number;
  readonly status: string;
  readonly field?: string;
}

export interface SentLines {
  readonly status: number;
  readonly results: readonly LineResult[];
  /** Code of the error, where the answer has one. */
  readonly code: string | undefined;
}

/** Sends lines once. @throws where there is no answer. */
export async function sendLines(
  url: string,
  lines: readonly string[],
  { token, gzip = false }: { readonly token?: string; readonly gzip?: boolean } = {},
): Promise<SentLines> {
  const body = lines.map((line) => `${line}\n`).join("");
  const response = await fetch(`${url}/v1/events`, {
    method: "POST",
    headers: {
      "content-type": "application/x-ndjson",
      ...(gzip ? { "content-encoding": "gzip" } : {}),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: gzip ? gzipSync(body) : body,
    signal: AbortSignal.timeout(20_000),
  });
  const answer: unknown = await response.json();
  const error = field(answer, "error");
  const results = field(answer, "results") === undefined ? [] : list(answer, "results");
  return {
    status: response.status,
    code: error === undefined ? undefined : text(error, "code"),
    results: results.map((result) => {
      const name = field(result, "field");
      return {
        line: Number(field(result, "line")),
        status: text(result, "status"),
        ...(typeof name === "string" ? { field: name } : {}),
      };
    }),
  };
}

/** Sends lines as often as it takes until each one is durable: what is told of is not sent again. */
export async function sendUntilTaken(
  url: string,
  lines: readonly string[],
  onTaken: (line: string) => void = () => {},
  most = TRIES,
): Promise<void> {
  let open = lines;
  for (let tries = 0; open.length > 0; tries += 1) {
    if (tries >= most) throw new Error(`${open.length} lines were not taken`);
    const sent = await sendLines(url, open, { gzip: tries % 2 === 1 }).catch(() => undefined);
    const told = new Set(sent?.results.map(({ line }) => line));
    for (const { line, status, field: name } of sent?.results ?? []) {
      if (status === "rejected") throw new Error(`line ${line}: ${name}`);
      onTaken(open[line - 1] ?? "");
    }
    open = open.filter((_, at) => !told.has(at + 1));
    if (open.length > 0) await sleep(20);
  }
}

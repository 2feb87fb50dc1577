import type { IncomingHttpHeaders } from "node:http";
import type { BodyEncoding } from "./body-text.ts";
import { Refusal } from "./refusal.ts";

/** What `?dialect=` says when each line tells its own. */
const AUTO = "auto";

/** What the head of a request says of its events. */
export interface EventHead {
  readonly encoding: BodyEncoding;
  /** Name of the dialect; `undefined`: each line tells its own. */
  readonly dialect: string | undefined;
}

/**
 * Reads the head of a `POST /v1/events`.
 *
 * @param names the dialects that are known, `auto` among them.
 * @throws Refusal for the first thing that is wrong with it.
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

function encodingOf(encoding = "identity"): BodyEncoding {
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

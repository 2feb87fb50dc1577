/** An answer as it came over the wire. */
export interface RawAnswer {
  readonly status: number;
  /** By name in small letters. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/**
 * The first answer in what came, interim ones left out; `undefined` while it is not whole.
 *
 * @throws Error where what came is no HTTP.
 */
export function firstAnswer(text: string): RawAnswer | undefined {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const [first = "", ...lines] = text.slice(0, end).split("\r\n");
  const [, status] = /^HTTP\/1\.[01] (\d{3})\b/.exec(first) ?? [];
  if (status === undefined) throw new Error(`expected an answer, got ${first}`);
  if (status.startsWith("1") && status !== "101") return firstAnswer(text.slice(end + 4));
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const length = Number(headers.get("content-length") ?? 0);
  const body = text.slice(end + 4);
  if (body.length < length) return undefined;
  return { status: Number(status), headers, body: body.slice(0, length) };
}

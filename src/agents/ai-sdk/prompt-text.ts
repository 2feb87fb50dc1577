/** A shorter text is parsed as it is. */
const MOST_PARSED = 64 * 1024;

const BUFFER_HEAD = '{"type":"Buffer","data":[';

/** The two forms of bytes in the SDK's JSON: `{"0":137,"1":80}` of a `Uint8Array`, and a `Buffer`'s list. */
const FORMS = [
  { type: "Uint8Array", head: '{"0":', end: "}" },
  { type: "Buffer", head: BUFFER_HEAD, end: "]}" },
] as const;

/**
 * The JSON of a prompt with long bytes by type and length: `{"type":"Uint8Array","bytes":5000000}`. The SDK 6 writes
 * each byte as a field, and parsing them takes seconds. Within a JSON text, quotes are escaped, so no user's text has
 * the form of bytes.
 */
export function withoutBytes(json: string): string {
  if (json.length <= MOST_PARSED) return json;
  return FORMS.reduce((text, form) => replaced(text, form), json);
}

function replaced(json: string, { end, head, type }: (typeof FORMS)[number]): string {
  let text = "";
  let from = 0;
  for (let at = json.indexOf(head); at >= 0; at = json.indexOf(head, at + head.length)) {
    const last = json.indexOf(end, at);
    if (last - at < MOST_PARSED) continue;
    const count = countOf(json, at, last, type);
    if (count === undefined) continue;
    text += `${json.slice(from, at)}{"type":"${type}","bytes":${count}}`;
    from = last + end.length;
    at = last;
  }
  return from === 0 ? json : text + json.slice(from);
}

/** The number of bytes, or `undefined` if the JSON has anything else. */
function countOf(json: string, at: number, last: number, type: string): number | undefined {
  if (type === "Buffer") {
    let count = 1;
    for (let index = at + BUFFER_HEAD.length; index < last; index += 1) {
      const code = json.charCodeAt(index);
      if (code === 0x2c) count += 1;
      else if (code < 0x30 || code > 0x39) return undefined;
    }
    return count;
  }
  const [, index] = /"(\d+)":\d{1,3}$/.exec(json.slice(last - 24, last)) ?? [];
  const count = Number(index) + 1;
  // Each byte has its index as a name, a value of up to three digits, and four more characters.
  const digits = digitsUpTo(count);
  const length = last - at - 1;
  const isBytes = length >= digits + count * 5 - 1 && length <= digits + count * 7 - 1;
  return isBytes && !hasOther(json, at + 1, last) ? count : undefined;
}

/** Characters of all numbers from 0, below a limit. */
function digitsUpTo(count: number): number {
  let digits = count;
  for (let from = 10; from < count; from *= 10) digits += count - from;
  return digits;
}

/** Whether there is an object, a list or an escape. */
function hasOther(json: string, from: number, to: number): boolean {
  return ["{", "[", "\\"].some((mark) => {
    const found = json.indexOf(mark, from);
    return found >= 0 && found < to;
  });
}

const TRACEPARENT =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-[\x21-\x7e]*)?$/;
/** Length of a `traceparent` of version 00; later ones may have more behind. */
const USUAL_LENGTH = 55;
const MOST_TRACEPARENT = 256;

/** The bounds of the W3C recommendation that everybody has to pass on. */
const MOST_TRACESTATE = 512;
const MOST_MEMBERS = 32;
/** Members that go first when there is too much. */
const LONG_MEMBER = 128;

const KEY = /^[a-z0-9][a-z0-9_\-*/]{0,255}(?:@[a-z][a-z0-9_\-*/]{0,13})?$/;
const VALUE = /^[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** Whether a text is a W3C `traceparent` of any version. */
export function isTraceparent(text: string): boolean {
  return (
    text.length <= MOST_TRACEPARENT &&
    TRACEPARENT.test(text) &&
    (text.length === USUAL_LENGTH || !text.startsWith("00"))
  );
}

/** The trace id in a `traceparent`. */
export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35);
}

/**
 * A `tracestate` within the bounds of W3C's recommendation, as it has it: whole members go, first those
 * of more than 128 characters, then the last ones. Of members with one key the first stays.
 *
 * @returns `undefined` when nothing is left, or a member is malformed.
 */
export function fitTracestate(text: string): string | undefined {
  // Past this nobody has meant it; and no attacker's text is taken apart at length.
  if (text.length > 16 * MOST_TRACESTATE) return undefined;
  const members = new Map<string, string>();
  for (const part of text.split(",")) {
    const member = part.replace(/^[ \t]+|[ \t]+$/g, "");
    if (member === "") continue;
    const at = member.indexOf("=");
    const key = member.slice(0, at);
    if (at < 1 || !KEY.test(key) || !VALUE.test(member.slice(at + 1))) return undefined;
    if (!members.has(key)) members.set(key, member);
  }
  let kept = [...members.values()];
  if (tooMuch(kept)) kept = kept.filter((member) => member.length <= LONG_MEMBER);
  while (tooMuch(kept)) kept.pop();
  return kept.length === 0 ? undefined : kept.join(",");
}

function tooMuch(members: readonly string[]): boolean {
  return members.length > MOST_MEMBERS || members.join(",").length > MOST_TRACESTATE;
}

/** The SDK's span ids: `span_` and 24 hex digits. */
const SPAN_ID_LENGTH = 29;

const LAST_DIGIT = {
  start: "1",
  end: "2",
  approved: "3",
  denied: "4",
  "root-start": "5",
  "root-end": "6",
  "run-start": "7",
  "run-end": "8",
} as const;

/** What is told of a call, or of the runs that a span opened: the trace's own, and one below it. */
export type News = keyof typeof LAST_DIGIT;

/**
 * The event id of something told of a span: the same however often it is told. Made to look like a
 * UUID where the span id allows it, since a bridge remembers those as numbers and other ids as texts.
 */
export function eventIdOf(spanId: string, news: News): string {
  if (spanId.length !== SPAN_ID_LENGTH) return `${spanId}:${news}`;
  const groups = [
    spanId.slice(5, 13),
    spanId.slice(13, 17),
    spanId.slice(17, 21),
    spanId.slice(21, 25),
    `${spanId.slice(25)}0000000${LAST_DIGIT[news]}`,
  ];
  return groups.join("-");
}

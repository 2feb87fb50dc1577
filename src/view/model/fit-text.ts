import { cut } from "../../events/format/door.ts";

/**
 * A text, or as much of its beginning as fits into a width, with an ellipsis.
 *
 * @param widthOf the width of a text, in the unit of `width`.
 */
export function fitText(text: string, width: number, widthOf: (text: string) => number): string {
  if (widthOf(text) <= width) return text;
  const start = (length: number) => `${cut(text, length).text}…`;
  // The longest start that fits, by halves.
  let [fits, tooLong] = [0, text.length];
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    if (widthOf(start(middle)) <= width) fits = middle;
    else tooLong = middle;
  }
  return start(fits);
}

/** A text without the characters of one kind at its end. A regular expression such as `/0+$/` tries again at each of them: it takes quadratic time. */
export function trimmedEnd(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}

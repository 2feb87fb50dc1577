/**
 * An id as it is stored: as JSON writes it, without the quotes. PostgreSQL's text can hold neither
 * U+0000 nor half a surrogate pair; this can say both, and most ids stand there as they are.
 */
export function storedText(id: string): string {
  return JSON.stringify(id).slice(1, -1);
}

/** The id of a stored text; of a text that was edited into none, the text itself. */
export function idOf(text: string): string {
  try {
    const id: unknown = JSON.parse(`"${text}"`);
    return typeof id === "string" ? id : text;
  } catch {
    return text;
  }
}

/** Approximate length of a piece in UTF-16 units. */
const PIECE = 64 * 1024;

/**
 * An object as JSON in pieces. Entries of its arrays are converted one by one: the spans of a run can be too long for
 * one string.
 */
export function* jsonPieces(value: object): Generator<string, void, undefined> {
  let text = "{";
  let before = "";
  const entries: [string, unknown][] = Object.entries(value);
  for (const [name, field] of entries) {
    if (field === undefined) continue;
    text += `${before}${JSON.stringify(name)}:`;
    before = ",";
    if (!Array.isArray(field)) {
      text += JSON.stringify(field);
      continue;
    }
    text += "[";
    for (const [at, entry] of field.entries()) {
      text += `${at === 0 ? "" : ","}${JSON.stringify(entry)}`;
      if (text.length < PIECE) continue;
      yield text;
      text = "";
    }
    text += "]";
  }
  yield `${text}}`;
}

/**
 * Finds the lines of a JSON value that is written over several lines: `JSON.stringify(value, undefined, 2)`. One error
 * is enough for all of them.
 */
export class LinesOfValues {
  #hasOpened = false;
  #isOpen = false;

  /**
   * Takes the next line of a source.
   *
   * @param isWhole whether it can be read by itself.
   * @returns whether it continues a value that began in a line before.
   */
  continues(text: string, isWhole: boolean): boolean {
    if (isWhole && !this.#isOpen) return false;
    const isPart = this.#isOpen && (!isWhole || isIndented(text));
    const isOpening = !isWhole && opensValue(text);
    this.#isOpen = isPart || isOpening;
    const isEnd = this.#hasOpened && isClosing(text);
    this.#hasOpened ||= isOpening;
    return isPart || isEnd;
  }
}

/** Whether a line only begins a JSON value: `{`, `[`, `{ "resourceSpans": [`. */
export function opensValue(text: string): boolean {
  const line = text.trim();
  return isOpener(line[0]) && isOpener(line.at(-1));
}

function isOpener(character: string | undefined): boolean {
  return character === "{" || character === "[";
}

/** Whether a line has only the end of a value. It can come behind a whole line: `]`. */
function isClosing(text: string): boolean {
  const line = text.trim();
  return line === "]" || line === "}";
}

function isIndented(text: string): boolean {
  return text.startsWith(" ") || text.startsWith("\t");
}

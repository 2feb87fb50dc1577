/**
 * Position of the row that a key moves to; `undefined` for other keys.
 *
 * @param page rows of a page.
 */
export function nextRow(
  key: string,
  position: number,
  length: number,
  page: number,
): number | undefined {
  const at = (next: number) => Math.min(Math.max(next, 0), length - 1);
  switch (key) {
    case "ArrowUp":
      return at(position - 1);
    case "ArrowDown":
      return at(position + 1);
    case "PageUp":
      return at(position - Math.max(page, 1));
    case "PageDown":
      return at(position + Math.max(page, 1));
    case "Home":
      return at(0);
    case "End":
      return at(length - 1);
    default:
      return undefined;
  }
}

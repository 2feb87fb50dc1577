/**
 * Checks what names a call. The events say it as it is, and no reader of them takes anything but text.
 *
 * @param of the method, for the error.
 * @throws TypeError for a name that is empty, and for anything else that is there and no text.
 */
export function checkCallTexts(
  of: "tool" | "model",
  name: unknown,
  texts: { readonly [field: string]: unknown },
): void {
  if (typeof name !== "string" || name === "") {
    throw new TypeError(`${of}: expected a name that is not empty, got ${typeof name}`);
  }
  for (const field in texts) {
    const value = texts[field];
    if (value === undefined || value === null || typeof value === "string") continue;
    throw new TypeError(`${of} ${name}: expected ${field} to be a text, got ${typeof value}`);
  }
}

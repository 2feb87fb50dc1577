import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseExact } from "../../../src/entries/events.ts";
import { isObject } from "../../../src/events/door.ts";

/** One line of a golden file: the text as it stands there, and the same parsed exactly. */
export interface GoldenLine {
  readonly id: string;
  readonly text: string;
  readonly value: Readonly<Record<string, unknown>>;
}

export function goldenLines(name: string): GoldenLine[] {
  const path = join(import.meta.dirname, "../../golden", name);
  const lines = readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "");
  return lines.map((text) => {
    const value = parseExact(text);
    if (!isObject(value) || typeof value.id !== "string") throw new Error(`${name}: no id`);
    return { id: value.id, text, value };
  });
}

/** The text of the field that ends the line. */
export function lastField(line: GoldenLine, name: string): string {
  const start = line.text.indexOf(`,"${name}":`);
  if (start < 0) throw new Error(`${line.id}: no ${name}`);
  return line.text.slice(start + name.length + 4, -1);
}

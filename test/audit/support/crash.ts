import { readFile, writeFile } from "node:fs/promises";

/** Makes of a segment that was closed what a crash would have left: no close mark, and perhaps a torn end. */
export async function crash(segment: string, tail = ""): Promise<void> {
  const text = await readFile(segment, "utf8");
  const mark = /\{"commit":\d+,"rows":0,"mark":"closed","hash":"[0-9a-f]{64}"\}\n$/;
  if (!mark.test(text)) throw new Error(`${segment}: expected a close mark at its end`);
  await writeFile(segment, text.replace(mark, tail));
}

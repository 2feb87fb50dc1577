import { writeSync } from "node:fs";
import {
  type FileLayer,
  type LogFile,
  nodeFileLayer,
  type RemovingFileLayer,
} from "../../../../src/audit/door.ts";
import { EventJournal } from "../../../../src/service/journal/event-journal.ts";
import { line } from "./lines.ts";

type OpenMode = Parameters<FileLayer["open"]>[1];

/*
 * A writer to be killed: appends from some places at once for ever, and says on stdout what has its
 * place, one line each, in the moment its append has resolved.
 */

const [folder = "", name = ""] = process.argv.slice(2);

function say(text: string): void {
  // A pipe takes a line this short as a whole or not at all.
  writeSync(1, `${text}\n`);
}

/** The disk, which takes few bytes at a time: the end may come between any two of them. */
function smallWrites(): RemovingFileLayer {
  async function open(path: string, mode: "create"): Promise<LogFile>;
  async function open(path: string, mode: OpenMode): Promise<LogFile | undefined>;
  async function open(path: string, mode: OpenMode): Promise<LogFile | undefined> {
    const file = await nodeFileLayer.open(path, mode);
    if (file === undefined) return undefined;
    return {
      read: (into, position) => file.read(into, position),
      write: (bytes, position) => file.write(bytes.subarray(0, 8192), position),
      sync: () => file.sync(),
      truncate: (size) => file.truncate(size),
      size: () => file.size(),
      close: () => file.close(),
    };
  }
  return { ...nodeFileLayer, open };
}

say("begin");
const journal = await EventJournal.open(folder, {
  segmentBytes: 64 * 1024,
  keep: 30,
  fileLayer: smallWrites(),
});
say(`open ${journal.next}`);

async function write(place: number): Promise<never> {
  for (let n = 1; ; n += 1) {
    const id = `${name}.${place}.${n}`;
    const isLarge = n % 6 === 0;
    if (isLarge) say("large");
    const padding = "x".repeat(isLarge ? 90_000 : (n * 37) % 400);
    const parts = isLarge ? 8 : 1 + (n % 3);
    const lines = Array.from({ length: parts }, (_, part) => line(`${id}.${part} ${padding}`));
    const { first, last } = await journal.append(lines);
    say(`stored ${id} ${first} ${last}`);
    if (n % 5 !== 0) continue;
    const position = Math.max(journal.position, last - 60);
    await journal.checkpoint(position);
    say(`position ${position}`);
  }
}

await Promise.all([1, 2, 3].map(write));

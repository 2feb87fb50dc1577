import { readEvents } from "../../../src/entries/replay.ts";
import { RUNTIMES } from "../../../src/replay/door.ts";
import type { Random } from "../../support/random.ts";
import type { Mutation } from "./mutations.ts";
import { type DialectName, withFreshId } from "./valid-lines.ts";

/** Hostile lines with valid ones around them, in one dialect. */
export interface FuzzedFile {
  readonly dialect: DialectName;
  /** The lines as they stand in the file, without their ends. */
  readonly lines: readonly Buffer[];
  /** Numbers of the lines that nothing was done to, from 1. */
  readonly valid: ReadonlySet<number>;
}

/**
 * @param count lines that are mutated.
 * @param around valid lines that are put in too, in their order.
 */
export function fuzzedFile(
  random: Random,
  dialect: DialectName,
  sources: readonly string[],
  mutation: Mutation,
  count: number,
  around: readonly string[],
): FuzzedFile {
  const lines: Buffer[] = [];
  const valid = new Set<number>();
  const addValid = (line: string) => {
    lines.push(Buffer.from(line));
    valid.add(lines.length);
  };
  let next = 0;
  for (let at = 0; at < count; at += 1) {
    // A valid line before each: what came before it must not take it along.
    addValid(withFreshId(random.of(sources), random));
    const until = Math.ceil(((at + 1) * around.length) / count);
    for (; next < until; next += 1) addValid(around[next] ?? "");
    const mutated = mutation.mutate(withFreshId(random.of(sources), random), random);
    // It may have line feeds of its own.
    for (const part of mutated.toString("latin1").split("\n")) {
      lines.push(Buffer.from(part, "latin1"));
    }
  }
  return { dialect, lines, valid };
}

export function bytesOf({ lines }: FuzzedFile): Buffer {
  return Buffer.concat(lines.flatMap((line) => [line, NEW_LINE]));
}

/** Numbers of the lines that are blank, and count for nothing. */
export function blanks({ lines }: FuzzedFile): ReadonlySet<number> {
  const numbers = lines.map((line, at) =>
    /^[ \t\r]*$/.test(line.toString("latin1")) ? at + 1 : 0,
  );
  return new Set(numbers.filter((number) => number > 0));
}

/**
 * What the library makes of the file: the numbers of the lines that it rejects, of those among them that have an issue
 * of their own, and its counts.
 */
export async function readByLibrary(file: FuzzedFile) {
  const runtime = RUNTIMES.find(({ dialect }) => dialect.name === file.dialect);
  if (runtime === undefined) throw new Error(`${file.dialect}: no such dialect`);
  const rejected = new Set<number>();
  const told = new Set<number>();
  const bytes = bytesOf(file);
  const report = await readEvents(
    (async function* () {
      yield bytes;
    })(),
    {
      dialects: [runtime.dialect],
      onEvent: () => {},
      onIssue: ({ line }) => void told.add(line),
      onRejected: ({ line }) => void rejected.add(line),
    },
  );
  return { rejected, report, told };
}

const NEW_LINE = Buffer.from("\n");

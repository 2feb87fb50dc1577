import type { Arguments } from "./arguments.ts";
import type { Failure } from "./harm.ts";
import type { Trials } from "./trials.ts";

/** So much of what was found is shown. */
const SHOWN = 1_500;

/** The failures of a family: what was expected, what was found, where the files are, how to repeat it. */
export function failureText(trials: Trials, asked: Arguments): string {
  const { failures, untold } = trials;
  const told = failures.map((failure) => textOf(failure, asked));
  const more = untold === 0 ? [] : [`… and ${untold} more failures of this family`];
  return [...told, ...more].join("\n");
}

function textOf(failure: Failure, { seed, short }: Arguments): string {
  const { chained, count, expected, family, files, found, harm, kind, number } = failure;
  const size = short ? " --short" : "";
  const one = chained ? "" : ` --number ${number}`;
  return [
    `FAILED ${family}, trial ${number} (${kind}): ${harm} ${count}`,
    `  expected  ${cut(expected)}`,
    `  found     ${cut(found)}`,
    ...(files === undefined ? [] : [`  files     ${files}`]),
    `  repeat    npm run test:hostile --${size} --seed ${seed} --only ${family}${one}`,
  ].join("\n");
}

function cut(text: string): string {
  const shown =
    text.length <= SHOWN ? text : `${text.slice(0, SHOWN)} … (${text.length} characters)`;
  return shown.trimEnd().replaceAll("\n", "\n            ");
}

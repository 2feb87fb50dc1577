/**
 * The numbers of the files among some names, ascending. A file's name holds its number in one place,
 * of which `nameOf` makes the name again: one with more zeros than ours would be a second file of the
 * same number, and is none of them.
 */
export function numbersOf(names: readonly string[], nameOf: (number: number) => string): number[] {
  const numbers: number[] = [];
  for (const name of names) {
    const number = Number(/-(\d{1,16})\./.exec(name)?.[1]);
    if (Number.isSafeInteger(number) && nameOf(number) === name) numbers.push(number);
  }
  return numbers.sort((a, b) => a - b);
}

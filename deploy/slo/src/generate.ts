// Writes the rules of the objectives: npm run slo [-- FILE] [--out FILE]
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { inputText } from "../../../src/audit/storage/open-input.ts";
import { ObjectiveError, readObjectives } from "./read-objectives.ts";
import { rulesText } from "./rules.ts";

const USAGE = "Use: npm run slo -- [FILE] [--out FILE]";

try {
  const { file, out } = filesIn(process.argv.slice(2));
  const text = await inputText(file, console.error).catch((error: unknown) =>
    orRefused(`${file}: expected a file that can be read`, () => {
      throw error;
    }),
  );
  const rules = rulesText(readObjectives(text, file));
  orRefused(`--out: ${out}: expected a file that can be written`, () => writeFileSync(out, rules));
} catch (error) {
  if (!(error instanceof ObjectiveError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

function filesIn(args: string[]): { readonly file: string; readonly out: string } {
  const { positionals, values } = orRefused(USAGE, () =>
    parseArgs({
      args,
      allowPositionals: true,
      options: { out: { type: "string", default: "deploy/prometheus/rules/slo.yml" } },
    }),
  );
  const [file = "deploy/slo/objectives.yml", ...others] = positionals;
  if (others.length === 0) return { file, out: values.out };
  throw new ObjectiveError(`${USAGE}: expected one FILE, found ${positionals.join(", ")}`);
}

/** @throws ObjectiveError where `work` throws. */
function orRefused<T>(expected: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new ObjectiveError(`${expected}: ${error instanceof Error ? error.message : error}`);
  }
}

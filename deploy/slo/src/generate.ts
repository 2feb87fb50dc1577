// Writes the rules of the objectives: npm run slo [-- FILE] [--out FILE]
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { ObjectiveError, readObjectives } from "./read-objectives.ts";
import { rulesText } from "./rules.ts";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { out: { type: "string", default: "deploy/prometheus/rules/slo.yml" } },
});
const [file = "deploy/slo/objectives.yml"] = positionals;

try {
  const objectives = readObjectives(readFileSync(file, "utf8"), file);
  writeFileSync(values.out, rulesText(objectives));
} catch (error) {
  if (!(error instanceof ObjectiveError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

// node bench/export-equal.mjs [SPANS] [--seed SEED]: random spans, encoded here and by OpenTelemetry's own
// protobuf serializer, compared byte for byte. Default: 1,000,000 spans of a new seed, some minutes.
//
// The same seed draws the same spans. At the first difference both are printed, and the status is 1.
import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { withBundle } from "../scripts/bundle-typescript.mjs";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: "string" } },
});
const spans = wholeNumber("SPANS", positionals[0] ?? "1000000");
const seed = wholeNumber("--seed", values.seed ?? String(randomInt(2 ** 32)));

await withBundle(new URL("export-equal/compare.mjs", import.meta.url), (program) => {
  const args = [program, String(spans), String(seed)];
  const { error, status } = spawnSync(process.execPath, args, { stdio: "inherit" });
  if (error !== undefined) throw error;
  process.exitCode = status ?? 1;
});

function wholeNumber(name, text) {
  if (!/^\d{1,10}$/.test(text))
    throw new TypeError(`${name}: expected a whole number, got ${text}`);
  return Number(text);
}

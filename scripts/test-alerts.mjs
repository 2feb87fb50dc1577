// node scripts/test-alerts.mjs [FOLDER [TEST …]]: runs the unit tests of the alert rules in FOLDER (deploy/prometheus)
// with promtool, all or those named, such as `kinds`. promtool compares all annotations of an alert. Those that make
// docs/alerts.md are in every alert and not worth a copy in each test, so the rules are tested without them.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isMap, isScalar, parseDocument, visit } from "yaml";

const DOCUMENTATION = ["when", "runbook"];
const ANNOTATIONS = ["annotations", "exp_annotations"];

const [folder = fileURLToPath(new URL("../deploy/prometheus", import.meta.url)), ...names] =
  process.argv.slice(2);
const work = mkdtempSync(join(tmpdir(), "entelix-otel-alerts-"));
try {
  copyUndocumented("rules");
  copyUndocumented("tests");
  const tests = readdirSync(join(work, "tests")).filter(
    (file) => names.length === 0 || names.includes(file.replace(".yml", "")),
  );
  const args = ["test", "rules", ...tests.map((file) => join("tests", file))];
  const { error, status } = spawnSync("promtool", args, { cwd: work, stdio: "inherit" });
  if (error !== undefined) throw error;
  process.exitCode = status ?? 1;
} finally {
  rmSync(work, { recursive: true });
}

function copyUndocumented(part) {
  mkdirSync(join(work, part));
  for (const file of readdirSync(join(folder, part))) {
    const document = parseDocument(readFileSync(join(folder, part, file), "utf8"));
    visit(document, {
      Pair(_, { key, value }) {
        if (!isScalar(key) || !ANNOTATIONS.includes(key.value) || !isMap(value)) return;
        for (const one of DOCUMENTATION) value.delete(one);
      },
    });
    writeFileSync(join(work, part, file), document.toString({ lineWidth: 0 }));
  }
}

import { readPageFiles } from "../../../src/view/commands/page-files.ts";
import { ReportHtml } from "../../../src/view/report/report-html.ts";
import type { FakeRuns } from "./fake-runs.ts";

/** A report with the runs of these keys, as `report` writes it. */
export async function reportText(runs: FakeRuns, keys: readonly string[]): Promise<string> {
  const html = new ReportHtml(await readPageFiles());
  const pieces = [html.start()];
  for (const [at, key] of keys.entries()) {
    const detail = await runs.detail(key);
    if (detail !== undefined) pieces.push(...html.run(detail, at === 0));
  }
  pieces.push(...html.end(runs.list(keys), 0));
  return pieces.join("");
}

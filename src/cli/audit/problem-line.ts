import type { LogProblem } from "../../audit/verify/verify-report.ts";

/** A problem of a log as one line: where, what, and of which row. */
export function problemLine({
  file,
  line,
  ordinal,
  problem,
  tenant_id,
  thread_id,
}: LogProblem): string {
  const place = line > 0 ? `${file}:${line}` : file;
  const of = [
    ...(tenant_id === undefined ? [] : [`tenant ${tenant_id}`]),
    ...(thread_id === undefined ? [] : [`thread ${thread_id}`]),
    ...(ordinal === undefined ? [] : [`row ${ordinal}`]),
  ];
  return `${place}: ${problem}${of.length === 0 ? "" : ` (${of.join(", ")})`}`;
}

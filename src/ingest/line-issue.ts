import type { DecodeIssue } from "../dialects/dialect.ts";

/** What is wrong with a line of a file. */
export interface LineIssue extends DecodeIssue {
  /** Name of the file or other source. */
  readonly file: string;
  /** Number of the line, from 1. */
  readonly line: number;
}

/**
 * One issue as compilers print them.
 *
 * @example
 * formatIssue(issue); // 'events.ndjson:12: tenant_id: expected non-empty text'
 */
export function formatIssue(issue: LineIssue): string {
  return `${issue.file}:${issue.line}: ${issue.field}: expected ${issue.expected}`;
}

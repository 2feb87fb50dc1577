import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { pageFiles, readPage } from "../docs/pages.ts";
import { OtlpServer, type WireSpan } from "./otlp-server.ts";
import { wireTree } from "./wire-tree.ts";

const execute = promisify(execFile);

/** A complete program of a page in `docs/`. */
export interface PageProgram {
  readonly page: string;
  /** The file that is run. */
  readonly file: string;
  /** The file below which the page shows the spans. Default: `file`. */
  readonly shownBelow?: string;
  /** Options of Node. */
  readonly options?: readonly string[];
  readonly variables?: Readonly<Record<string, string>>;
  /** Standard output and standard error. */
  readonly out: string;
  readonly err?: string;
  readonly tenant?: string;
}

export interface PlayedProgram {
  readonly out: string;
  readonly err: string;
  readonly spans: readonly WireSpan[];
}

/** Writes all files of the page into an empty project and runs the program, which sends its spans to a receiver. */
export async function playPage(
  { file, options = [], page, variables }: PageProgram,
  project: string,
  node: string,
): Promise<PlayedProgram> {
  for (const [name, text] of pageFiles(readPage(page))) await writeFile(join(project, name), text);
  await using receiver = await OtlpServer.start();
  const { HOME = "", PATH = "" } = process.env;
  const env = { HOME, PATH, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...variables };
  const { stdout, stderr } = await execute(node, [...options, file], { cwd: project, env });
  return { out: stdout, err: stderr, spans: receiver.spans };
}

/** The lines of the tree that the page shows below the program. */
export function shownTree({ file, page, shownBelow = file }: PageProgram): readonly string[] {
  const text = readPage(page);
  const start = text.indexOf(`\n\`${shownBelow}\``);
  const [, tree = ""] = /^```text\n(invoke_.*?)\n```$/ms.exec(text.slice(start)) ?? [];
  return tree.split("\n");
}

/** The same of the spans that arrived. */
export function arrivedTree(spans: readonly WireSpan[]): readonly string[] {
  return wireTree(spans, ({ attributes, name }) => {
    const outcome = OUTCOMES.map((key) => attributes[key]).find((value) => value !== undefined);
    const decision = attributes["entelix.approval.outcome"];
    const person = attributes["entelix.approval.person"];
    const decided = decision === undefined || decision === outcome ? "" : `, ${decision}`;
    return `${name}  ${outcome}${decided}${person === undefined ? "" : ` by ${person}`}`;
  });
}

const OUTCOMES = ["run", "tool", "step", "model"].map((kind) => `entelix.${kind}.outcome`);

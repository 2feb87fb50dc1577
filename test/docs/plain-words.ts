import { readdirSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { ROOT, readPage } from "./pages.ts";
import list from "./plain-words.json" with { type: "json" };

/** Text for people, and where it begins. */
export interface Text {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/** A phrase that plain words avoid. */
export interface Found {
  readonly file: string;
  readonly line: number;
  readonly phrase: string;
}

export interface Count {
  readonly words: number;
  readonly found: readonly Found[];
}

/** The expressions are written for Python, in which `\A` is the start of the text. */
const PHRASES = Object.values(list.phrases).map(
  (pattern) => new RegExp(pattern.replaceAll("\\A", "(?<![^])"), "g"),
);
/** Words that no name contains. */
const AVOIDED = new Set(["told", "tell", "said", "heard", "whoever", "nobody", "came", "place"]);

/** Counts words, and finds the phrases. */
export function countPhrases(texts: readonly Text[]): Count {
  const found = texts.flatMap(({ file, line, text }) =>
    PHRASES.flatMap((phrase) =>
      [...text.matchAll(phrase)].map((match) => ({
        file,
        line: line + text.slice(0, match.index).split("\n").length - 1,
        phrase: match[0].trim(),
      })),
    ),
  );
  return { words: texts.reduce((sum, { text }) => sum + countWords(text), 0), found };
}

function countWords(text: string): number {
  return text.match(/[A-Za-z][\w'’-]*/g)?.length ?? 0;
}

/** The pages at the top and those of `docs`, without code. */
export function pageTexts(): Text[] {
  const pages = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
    .map((name) => `docs/${name.replaceAll("\\", "/")}`)
    .filter((name) => name.endsWith(".md"));
  return ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", ...pages].map((file) => ({
    file,
    line: 1,
    text: withoutCode(readPage(file)),
  }));
}

/** `docs/cli.md` contains what `--help` of each command prints. */
export function helpTexts(): Text[] {
  return [{ file: "docs/cli.md", line: 1, text: readPage("docs/cli.md") }];
}

function withoutCode(page: string): string {
  const blank = (block: string) => block.replaceAll(/[^\n]+/g, "");
  return page.replace(/^```.*?^```$/gms, blank).replace(/`[^`\n]*`/g, "`x`");
}

interface Comment extends Text {
  readonly isDoc: boolean;
}

let comments: readonly Comment[] | undefined;

/** The docstrings (`/** … *\/`) of the source, or all other comments. */
export function commentTexts(kind: "docstrings" | "comments"): readonly Text[] {
  comments ??= sources().flatMap(commentsOf);
  return comments.filter(({ isDoc }) => isDoc === (kind === "docstrings"));
}

function commentsOf({ file, source, text }: Source): Comment[] {
  const seen = new Set<number>();
  const ranges: ts.CommentRange[] = [];
  const visit = (node: ts.Node): void => {
    for (const range of ts.getLeadingCommentRanges(text, node.pos) ?? []) {
      if (seen.has(range.pos)) continue;
      seen.add(range.pos);
      ranges.push(range);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  visit(source.endOfFileToken);
  // Successive lines of `//` are one text.
  const texts: { start: number; end: number; text: string; isDoc: boolean }[] = [];
  for (const { pos, end } of ranges.toSorted((a, b) => a.pos - b.pos)) {
    const comment = text.slice(pos, end);
    const isDoc = comment.startsWith("/**");
    const words = comment.replaceAll(/^\s*(?:\/\*\*?|\*\/|\*|\/\/) ?|\s*\*\/$/gm, "");
    const start = lineAt(source, pos);
    const last = texts.at(-1);
    if (last !== undefined && !isDoc && !last.isDoc && start === last.end + 1) {
      last.text += `\n${words}`;
      last.end = lineAt(source, end);
    } else texts.push({ start, end: lineAt(source, end), text: words, isDoc });
  }
  return texts.map(({ isDoc, start, text: words }) => ({
    file,
    line: start,
    text: withoutCode(words),
    isDoc,
  }));
}

/** The words of all names that the source declares. */
export function countNames(): Count {
  let words = 0;
  const found: Found[] = [];
  for (const { file, source } of sources()) {
    const visit = (node: ts.Node): void => {
      const name = nameOf(node);
      if (name !== undefined) {
        const parts = name.text.split(/(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+/).filter(Boolean);
        words += parts.length;
        if (name.text === "letGo" || parts.some((part) => AVOIDED.has(part.toLowerCase()))) {
          found.push({ file, line: lineAt(source, name.getStart(source)), phrase: name.text });
        }
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return { words, found };
}

function nameOf(node: ts.Node): ts.Identifier | ts.PrivateIdentifier | undefined {
  const isDeclared =
    ts.isVariableDeclaration(node) ||
    ts.isParameter(node) ||
    ts.isBindingElement(node) ||
    ts.isFunctionLike(node) ||
    ts.isClassLike(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isPropertySignature(node) ||
    ts.isPropertyAssignment(node);
  const name = isDeclared ? node.name : undefined;
  const isName = name !== undefined && (ts.isIdentifier(name) || ts.isPrivateIdentifier(name));
  return isName ? name : undefined;
}

interface Source {
  readonly file: string;
  readonly text: string;
  readonly source: ts.SourceFile;
}

let parsed: readonly Source[] | undefined;

/** The files of the source, parsed once for all counts. */
function sources(): readonly Source[] {
  parsed ??= readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
    .map((name) => `src/${name.replaceAll("\\", "/")}`)
    .filter((name) => /\.tsx?$/.test(name))
    .map((file) => {
      const text = readPage(file);
      return { file, text, source: ts.createSourceFile(file, text, ts.ScriptTarget.Latest) };
    });
  return parsed;
}

function lineAt(source: ts.SourceFile, position: number): number {
  return source.getLineAndCharacterOfPosition(position).line + 1;
}

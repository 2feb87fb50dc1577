import { createHash } from "node:crypto";
import type { RunDetail, RunList } from "../format.ts";
import { jsonPieces } from "../json-pieces.ts";
import { ICON_POLICY, type PageFiles, pageEnd, pageStart } from "../page-html.ts";

/**
 * The file of a report in three parts: {@link ReportHtml.start}, the runs, and {@link ReportHtml.end}. Its content
 * security policy allows only its own script and style, by their hashes. It makes no request.
 */
export class ReportHtml {
  readonly #script: string;
  readonly #style: string;

  /** @throws Error when the style could end its element: the page was not built by this package. */
  constructor({ script, style }: PageFiles) {
    if (/<\/style/i.test(style)) throw new Error("page.css: expected no </style in it");
    this.#script = scriptInHtml(script);
    this.#style = style;
  }

  start(): string {
    const policy = [
      "default-src 'none'",
      `script-src '${hashOf(this.#script)}'`,
      `style-src '${hashOf(this.#style)}'`,
      ICON_POLICY,
      "base-uri 'none'",
      "form-action 'none'",
    ].join("; ");
    const head = [
      // Before the elements that it applies to.
      `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
      '<meta name="referrer" content="no-referrer">',
      `<style>${this.#style}</style>`,
    ].join("\n");
    const document = '<script type="application/json" id="report">{"details":{';
    return pageStart("entelix-otel report", head) + document;
  }

  /** A run in pieces. @param isFirst whether it is the first run of the file. */
  *run(detail: RunDetail, isFirst: boolean): Generator<string, void, undefined> {
    yield `${isFirst ? "" : ","}${jsonInHtml(JSON.stringify(detail.run.key))}:`;
    for (const piece of jsonPieces(detail)) yield jsonInHtml(piece);
  }

  /** @param list the runs of the file. @param leftOut failed runs that did not fit. */
  *end(list: RunList, leftOut: number): Generator<string, void, undefined> {
    yield '},"list":';
    for (const piece of jsonPieces(list)) yield jsonInHtml(piece);
    yield `,"left_out":${leftOut}}</script>\n`;
    yield pageEnd(`<script type="module">${this.#script}</script>`);
  }
}

function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

/**
 * JSON as the content of a `<script type="application/json">`. Its value stays the same. No text in it can end the
 * element or begin a comment.
 */
export function jsonInHtml(json: string): string {
  return json.replace(/[<\u2028\u2029]/g, (unsafe) => {
    return `\\u${unsafe.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/**
 * A script as the content of a `<script>`. The escaped characters occur in string literals only, where the escape has
 * the same value.
 */
export function scriptInHtml(script: string): string {
  return script.replaceAll(/<(?=\/script|!--)/gi, "\\x3c");
}

import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ReportDocument } from "../../../src/view/format.ts";
import { jsonInHtml, ReportHtml, scriptInHtml } from "../../../src/view/report/report-html.ts";
import { aDetail, aRun, aSpan, FakeRuns } from "../support/fake-runs.ts";

const PAGE = { script: 'draw("</script><!--");', style: "body { color: black }" };
const HOSTILE = "</script><script>alert(1)</script><!-- \u2028 \u2029 \u202e \x1b[31m ]]> &lt;";

function report(text: string): string {
  const runs = new FakeRuns([
    aDetail(aRun(text), { spans: [aSpan(text, 0, 1, { attributes: { [text]: text } })] }),
    aDetail(aRun("second")),
  ]);
  const html = new ReportHtml(PAGE);
  const parts = [html.start()];
  parts.push(...html.run(aDetail(aRun(text)), true), ...html.run(aDetail(aRun("second")), false));
  parts.push(...html.end(runs.list([text, "second"]), 7));
  return parts.join("");
}

/** As a browser reads it: an element of a script ends at the first end tag. */
function contents(html: string): { readonly data: string; readonly script: string } {
  const [, data = ""] =
    /<script type="application\/json" id="report">(.*?)<\/script/s.exec(html) ?? [];
  const [, script = ""] = /<script type="module">(.*?)<\/script/s.exec(html) ?? [];
  return { data, script };
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("base64");

describe("a report", () => {
  it("has its runs, the list and what was left out", () => {
    const document: ReportDocument = JSON.parse(contents(report("one")).data);
    expect(document).toEqual({
      details: { one: aDetail(aRun("one")), second: aDetail(aRun("second")) },
      list: new FakeRuns([aDetail(aRun("one")), aDetail(aRun("second"))]).list(["one", "second"]),
      left_out: 7,
    });
  });

  it("allows its own script and style alone, and no request", () => {
    const html = report("one");
    const { script } = contents(html);
    expect(script).toBe('draw("\\x3c/script>\\x3c!--");');
    const [, policy] =
      /<meta http-equiv="Content-Security-Policy" content="([^"]*)">/.exec(html) ?? [];
    expect(policy).toBe(
      `default-src 'none'; script-src 'sha256-${sha256(script)}'; style-src 'sha256-${sha256(PAGE.style)}'; img-src data:; base-uri 'none'; form-action 'none'`,
    );
    expect(html.indexOf("Content-Security-Policy")).toBeLessThan(html.indexOf("<style>"));
    // Its icon is in it.
    expect(html.match(/\b(?:src|href)="[a-z]+:/g)).toEqual(['href="data:']);
    expect(html.match(/\b(?:src|href)=/g)).toHaveLength(1);
  });

  it("is left by no text of a run", () => {
    const html = report(HOSTILE);
    expect(html.match(/<script/g)).toHaveLength(2);
    expect(html.match(/<\/script/g)).toHaveLength(2);
    expect(html).not.toContain("<!--");
    const document: ReportDocument = JSON.parse(contents(html).data);
    expect(Object.keys(document.details)).toEqual([HOSTILE, "second"]);
  });

  it("refuses a style that would end its element", () => {
    expect(() => new ReportHtml({ script: "", style: "</STYLE>" })).toThrow("page.css");
  });

  it("escapes any text so that it is the same when it is read", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const escaped = jsonInHtml(JSON.stringify({ [text]: [text, HOSTILE] }));
        expect(escaped).not.toMatch(/[<\u2028\u2029]/);
        expect(JSON.parse(escaped)).toEqual({ [text]: [text, HOSTILE] });
      }),
    );
  });

  it("leaves a script without such texts as it is", () => {
    expect(scriptInHtml("if (a < b && c </d/.x) f()")).toBe("if (a < b && c </d/.x) f()");
  });
});

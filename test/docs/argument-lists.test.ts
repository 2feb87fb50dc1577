import { readdirSync } from "node:fs";
import ts from "typescript";
import { expect, it } from "vitest";
import { ROOT, readPage } from "./pages.ts";

/**
 * Each element of a list that is spread into arguments takes a place on the stack: 100,000 of them end a program. So
 * only arguments are passed on as arguments. These lists are short:
 */
const BOUNDED: ReadonlyMap<string, string> = new Map([
  ["src/agents/claude-agent/claude-agent.ts: args", "the arguments of a method of `Query`"],
  ["src/agents/langchain/in-span.ts: args", "the arguments of a call of the wrapped function"],
  ["src/agents/mcp/mcp-server.ts: given", "the arguments, the last one replaced"],
  ["src/agents/openai-agents/ids.ts: CODES", "the characters of one UUID"],
  ["src/bridge/metrics/instruments.ts: SCOPE", "name, version and schema URL"],
  ["src/bridge/metrics/model-series.ts: labels", "the six labels of a model call"],
  ["src/bridge/metrics/model-series.ts: this.#labels", "the six labels of a model call"],
  ["src/bridge/run-progress.ts: SCOPE", "name, version and schema URL"],
  ["src/bridge/setup/tracing-options.ts: CONVENTIONS", "three names"],
  ["src/bridge/spans/call-details.ts: SCOPE", "name, version and schema URL"],
  ["src/bridge/spans/span-port.ts: SCOPE", "name, version and schema URL"],
  ["src/bridge/telemetry-options.ts: CONVENTIONS", "three names"],
  [
    'src/events/errors/failure-source.ts: listProperty(error, "errors", MAX_DEPTH)',
    "at most MAX_DEPTH",
  ],
]);

const sources = readdirSync(`${ROOT}/src`, { recursive: true, encoding: "utf8" })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => `src/${name.replaceAll("\\", "/")}`);

/** The lists that a file makes arguments of, other than the arguments of the function around. */
function listsAsArguments(name: string, text: string): readonly string[] {
  // Half of the files have neither, and parsing takes long.
  if (!/\.\.\.|\.apply/.test(text)) return [];
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const look = (list: ts.Expression): void => {
    if (ts.isArrayLiteralExpression(list)) for (const each of list.elements) spread(each);
    else if (!isRestParameter(list)) found.push(list.getText());
  };
  const spread = (node: ts.Expression): void => {
    if (ts.isSpreadElement(node)) look(node.expression);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
      for (const argument of node.arguments ?? []) spread(argument);
    }
    if (
      text.includes(".apply") &&
      ts.isCallExpression(node) &&
      /(?:^Reflect|\.prototype\.\w+|\]\.\w+)\.apply$/.test(node.expression.getText())
    ) {
      const list = node.arguments.at(-1);
      if (list !== undefined) look(list);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function isRestParameter(list: ts.Expression): boolean {
  for (let around: ts.Node = list; !ts.isSourceFile(around); around = around.parent) {
    if (!ts.isFunctionLike(around)) continue;
    const own = around.parameters.find(({ name }) => name.getText() === list.getText());
    if (own !== undefined) return own.dotDotDotToken !== undefined;
  }
  return false;
}

it.each([
  ["rows.push(...more, ...rest(1))", ["more", "rest(1)"]],
  ["Math.max(0, ...rows.map((row) => row.length))", ["rows.map((row) => row.length)"]],
  ["new Big(...rows); String.fromCharCode(...[...codes])", ["rows", "codes"]],
  ["[].concat.apply([], lists); Reflect.apply(f, undefined, lists)", ["lists", "lists"]],
  ["const f = (...args: number[]) => g(...args, [...args]); new Map([...rows])", []],
  ["function f(args: number[]) { return g(...args); }", ["args"]],
])("finds the lists in: %s", (text, expected) => {
  expect(listsAsArguments("x.ts", text)).toEqual(expected);
});

it("no list of unknown length becomes arguments", () => {
  const found = sources.flatMap((file) =>
    listsAsArguments(file, readPage(file)).map((list) => `${file}: ${list}`),
  );
  expect(found.filter((list) => !BOUNDED.has(list))).toEqual([]);
  expect([...BOUNDED.keys()].filter((list) => !found.includes(list))).toEqual([]);
});

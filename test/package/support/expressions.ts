import ts from "typescript";

/** A regular expression of a program. */
export interface Expression {
  /** As a literal: `/^a+$/i`. Of a call that is not constant: the text of the call. */
  readonly text: string;
  /** What it is made of; `undefined` where that shows only when the program runs. */
  readonly parts: { readonly source: string; readonly flags: string } | undefined;
}

/** Every regular expression of a program: literals, and calls of `RegExp` with their constants put in. */
export function expressionsIn(program: string, name = "program.mjs"): readonly Expression[] {
  const file = ts.createSourceFile(name, program, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS);
  const found: (Expression | ts.NewExpression | ts.CallExpression)[] = [];
  const constants = new Constants();
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) found.push(literal(node.text));
    else if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && isRegExp(node.expression)) {
      found.push(node);
    } else constants.see(node);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found.map((each) => ("kind" in each ? constructed(each, constants.values) : each));
}

function literal(text: string): Expression {
  const end = text.lastIndexOf("/");
  return { text, parts: { source: text.slice(1, end), flags: text.slice(end + 1) } };
}

function isRegExp(called: ts.Expression): boolean {
  return (
    (ts.isIdentifier(called) && called.text === "RegExp") ||
    (ts.isPropertyAccessExpression(called) && called.name.text === "RegExp")
  );
}

function constructed(
  call: ts.NewExpression | ts.CallExpression,
  constants: ReadonlyMap<string, ts.Expression | undefined>,
): Expression {
  const [pattern, modes] = call.arguments ?? [];
  const source = pattern === undefined ? undefined : constantText(pattern, constants);
  const flags = modes === undefined ? "" : constantText(modes, constants);
  if (source === undefined || flags === undefined)
    return { text: call.getText(), parts: undefined };
  return { text: `/${source}/${flags}`, parts: { source, flags } };
}

/** What the variables of a program are set to. The bundler sets some behind their declaration. */
class Constants {
  readonly #values = new Map<string, ts.Expression | undefined>();

  /** By name; `undefined` for a name that is set twice. */
  get values(): ReadonlyMap<string, ts.Expression | undefined> {
    return this.#values;
  }

  see(node: ts.Node): void {
    if (ts.isVariableDeclaration(node) && node.initializer !== undefined) {
      this.#set(node.name, node.initializer);
    } else if (
      ts.isBinaryExpression(node) &&
      node.operatorToken.kind === ts.SyntaxKind.EqualsToken
    ) {
      this.#set(node.left, node.right);
    }
  }

  #set(name: ts.Node, value: ts.Expression): void {
    if (!ts.isIdentifier(name)) return;
    this.#values.set(name.text, this.#values.has(name.text) ? undefined : value);
  }
}

function constantText(
  given: ts.Expression,
  constants: ReadonlyMap<string, ts.Expression | undefined>,
): string | undefined {
  if (ts.isStringLiteralLike(given)) return given.text;
  if (ts.isRegularExpressionLiteral(given)) return literal(given.text).parts?.source;
  if (ts.isParenthesizedExpression(given)) return constantText(given.expression, constants);
  if (ts.isIdentifier(given)) {
    const value = constants.get(given.text);
    return value === undefined ? undefined : constantText(value, constants);
  }
  if (ts.isBinaryExpression(given) && given.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    return joined([constantText(given.left, constants), constantText(given.right, constants)]);
  }
  if (!ts.isTemplateExpression(given)) return undefined;
  return joined([
    given.head.text,
    ...given.templateSpans.flatMap(({ expression, literal: { text } }) => [
      constantText(expression, constants),
      text,
    ]),
  ]);
}

function joined(parts: readonly (string | undefined)[]): string | undefined {
  return parts.includes(undefined) ? undefined : parts.join("");
}

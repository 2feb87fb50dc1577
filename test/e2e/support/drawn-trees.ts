import { type ExpectedNode, readExpected } from "../../bridge/spans/expected-tree.ts";
import { traceId } from "./fresh-ids.ts";

/**
 * The trees of `test/expected/entelix_trees.json`, by `file#id`, with other run ids in them.
 *
 * @param more trees that are drawn elsewhere.
 */
export function drawnTrees(
  rename: (text: string) => string,
  more: Readonly<Record<string, readonly ExpectedNode[]>>,
): ReadonlyMap<string, ExpectedNode[]> {
  const trees = [...readExpected("entelix_trees.json"), ...Object.entries(more)];
  return new Map(trees.map(([name, roots]) => [name, roots.map((root) => again(root, rename))]));
}

function again(node: ExpectedNode, rename: (text: string) => string): ExpectedNode {
  const texts = ["run", "trace", "parent_span"] as const;
  const present = texts.flatMap((name) => {
    const value = node[name];
    return value === undefined ? [] : [[name, rename(value)]];
  });
  return {
    ...node,
    ...Object.fromEntries(present),
    ...(node.links === undefined ? {} : { links: node.links.map(rename) }),
    attributes: Object.fromEntries(
      Object.entries(node.attributes).map(([name, value]) => [
        name,
        typeof value === "string" ? rename(value) : value,
      ]),
    ),
    children: node.children.map((child) => again(child, rename)),
  };
}

/** The trace that a root belongs to. */
export function traceOf(root: ExpectedNode): string {
  if (root.trace === undefined) throw new Error(`${root.span}: no trace was drawn`);
  return root.trace === "run" ? traceId(root.run) : root.trace;
}

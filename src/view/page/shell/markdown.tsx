import type { Node, Nodes, Parent, Root, Table } from "mdast";
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { count, cut, safe, safeLines } from "../../../events/format/door.ts";
import { LONGEST_MARKDOWN, markdownTree, safeAddress } from "./markdown-tree.ts";
import { useRawText } from "./raw-text.tsx";
import { Text } from "./text.tsx";

/** UTF-16 units before a button for the rest. */
const LIMIT = 4_000;
/** Deeper parts are shown as they were written. */
const DEEPEST = 30;

/**
 * A text from outside as Markdown, or as it was written. It is drawn as elements of this page, never as HTML: HTML in
 * it is shown as text, images are links, and links lead to websites and mail addresses only.
 */
export function Markdown({ value }: { readonly value: string }) {
  const raw = useRawText();
  const [whole, setWhole] = useState(false);
  const { isCut, text } = cut(value, whole ? LONGEST_MARKDOWN : LIMIT);
  const tree = useMemo(() => (raw ? undefined : markdownTree(text)), [raw, text]);
  if (tree === undefined || value.length > LONGEST_MARKDOWN) {
    return <Text limit={LIMIT} lines value={value} />;
  }
  return (
    <div class="markdown" dir="auto">
      <Children depth={0} of={tree} text={text} />
      {(isCut || whole) && (
        <button class="link" onClick={() => setWhole(!whole)} type="button">
          {whole ? "Show less" : `Show all ${count(value.length)} characters`}
        </button>
      )}
    </div>
  );
}

interface PartProps {
  readonly depth: number;
  /** The text that was parsed. */
  readonly text: string;
}

function Children({ depth, of, text }: PartProps & { readonly of: Parent | Root }) {
  return (
    <>
      {of.children.map((node, at) => (
        <Part depth={depth + 1} key={at} node={node} text={text} />
      ))}
    </>
  );
}

function Part({ depth, node, text }: PartProps & { readonly node: Nodes }): ComponentChildren {
  if (depth > DEEPEST) return written(node, text);
  const inside = (parent: Parent) => <Children depth={depth} of={parent} text={text} />;
  switch (node.type) {
    case "text":
      return safeLines(node.value);
    case "html":
      return safeLines(node.value);
    case "paragraph":
      return <p>{inside(node)}</p>;
    case "heading":
      return <p class={`heading level-${node.depth}`}>{inside(node)}</p>;
    case "strong":
      return <strong>{inside(node)}</strong>;
    case "emphasis":
      return <em>{inside(node)}</em>;
    case "delete":
      return <del>{inside(node)}</del>;
    case "inlineCode":
      return <code>{safe(node.value)}</code>;
    case "code":
      return <pre>{safeLines(node.value)}</pre>;
    case "blockquote":
      return <blockquote>{inside(node)}</blockquote>;
    case "list":
      return node.ordered === true ? (
        <ol start={node.start ?? 1}>{inside(node)}</ol>
      ) : (
        <ul>{inside(node)}</ul>
      );
    case "listItem":
      return (
        <li class={typeof node.checked === "boolean" ? "task" : undefined}>
          {typeof node.checked === "boolean" && (node.checked ? "☑ " : "☐ ")}
          {inside(node)}
        </li>
      );
    case "table":
      return <TableOf depth={depth} table={node} text={text} />;
    case "thematicBreak":
      return <hr />;
    case "break":
      return <br />;
    case "link":
      return <Link address={node.url}>{inside(node)}</Link>;
    case "image":
      return <Link address={node.url}>Image: {safe(node.alt || node.url)}</Link>;
    default:
      // References, their definitions, and what other versions of the parser may know.
      return written(node, text);
  }
}

function TableOf({ depth, table, text }: PartProps & { readonly table: Table }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
    <div class="scroll-x" tabIndex={0}>
      <table>
        <tbody>
          {table.children.map((row, at) => (
            <tr key={at}>
              {row.children.map((cell, index) => {
                const Cell = at === 0 ? "th" : "td";
                return (
                  <Cell class={table.align?.[index] === "right" ? "number" : ""} key={index}>
                    <Children depth={depth + 2} of={cell} text={text} />
                  </Cell>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A link, or its text if its address is not safe. */
function Link({
  address,
  children,
}: {
  readonly address: string;
  readonly children: ComponentChildren;
}) {
  const href = safeAddress(address);
  if (href === undefined) return <span title={safe(cut(address, 300).text)}>{children}</span>;
  return (
    <a href={href} rel="noopener noreferrer" target="_blank" title={safe(cut(href, 300).text)}>
      {children}
    </a>
  );
}

/** A part as it was written. */
function written({ position }: Node, text: string): string {
  const { end, start } = position ?? {};
  return safeLines(text.slice(start?.offset ?? 0, end?.offset ?? 0));
}

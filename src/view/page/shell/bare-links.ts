import type { CompileContext, Extension, Token } from "mdast-util-from-markdown";

/**
 * Nodes of bare links, such as `www.example.com` in a text. The package that makes them of the tokens of
 * micromark-extension-gfm-autolink-literal also searches the tree again, with expressions that it builds.
 */
export const BARE_LINKS: Extension = {
  enter: {
    literalAutolink(token) {
      this.enter({ type: "link", title: null, url: "", children: [] }, token);
    },
    literalAutolinkEmail: enterText,
    literalAutolinkHttp: enterText,
    literalAutolinkWww: enterText,
  },
  exit: {
    literalAutolink(token) {
      this.exit(token);
    },
    literalAutolinkEmail(token) {
      exitText(this, token, "mailto:");
    },
    literalAutolinkHttp(token) {
      exitText(this, token, "");
    },
    literalAutolinkWww(token) {
      exitText(this, token, "http://");
    },
  },
};

function enterText(this: CompileContext, token: Token): void {
  this.enter({ type: "text", value: this.sliceSerialize(token) }, token);
}

function exitText(context: CompileContext, token: Token, protocol: string): void {
  context.exit(token);
  const link = context.stack.at(-1);
  if (link?.type === "link") link.url = protocol + context.sliceSerialize(token);
}

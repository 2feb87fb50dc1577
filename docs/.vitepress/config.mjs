// The documentation as a site: `npm run docs:site`. The sidebar is the list in docs/README.md.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const { description, homepage } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const REPOSITORY = homepage.replace(/#.*$/, "");
/** Files that are pages of the site. */
const PAGE = /^(?:README\.md|CHANGELOG\.md|CONTRIBUTING\.md|docs\/(?:api\/)?[\w-]+\.md)$/;

const sidebar = readFileSync(join(ROOT, "docs/README.md"), "utf8")
  .split(/^## /m)
  .slice(1)
  .map((section) => ({
    text: section.slice(0, section.indexOf("\n")),
    collapsed: false,
    items: [...section.matchAll(/^- \[([^\]]+)\]\(([^)]+)\)/gm)].map(([, text, link]) => ({
      text,
      link: `/${normalize(join("docs", link))}`,
    })),
  }));

/** Links to files that are no pages lead to the repository, and have to lead to a file there. */
function repositoryLinks(md) {
  const render =
    md.renderer.rules.link_open ??
    ((tokens, at, options, _env, self) => self.renderToken(tokens, at, options));
  md.renderer.rules.link_open = (tokens, at, options, env, self) => {
    const token = tokens[at];
    const href = token.attrGet("href") ?? "";
    if (!/^(?:[a-z]+:|#|\/)/i.test(href)) {
      const [file, anchor] = href.split("#");
      const path = normalize(join(dirname(env.relativePath), decodeURI(file)));
      if (!existsSync(join(ROOT, path))) throw new Error(`${env.relativePath}: no file ${path}`);
      if (!PAGE.test(path)) {
        token.attrSet("href", `${REPOSITORY}/blob/main/${path}${anchor ? `#${anchor}` : ""}`);
      }
    }
    return render(tokens, at, options, env, self);
  };
}

export default {
  title: "entelix-otel",
  description,
  srcDir: "..",
  srcExclude: ["!(docs|README.md|CHANGELOG.md|CONTRIBUTING.md)/**", "docs/.vitepress/**"],
  outDir: "../site",
  cacheDir: "../site/.cache",
  rewrites: { "README.md": "index.md", "docs/README.md": "docs/index.md" },
  metaChunk: true,
  markdown: { config: repositoryLinks },
  themeConfig: {
    nav: [
      { text: "Documentation", link: "/docs/" },
      { text: "API", link: "/docs/api/" },
      { text: "Repository", link: REPOSITORY },
    ],
    sidebar,
    outline: [2, 3],
    search: { provider: "local" },
  },
};

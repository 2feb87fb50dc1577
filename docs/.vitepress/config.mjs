// The documentation as a site: `npm run docs:site`. The sidebar is the list in docs/README.md.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const { description, homepage } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const REPOSITORY = homepage.replace(/#.*$/, "");
/** That of the page of `view`: src/view/page-html.ts. */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0550ae"/><path d="M3 4h10M5 8h6M7 12h6" stroke="#fff" stroke-width="2" stroke-linecap="round"/></svg>';
/** Files that are pages of the site. */
const PAGE = /^(?:README\.md|CHANGELOG\.md|CONTRIBUTING\.md|docs\/(?:api\/)?[\w-]+\.md)$/;

/** The sections that are open at first. */
const OPEN = ["Tutorials", "Help", "Agents"];

const sidebar = readFileSync(join(ROOT, "docs/README.md"), "utf8")
  .split(/^## /m)
  .slice(1)
  .map((section) => ({
    text: section.slice(0, section.indexOf("\n")),
    collapsed: !OPEN.includes(section.slice(0, section.indexOf("\n"))),
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

const PICTURE = /<picture>\s*<source [^>]*srcset="([^"]+)">\s*<img alt="([^"]+)" src="([^"]+)">/;

/** A picture follows the theme of the site, which a reader can change, instead of that of the system. */
function picturesOfTheme(md) {
  const render = md.renderer.rules.html_block;
  md.renderer.rules.html_block = (tokens, at, options, env, self) => {
    const [, dark, alt, light] = PICTURE.exec(tokens[at].content) ?? [];
    if (dark === undefined) return render(tokens, at, options, env, self);
    // Without `./`, the bundler would look for a package.
    const file = (src) => (src.startsWith(".") ? src : `./${src}`);
    const image = (src, theme) => `<img class="for-${theme}" src="${file(src)}" alt="${alt}">`;
    return `<p>${image(light, "light")}${image(dark, "dark")}</p>\n`;
  };
}

/** Pages with wide tables, and long ones. They have no outline beside them, so that rows and pages stay short. */
const WIDE = [
  "CHANGELOG.md",
  ...["attributes", "audit", "frameworks", "hostile-trials", "limits", "metrics"].map(
    (name) => `docs/${name}.md`,
  ),
];

export default {
  title: "entelix-otel",
  description,
  srcDir: "..",
  srcExclude: ["!(docs|README.md|CHANGELOG.md|CONTRIBUTING.md)/**", "docs/.vitepress/**"],
  outDir: "../site",
  cacheDir: "../site/.cache",
  rewrites: { "docs/front/page.md": "index.md", "docs/README.md": "docs/index.md" },
  metaChunk: true,
  head: [["link", { rel: "icon", href: `data:image/svg+xml,${encodeURIComponent(ICON)}` }]],
  transformPageData: (page) => {
    if (WIDE.includes(page.relativePath)) page.frontmatter.aside = false;
  },
  markdown: {
    config: (md) => {
      repositoryLinks(md);
      picturesOfTheme(md);
    },
  },
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

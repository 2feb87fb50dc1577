/** The built page: `dist/view/page.js` and `page.css`. */
export interface PageFiles {
  readonly script: string;
  readonly style: string;
}

/** Name of the `<meta>` element that passes the session to the page. */
export const SESSION_META = "entelix-otel.session";

/** The icon of the page: a tree of spans. In the page itself, so that a report has it, too. */
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0550ae"/><path d="M3 4h10M5 8h6M7 12h6" stroke="#fff" stroke-width="2" stroke-linecap="round"/></svg>`;

/** What the content security policy of a page must allow for its icon. */
export const ICON_POLICY = "img-src data:";

/** HTML before the content of the page. @param head HTML of elements of the head. */
export function pageStart(title: string, head: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
${head}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(ICON)}">
<title>${title}</title>
</head>
<body>
<div id="page"></div>
<noscript>This page needs JavaScript.</noscript>
`;
}

/** HTML after the content. @param script HTML of the script element. */
export function pageEnd(script: string): string {
  return `${script}
</body>
</html>
`;
}

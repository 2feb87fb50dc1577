/** The built page: `dist/view/page.js` and `page.css`. */
export interface PageFiles {
  readonly script: string;
  readonly style: string;
}

/** Name of the `<meta>` element that passes the session to the page. */
export const SESSION_META = "entelix-otel.session";

/** HTML before the content of the page. @param head HTML of elements of the head. */
export function pageStart(title: string, head: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
${head}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
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

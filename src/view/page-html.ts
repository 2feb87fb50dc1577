/** The built page: `dist/view/page.js` and `page.css`. */
export interface PageFiles {
  readonly script: string;
  readonly style: string;
}

/** Name of the element of the head that hands the session to the page. */
export const SESSION_META = "entelix-otel.session";

/** The page's HTML up to where it is drawn. @param head elements of the head, as HTML. */
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

/** The rest of it. @param script element of the script, as HTML. */
export function pageEnd(script: string): string {
  return `${script}
</body>
</html>
`;
}

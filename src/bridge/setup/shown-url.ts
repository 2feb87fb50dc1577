const HIDDEN = "hidden";

/** A part of a path that is rather a key than a name: 20 characters and more, with digits and letters. */
const KEY = /^(?=.*\d)(?=.*[a-z])[\w.~-]{20,}$/i;

/**
 * An address for output: without user name, password, values of the query, and keys in the path, also if it is not a
 * URL.
 */
export function shownUrl(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return withoutUser(address);
  url.username = "";
  url.password = "";
  for (const name of url.searchParams.keys()) url.searchParams.set(name, HIDDEN);
  url.pathname = url.pathname
    .split("/")
    .map((part) => (KEY.test(part) ? HIDDEN : part))
    .join("/");
  return url.href;
}

/** Removes user name and password from the addresses in a text. */
export function withoutUsers(text: string): string {
  return text.replaceAll(/[^\s"'<>]+/g, (word) =>
    word.includes("//") && word.includes("@") ? withoutUser(word) : word,
  );
}

/** Removes the text before the last `@`, after the first `//` if there is one, and the query. */
function withoutUser(address: string): string {
  const from = address.indexOf("//") + 2;
  const to = address.lastIndexOf("@") + 1;
  const start = from >= 2 ? from : 0;
  const shown = to < start ? address : address.slice(0, start) + address.slice(to);
  return shown.replace(/\?.*$/s, `?${HIDDEN}`);
}

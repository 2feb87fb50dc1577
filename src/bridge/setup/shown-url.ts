const HIDDEN = "hidden";

/** Parts of a path that are rather keys than names: with digits and letters, long or of both cases. */
const LONG = /^(?=.*\d)(?=.*[a-z])[^/]{16,}$/i;
const MIXED = /^(?=.*\d)(?=.*[a-z])(?=.*[A-Z])[^/]{8,}$/;

/**
 * An address for output: without user name, password, values of the query, keys in the path and fragment, also if it
 * is not a URL.
 */
export function shownUrl(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return withoutSecrets(address);
  url.username = "";
  url.password = "";
  url.hash = "";
  const query = [...url.searchParams];
  // A query without a value is a key itself.
  if (query.some(([, value]) => value === "")) url.search = HIDDEN;
  else for (const [name] of query) url.searchParams.set(name, HIDDEN);
  url.pathname = withoutKeys(url.pathname);
  return url.href;
}

/** The secrets in a URL, as they are written there. */
export function secretsIn({ password, pathname, searchParams, username }: URL): string[] {
  return [password, username, ...searchParams.values(), ...pathname.split("/").filter(isKey)];
}

/** Removes secrets from the addresses in a text. */
export function withoutSecretsOfUrls(text: string): string {
  return text.replaceAll(/[^\s"'<>]+/g, (word) =>
    word.includes("//") ? withoutSecrets(word) : word,
  );
}

/** Removes the text before the last `@`, after the first `//` if there is one, the query, and keys in the path. */
function withoutSecrets(address: string): string {
  const from = address.indexOf("//") + 2;
  const to = address.lastIndexOf("@") + 1;
  const start = from >= 2 ? from : 0;
  const shown = to < start ? address : address.slice(0, start) + address.slice(to);
  const [path = "", end] = shown.split(/[?#]/, 2);
  const host = path.indexOf("/", start);
  const known = host < 0 ? path : path.slice(0, host) + withoutKeys(path.slice(host));
  return end === undefined ? known : `${known}?${HIDDEN}`;
}

function withoutKeys(path: string): string {
  return path
    .split("/")
    .map((part) => (isKey(part) ? HIDDEN : part))
    .join("/");
}

function isKey(part: string): boolean {
  return LONG.test(part) || MIXED.test(part);
}

import { SESSION_META } from "../page-html.ts";

/** Of this origin, and so of this port alone. */
const KEY = SESSION_META;

/** Of a browser whose user forbids storage: it lasts until the page is loaded again. */
let unstored: string | undefined;

/** Keeps the session that came with the page, and takes the token out of the address, and so out of what is copied. */
export function takeSession(): void {
  const element = document.querySelector<HTMLMetaElement>(`meta[name="${SESSION_META}"]`);
  if (element !== null) keep(element.content);
  element?.remove();
  if (location.search !== "") history.replaceState(null, "", location.pathname + location.hash);
}

/** Headers of a request with the session. Another tab may have got it meanwhile, of a command that was started again. */
export function sessionHeaders(): Readonly<Record<string, string>> {
  const session = stored() ?? unstored;
  return session === undefined ? {} : { authorization: `Bearer ${session}` };
}

function keep(session: string): void {
  unstored = session;
  try {
    localStorage.setItem(KEY, session);
  } catch {
    // Until the page is loaded again.
  }
}

function stored(): string | undefined {
  try {
    return localStorage.getItem(KEY) ?? undefined;
  } catch {
    return undefined;
  }
}

import { secretsIn } from "../setup/shown-url.ts";

/** Shorter values, such as a version, would hide words of the text. */
const SHORTEST = 6;

/** Headers of every request. They are not secret. */
const PUBLIC: ReadonlySet<string> = new Set(["content-type", "user-agent"]);

/**
 * Removes the credentials of a request, also those in its URL, from a text of the receiver, which can repeat what it
 * refuses.
 *
 * @param headers of the request. Each value counts, also without its scheme such as `Bearer`, and `Basic`
 *   credentials in plain text.
 */
export function withoutCredentials(
  text: string,
  url: string,
  headers: Readonly<Record<string, string>>,
): string {
  const address = new URL(url);
  const user = decodeURIComponent(address.username);
  const key = decodeURIComponent(address.password);
  // Node sends them in this form.
  const basic = Buffer.from(`${user}:${key}`).toString("base64");
  const values = Object.entries(headers).flatMap(([name, value]) =>
    PUBLIC.has(name.toLowerCase()) ? [] : formsOf(value),
  );
  const secrets = [...secretsIn(address), key, user, basic, ...values];
  return secrets
    .filter(({ length }) => length >= SHORTEST)
    .reduce((shown, secret) => shown.replaceAll(secret, "(hidden)"), text);
}

function formsOf(value: string): string[] {
  const credentials = value.slice(value.lastIndexOf(" ") + 1);
  if (!/^basic /i.test(value)) return [value, credentials];
  const plain = Buffer.from(credentials, "base64").toString();
  return [value, credentials, plain, plain.slice(plain.indexOf(":") + 1)];
}

/** An address as it may be shown: without a user's name and password. */
export function shownUrl(address: string): string {
  const url = new URL(address);
  url.username = "";
  url.password = "";
  return url.href;
}

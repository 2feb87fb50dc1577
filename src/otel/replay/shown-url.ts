/** An address as it may be shown: without a user's name and password, also where it is no URL. */
export function shownUrl(address: string): string {
  if (!URL.canParse(address)) return address.replace(/\/\/.*@/, "//");
  const url = new URL(address);
  url.username = "";
  url.password = "";
  return url.href;
}

const LOCAL =
  /^(?:localhost|(?:[a-z0-9-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\]|\[::ffff:127(?:\.\d{1,3}){3}\])$/i;

/** Whether a `Host` header names this machine. Without a port, or with any. */
export function isLocalHost(host: string | undefined): boolean {
  return host !== undefined && LOCAL.test(host.replace(/:\d*$/, ""));
}

/** Whether only this machine can reach an address that is listened on. */
export function isLoopback(address: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|::1|::ffff:127(?:\.\d{1,3}){3})$/i.test(address);
}

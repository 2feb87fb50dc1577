import { spawn } from "node:child_process";

/**
 * Opens an address in the user's browser.
 *
 * @param onFailure called where that did not work: on a machine without a screen, say. It does not throw.
 */
export function openBrowser(url: string, onFailure: () => void): void {
  const [program, args] = opener();
  const child = spawn(program, [...args, url], { stdio: "ignore", detached: true });
  child.once("error", onFailure);
  child.once("exit", (code) => {
    if (code !== 0) onFailure();
  });
  // The browser may be a child of it, and outlives this command.
  child.unref();
}

function opener(): readonly [program: string, args: readonly string[]] {
  switch (process.platform) {
    case "darwin":
      return ["open", []];
    case "win32":
      // What `start` does, without a shell that would read the address.
      return ["rundll32", ["url.dll,FileProtocolHandler"]];
    default:
      return ["xdg-open", []];
  }
}

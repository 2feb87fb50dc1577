import { execFileSync } from "node:child_process";

/** The path of a server or package of `scripts/servers`; installed or built first where it is missing. */
export function installed(name: string): string {
  const said = execFileSync(process.execPath, ["scripts/servers/install.mjs", name], {
    encoding: "utf8",
  });
  return said.trim().split(" ").slice(2).join(" ");
}

import { readFileSync } from "node:fs";

/** The version of a package that an installation of `scripts/servers` pins. */
export function pinnedVersion(server: string, name: string): string {
  const file = new URL(`../../../scripts/servers/${server}/package.json`, import.meta.url);
  const manifest: unknown = JSON.parse(readFileSync(file, "utf8"));
  const packages: unknown = Reflect.get(Object(manifest), "dependencies");
  const version: unknown = Reflect.get(Object(packages), name);
  if (typeof version !== "string") throw new Error(`${server}: expected a version of ${name}`);
  return version;
}

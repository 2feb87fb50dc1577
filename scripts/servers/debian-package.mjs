// Packages of Debian, for servers and programs that it builds.
import { firstLine, run } from "./command.mjs";

const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };

/**
 * @param {string} name what it is installed for
 * @param {string} wanted the package
 * @param {(line: string) => void} tell
 * @returns {Promise<(pack: string) => Promise<unknown>>} installs a package, without those that it recommends
 * @throws {Error} when nothing can be installed here
 */
export async function debianPackages(name, wanted, tell) {
  const command = `apt-get install --no-install-recommends ${wanted}`;
  if ((await firstLine("apt-get", "--version")) === undefined) {
    throw new Error("there is no apt-get to install it with");
  }
  if (process.getuid?.() !== 0) throw new Error(`only root may install it: ${command}`);
  tell(`${name}: ${command}`);
  await run("apt-get", ["update"], { env });
  return (pack) => run("apt-get", ["install", "--yes", "--no-install-recommends", pack], { env });
}

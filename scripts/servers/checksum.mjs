// The SHA-256 that lies beside each built program, in the form of `sha256sum`, and is checked before use.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { pipeline } from "node:stream/promises";

/** @param {string} file */
async function sha256(file) {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}

/** @param {string} file */
export async function writeChecksum(file) {
  await writeFile(`${file}.sha256`, `${await sha256(file)}  ${basename(file)}\n`);
}

/**
 * Whether the program is there with its checksum, and both agree.
 *
 * @param {string} file
 * @returns {Promise<"good" | "absent" | "changed">}
 */
export async function compareChecksum(file) {
  try {
    const [wanted, found] = await Promise.all([readFile(`${file}.sha256`, "utf8"), sha256(file)]);
    return wanted === `${found}  ${basename(file)}\n` ? "good" : "changed";
  } catch (error) {
    if (error.code === "ENOENT") return "absent";
    throw error;
  }
}

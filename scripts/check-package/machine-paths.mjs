import { homedir } from "node:os";

/** Folders of people, on any system. */
const ANYBODYS = String.raw`/(?:home|Users)/[\w.-]+|[A-Za-z]:\\+Users\\+`;

/**
 * The places that name a folder of the machine on which the package was built.
 *
 * @param files with `path` and `text`.
 * @param root the project's folder there.
 */
export function machinePaths(files, root) {
  const own = [root.replace(/[/\\]$/, ""), homedir()].filter((folder) => folder.length > 1);
  const pattern = new RegExp([ANYBODYS, ...own.map(wholeFolder)].join("|"));
  return files.flatMap(({ path, text }) =>
    text.split("\n").flatMap((line, at) => {
      const found = pattern.exec(line);
      return found === null ? [] : [`${path}:${at + 1}: ${found[0]}`];
    }),
  );
}

function wholeFolder(folder) {
  const literal = folder.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  return String.raw`(?<![\w.-])${literal}(?![\w-])`;
}

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { npm } from "./command.mjs";

/** What a user gets beside `package.json`, and nothing else. */
const EXPECTED = [
  "LICENSE",
  "README.md",
  "THIRD-PARTY-NOTICES.md",
  "dist",
  "package.json",
  "recordings",
];

/**
 * The most that the tarball may weigh, in KiB. Raised from 960 for `view` and `report`: the page with its framework
 * and the layout of graphs (57), the two commands with their sources and server; from 1,072 for bounded JSON, in the
 * entries and in the commands (16), the reader of Kafka's batches and the order of late streams; from 1,104 for what
 * other people's agents need: keys of calls, usage of every end, paused runs, decisions without spans, message parts;
 * from 1,128 for operations of models and runs, stops of any type, the usage in rows and nested options; from 1,152 for
 * OpenTelemetry's encoders of metrics and of spans in JSON, in two formats (23); from 1,184 for OpenInference's names,
 * the end of processes, and what both lines of the SDK have in different packages; from 1,216 for `view --listen` with a
 * reader of protobuf, the names of other instrumentations and the stories of runs, and for advice in reports of exports;
 * from 1,264 for the recording of the support agent (24), the conversation of a run with its Markdown (27), stories and
 * numbers of the list, runs in parts, costs by a list of prices, and the replay of spans; from 1,344 for commands that
 * are loaded one by one, in 70 files (20), and from 1,368 for a doctor of the endpoint in the code, and for runs of other
 * instrumentations read from their parents (8).
 */
const MOST_KIB = 1_376;

/** Packs what is built. @returns `{ path, version, files }`, the files with `path` and `size`. */
export async function pack(root, folder, fact) {
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const { stdout } = await npm(args, { cwd: root });
  const [packed] = Object.values(JSON.parse(stdout));
  const { filename, version, size, unpackedSize, files } = packed;
  fact(`${filename}: ${kib(size)} packed, ${kib(unpackedSize)} unpacked, ${files.length} files`);
  for (const file of files) fact(`${kib(file.size).padStart(9)}  ${file.path}`);
  return { path: join(folder, filename), version, size, files };
}

/** @throws Error when the tarball holds too much or too little. */
export function checkContents({ files, size }, fact) {
  const found = [...new Set(files.map(({ path }) => path.split("/")[0]))].sort();
  if (found.join() !== EXPECTED.join()) {
    throw new Error(`expected ${EXPECTED.join(", ")}, got ${found.join(", ")}`);
  }
  if (size > MOST_KIB * 1024) throw new Error(`expected at most ${MOST_KIB} KiB, got ${kib(size)}`);
  fact(found.join(", "));
}

/** The packed files as they were installed, each with its text. */
export function readInstalled(project, files) {
  const read = async ({ path }) => ({
    path,
    text: await readFile(join(project.folder, "node_modules/entelix-otel", path), "utf8"),
  });
  return Promise.all(files.map(read));
}

const kib = (bytes) => `${(bytes / 1024).toFixed(1)} KiB`;

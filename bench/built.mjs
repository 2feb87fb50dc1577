// The build that a process measures: that of this checkout, or of the package in ENTELIX_BENCH_PACKAGE.
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = process.env.ENTELIX_BENCH_PACKAGE ?? fileURLToPath(new URL("..", import.meta.url));

/** @param file of `dist`. */
export const built = (file) => import(pathToFileURL(join(root, "dist", file)).href);

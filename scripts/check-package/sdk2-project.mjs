import { compile, NODE_TYPES } from "./compile.mjs";
import { Project } from "./project.mjs";
import { checkCountedRun, checkRunOnTheWire } from "./wire.mjs";

/** What a user on Node 20 installs beside the package; the versions are those it is tested with. */
const FOR_SPANS = ["@opentelemetry/api", "@opentelemetry/sdk-trace"];

/** And for metrics too. */
const FOR_BOTH = [...FOR_SPANS, "@opentelemetry/sdk-metrics"];

/** Nothing but this check holds newer forms off the declarations. */
const OLDEST_TYPESCRIPT = "5.0.4";

/** Each way in which Node and bundlers find types, and the files that are compiled so. */
const CONSUMERS = [
  { files: ["bundler.mts"], module: "ESNext", moduleResolution: "bundler" },
  { files: ["esm.mts", "commonjs.cts"], module: "Node16", moduleResolution: "node16" },
  // What `module: commonjs` means to TypeScript 5: it reads no exports.
  {
    files: ["older.cts"],
    module: "CommonJS",
    moduleResolution: "node10",
    ignoreDeprecations: "6.0",
  },
];

/** Applications on SDK 2, in each module system and in both at once. */
export async function checkSdk2Project(list, subject) {
  await checkSpansAlone(list, subject);
  await checkTelemetry(list, subject);
}

/** With `entelix-otel/setup`, and none of the metrics packages. */
async function checkSpansAlone(list, subject) {
  const title = "installs beside SDK 2 without metrics, one copy of each package";
  const project = await list.check(title, (fact) => create("spans", FOR_SPANS, subject, fact));
  if (project === undefined) return;

  for (const program of ["with-setup.mjs", "with-setup.cjs"]) {
    await list.check(`setupTracing sends a run: ${program}`, async (fact) =>
      checkRunOnTheWire(project, await project.take(program), subject.receiver, fact),
    );
  }
  for (const program of ["no-telemetry.mjs", "no-telemetry.cjs"]) {
    await list.check(`entelix-otel/telemetry says what it needs: ${program}`, async (fact) => {
      await project.take("missing-metrics.mjs");
      fact(await project.run(await project.take(program)));
    });
  }
  await list.check("TypeScript: the types of spans need none of metrics", async () => {
    const file = await project.take("consumer-spans.ts", "consumer.mts");
    await compile(subject.root, project, [file], { module: "Node16", moduleResolution: "node16" });
  });
}

/** With `entelix-otel/telemetry` too. */
async function checkTelemetry(list, subject) {
  const title = "installs beside SDK 2 with metrics, one copy of each package";
  const project = await list.check(title, (fact) => create("sdk2", FOR_BOTH, subject, fact));
  if (project === undefined) return;

  for (const program of ["with-telemetry.mjs", "with-telemetry.cjs"]) {
    await list.check(`setupTelemetry sends and counts a run: ${program}`, async (fact) =>
      checkCountedRun(project, await project.take(program), subject.receiver, fact),
    );
  }
  await list.check("ESM and CommonJS copies in one process", async (fact) => {
    fact(await project.run(await project.take("both-copies.mjs")));
  });
  for (const consumer of CONSUMERS) {
    const title = `TypeScript finds the types as ${consumer.moduleResolution} does`;
    await list.check(title, (fact) => checkConsumers(subject.root, project, consumer, fact));
  }
  await list.check("an older TypeScript reads the types of every entry", async (fact) => {
    const packages = { typescript: OLDEST_TYPESCRIPT };
    const { folder } = await Project.create(subject.folder, "older-typescript", { packages });
    const files = [await project.take("every-entry.ts", "every-entry.mts")];
    const options = { module: "Node16", moduleResolution: "node16" };
    await compile(folder, project, files, options);
    fact(`TypeScript ${OLDEST_TYPESCRIPT}`);
  });
}

async function create(name, wanted, { folder, tarball, versions }, fact) {
  const ours = Object.fromEntries(wanted.map((each) => [each, versions[each]]));
  const packages = { ...ours, ...NODE_TYPES };
  const made = await Project.create(folder, name, { tarball: tarball.path, packages });
  const installed = await made.installed();
  const names = installed.map((line) => line.split(" ")[0]);
  const twice = names.filter((each, at) => names.indexOf(each) !== at);
  if (twice.length > 0) throw new Error(`expected one copy of each, got two of ${twice}`);
  fact(installed.join(", "));
  await made.take("send-run.mjs");
  return made;
}

async function checkConsumers(root, project, { files, ...options }, fact) {
  for (const file of files) await project.take("consumer.ts", file);
  await compile(root, project, files, options);
  for (const file of files) {
    const quiet = { OTEL_TRACES_EXPORTER: "none", OTEL_METRICS_EXPORTER: "none" };
    const printed = await project.run(file.replace(/ts$/, "js"), quiet);
    if (printed !== "3 tool_result model_dispatch 3 32") {
      throw new Error(`${file}: expected 3 events, a tool_result row, 3 labels, got ${printed}`);
    }
    fact(`${file}: compiled strictly, the libraries' types checked too; runs`);
  }
}

import { machinePaths } from "./machine-paths.mjs";
import { Project } from "./project.mjs";
import { readInstalled } from "./tarball.mjs";

const PROXIES = "http-proxy-agent, https-proxy-agent, ms, proxy-agent-negotiate, proxy-from-env";
const PACKAGES = `@opentelemetry/api, agent-base, debug, entelix-otel, ${PROXIES}, uuid`;

/** Only the package itself: npm brings what it requires, and there is no SDK. */
export async function checkBareProject(list, { root, folder, tarball, versions }) {
  const project = await list.check(
    "installs alone, with the API, uuid and proxy agents only",
    async (fact) => {
      const packages = { "@opentelemetry/api": versions["@opentelemetry/api"] };
      const made = await Project.create(folder, "bare", { tarball: tarball.path, packages });
      const installed = await made.installed();
      const names = installed.map((line) => line.split(" ")[0]).join(", ");
      if (names !== PACKAGES) throw new Error(`expected ${PACKAGES}, got ${names}`);
      fact(installed.join(", "));
      return made;
    },
  );
  if (project === undefined) return;

  await list.check("no packed file names a folder of this machine", async (fact) => {
    const files = await readInstalled(project, tarball.files);
    const found = machinePaths(files, root);
    if (found.length > 0) throw new Error(found.join("\n"));
    fact(`${files.length} files read`);
  });
  for (const [system, program] of [
    ["ESM", "main-entry.mjs"],
    ["CommonJS", "main-entry.cjs"],
  ]) {
    await list.check(`works from ${system} without an SDK`, async (fact) => {
      await Promise.all([project.take("send-run.mjs"), project.take("use-main-entry.mjs")]);
      fact(await project.run(await project.take(program)));
    });
  }
  for (const [system, program] of [
    ["ESM", "no-postgres.mjs"],
    ["CommonJS", "no-postgres.cjs"],
  ]) {
    await list.check(`entelix-otel/postgres from ${system} says what to install`, async (fact) => {
      await project.take("say-no-postgres.mjs");
      fact(await project.run(await project.take(program)));
    });
  }
  await list.check("entelix-otel/prices says what to install", async (fact) => {
    fact(await project.run(await project.take("no-prices.mjs")));
  });
  await list.check("agents in TypeScript, without an SDK or a framework", async (fact) => {
    fact(await project.run(await project.take("agents.mjs")));
  });
  await checkCommand(list, project, tarball);
}

async function checkCommand(list, project, tarball) {
  await list.check("entelix-otel --version", async (fact) => {
    const { stdout } = await project.command(["--version"]);
    if (stdout !== `${tarball.version}\n`) {
      throw new Error(`expected ${tarball.version}, got ${JSON.stringify(stdout)}`);
    }
    fact(stdout);
  });
  await list.check("entelix-otel demo, piped", async (fact) => {
    const { stdout, stderr } = await project.command(["demo", "--audit", "demo-audit"]);
    if (stderr !== "") throw new Error(`expected nothing on standard error, got\n${stderr}`);
    if (stdout.includes("\u001b")) throw new Error("expected plain text, got escape codes");
    const traces = new Set(stdout.match(/(?<=^trace )[0-9a-f]{32}\b/gm));
    if (traces.size === 0) throw new Error(`expected trace trees, got\n${stdout}`);
    fact(`${stdout.split("\n").length} lines, ${traces.size} traces`);
  });
  await list.check("entelix-otel audit verify, of the demo's log", async (fact) => {
    const { stdout } = await project.command(["audit", "verify", "demo-audit"]);
    fact(stdout);
  });
  await list.check("entelix-otel serve, from start to SIGTERM", async (fact) => {
    fact(await project.run(await project.take("serve-once.mjs")));
  });
}

import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pageFiles, readPage } from "../docs/pages.ts";
import { listening } from "../support/listening.ts";
import { OtlpServer } from "../support/otlp-server.ts";
import { wireTree } from "../support/wire-tree.ts";
import { AdaptersProject, installedPath, packed } from "./support/adapters-project.ts";
import { inForm } from "./support/long-form.ts";
import { MANAGERS, type ManagerRow, SDK } from "./support/manager-rows.ts";
import { RUNTIMES, SETUPS, type SetupRow } from "./support/setup-rows.ts";
import { setupsPage } from "./support/setups-page.ts";
import { ALL, type Arrived, TelemetryRecorder } from "./support/telemetry-recorder.ts";

const execute = promisify(execFile);
const SUPPORT = new URL("support/", import.meta.url).pathname;
const PROGRAMS = new URL("../bridge/setup/register-programs/", import.meta.url).pathname;
const TIMEOUT_MS = 220_000;

let folder: string;
let tarball: string;
let newerNode: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "entelix-otel-setups-"));
  tarball = await packed(folder);
  newerNode = await installedPath("newer-node");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** CI tests one of each kind, the long form all. */
function tested<R extends { readonly inCi?: boolean }>(rows: readonly R[]): readonly R[] {
  return inForm({ short: rows.filter(({ inCi }) => inCi === true), long: rows });
}

/** Variables with which each setup sends to the recorder. */
function environment(url: string): Readonly<Record<string, string>> {
  return {
    RECORDER: url,
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true",
    SENTRY_DSN: `${url.replace("//", "//key@")}/1`,
    DD_TRACE_AGENT_URL: url,
    DD_INSTRUMENTATION_TELEMETRY_ENABLED: "false",
    DD_REMOTE_CONFIGURATION_ENABLED: "false",
    LANGFUSE_PUBLIC_KEY: "public",
    LANGFUSE_SECRET_KEY: "secret",
    LANGFUSE_BASE_URL: url,
    NEXT_TELEMETRY_DISABLED: "1",
  };
}

/** Runs commands in a project, each to its end. @returns what arrived. */
async function arrivedFrom(
  commands: readonly (readonly string[])[],
  cwd: string,
  node: string,
): Promise<Arrived> {
  const recorder = await TelemetryRecorder.start();
  try {
    const { HOME = "", PATH = "" } = process.env;
    // Programs that start `node` by its name find the same one.
    const env = { HOME, PATH: `${dirname(node)}:${PATH}`, ...environment(recorder.url) };
    for (const [program = "", ...args] of commands) {
      const file = program === "node" ? node : program;
      await execute(file, args, { cwd, env, timeout: TIMEOUT_MS });
    }
    return recorder.arrived();
  } finally {
    await recorder.close();
  }
}

async function write(project: string, files: ReadonlyMap<string, string>): Promise<void> {
  for (const [name, text] of files) {
    await mkdir(dirname(join(project, name)), { recursive: true });
    await writeFile(join(project, name), text);
  }
}

async function playRow(
  { commands, driver, page, server }: SetupRow,
  files = pageFiles(readPage(`docs/${page}`)),
): Promise<Arrived> {
  const project = await AdaptersProject.create(server, tarball, newerNode);
  try {
    await write(project.folder, files);
    await writeFile(join(project.folder, "package.json"), '{ "name": "shop", "private": true }');
    if (driver !== undefined) await cp(join(SUPPORT, driver), join(project.folder, driver));
    return await arrivedFrom(commands, project.folder, newerNode);
  } finally {
    await project.remove();
  }
}

/** Installs by a package manager as a reader would, and runs the program of the page of Bun. */
async function playManager(row: ManagerRow): Promise<{ sdk: number; arrived: Arrived }> {
  const project = await mkdtemp(join(folder, "project-"));
  const node = row.node === "20" ? process.execPath : newerNode;
  const { program, run } = row;
  const manager =
    program === undefined
      ? [node, await npmCli()]
      : [
          ...(program.file.startsWith(".bin") ? [] : [node]),
          join(await installedPath(program.server), program.file),
        ];
  await write(project, pageFiles(readPage("docs/on-bun.md")));
  await writeFile(join(project, "package.json"), '{ "name": "shop", "private": true }');
  // Makes it a project of its own for Yarn.
  await writeFile(join(project, "yarn.lock"), "");
  const packages = [`entelix-otel@file:${tarball}`, ...(row.packages ?? SDK)];
  const [, ...add] = [...manager, ...row.add, ...packages];
  const { stdout } = await execute("npm", ["config", "get", "registry"]);
  const env = {
    ...process.env,
    PATH: `${dirname(node)}:${process.env.PATH}`,
    YARN_NPM_REGISTRY_SERVER: stdout.trim().replace(/\/$/, ""),
    YARN_ENABLE_TELEMETRY: "0",
    // In CI, Yarn refuses to change its lock file by default.
    YARN_ENABLE_IMMUTABLE_INSTALLS: "false",
  };
  await execute(manager[0] ?? "", add, { cwd: project, env, timeout: TIMEOUT_MS });
  const command = run.flatMap((word) => (word === "manager" ? manager : [word]));
  const arrived = await arrivedFrom([command], project, node);
  const manifest = await readFile(join(project, "package.json"), "utf8");
  const [, major] = /"@opentelemetry\/sdk-trace": *"\D*(\d+)/.exec(manifest) ?? [];
  return { sdk: Number(major), arrived };
}

async function npmCli(): Promise<string> {
  const { stdout } = await execute("npm", ["root", "--global"]);
  return join(stdout.trim(), "npm/bin/npm-cli.js");
}

describe.each(tested([...SETUPS, ...RUNTIMES]))("$title", (row) => {
  it("sends what its page says", async () => {
    expect(await playRow(row)).toEqual(row.arrives);
  });
});

const NEXT = SETUPS.filter(({ server }) => server === "nextjs");

describe.each(inForm({ short: [], long: NEXT }))("the edge runtime of $title", (row) => {
  it("is refused by the build, which names what is missing", async () => {
    const files = new Map(pageFiles(readPage(`docs/${row.page}`)));
    const route = "app/api/chat/route.js";
    const text = files.get(route) ?? "";
    files.set(route, text.replace('dynamic = "force-dynamic"', 'runtime = "edge"'));
    await expect(playRow(row, files)).rejects.toThrow("Native module not found: node:process");
  });
});

const WITH_FILES = RUNTIMES.flatMap(({ audit, ...row }) =>
  audit === undefined ? [] : [{ ...row, audit }],
);

describe.each(tested(WITH_FILES))("an audit log on $title", (row) => {
  it("is complete and intact", async () => {
    const project = await AdaptersProject.create(row.server, tarball, newerNode);
    try {
      const { folder: cwd } = project;
      await writeFile(join(cwd, "package.json"), '{ "name": "shop", "private": true }');
      await cp(join(SUPPORT, "setup-audit.mjs"), join(cwd, "setup-audit.mjs"));
      await using receiver = await OtlpServer.start();
      const { HOME = "", PATH = "" } = process.env;
      const env = { HOME, PATH, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url };
      const [program = "", ...args] = row.audit;
      const { stdout } = await execute(program, args, { cwd, env, timeout: TIMEOUT_MS });
      expect(JSON.parse(stdout)).toEqual({ end: "closed", ok: true, rows: 4 });
      expect(wireTree(receiver.spans)).toEqual(["invoke_agent support", "  execute_tool look_up"]);
    } finally {
      await project.remove();
    }
  });
});

const AUTO = "@opentelemetry/auto-instrumentations-node/dist/register";

const LOADED: readonly (readonly [string, string])[] = [
  ["--require", `${AUTO}.cjs`],
  ["--import", `${AUTO}.mjs`],
];

describe.each(inForm({ short: [], long: LOADED }))(
  "register beside the auto-instrumentations, loaded by %s",
  (flag, file) => {
    it("has the requests of models and tools below their calls", async () => {
      const theirs = join(await installedPath("auto-instrumentations"), file);
      const project = await AdaptersProject.create("langchain-newest", tarball, newerNode);
      try {
        const { folder: cwd } = project;
        await cp(join(PROGRAMS, "langchain-http.mjs"), join(cwd, "app.mjs"));
        // Theirs instruments `fetch`.
        await writeFile(join(cwd, "instrumented.mjs"), "");
        await using shop = await listening();
        await using receiver = await OtlpServer.start();
        const { HOME = "", PATH = "" } = process.env;
        const env = {
          HOME,
          PATH,
          OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
          OTEL_METRICS_EXPORTER: "none",
          OTEL_LOGS_EXPORTER: "none",
          OTEL_NODE_ENABLED_INSTRUMENTATIONS: "undici",
          OTEL_NODE_RESOURCE_DETECTORS: "none",
        };
        const args = [flag, theirs, "--import", "entelix-otel/register", "app.mjs", shop.url];
        await execute(newerNode, args, { cwd, env, timeout: TIMEOUT_MS });
        expect(wireTree(receiver.spans)).toEqual(HTTP_TREE);
      } finally {
        await project.remove();
      }
    });
  },
);

/** What `langchain-http.mjs` does. */
const HTTP_TREE = [
  "invoke_agent agent",
  ...["  step agent", "    chat Model", "      GET /model"],
  ...["  step tools", "    execute_tool look", "      GET /tool"],
  ...["  step agent", "    chat Model", "      GET /model"],
  "invoke_agent streams",
  ...["  step agent", "    chat Streaming", "      GET /model"],
];

describe.each(tested(MANAGERS))("$title", (row) => {
  it("installs the packed package with the SDK of the README", async () => {
    expect(await playManager(row)).toEqual({ sdk: row.sdk, arrived: ALL });
  });
});

describe("docs/setups.md", () => {
  it("says what is tested (`npx vitest -u` writes it)", async () => {
    const page = setupsPage(SETUPS, RUNTIMES, MANAGERS);
    await expect(page).toMatchFileSnapshot("../../docs/setups.md");
  });
});

import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AdaptersProject, installedPath, packed } from "./support/adapters-project.ts";
import {
  backendsPage,
  type Cell,
  CONVENTIONS,
  cellsOf,
  REASONS,
  reasonOf,
} from "./support/backend-page.ts";
import { FRAMEWORKS, type FrameworkName, ROWS, type Shown } from "./support/backend-rows.ts";
import { LlmBackend, type ShownTrace } from "./support/llm-backend.ts";
import { inForm } from "./support/long-form.ts";
import { MLFLOW } from "./support/mlflow.ts";
import { OpenAiServer } from "./support/openai-server.ts";
import { PHOENIX } from "./support/phoenix.ts";
import { until } from "./support/until.ts";

/** Installing takes minutes when it is not in the cache. */
const INSTALL_MS = 1_800_000;
const SUPPORT = new URL("support/", import.meta.url).pathname;

const PLAYED: readonly FrameworkName[] = inForm<readonly FrameworkName[]>({
  short: ["langgraph"],
  long: FRAMEWORKS,
});
/** `without`: the option `conventions: "both"`, but no content. */
const VARIANTS = [...CONVENTIONS, "without"];

let folder: string;
let project: AdaptersProject;
let node: string;
let model: OpenAiServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "entelix-otel-backends-"));
  node = await installedPath("newer-node");
  project = await AdaptersProject.create("llm-agents", await packed(folder), node);
  for (const name of ["variants", ...PLAYED]) {
    await cp(join(SUPPORT, `llm-${name}.mjs`), join(project.folder, `llm-${name}.mjs`));
  }
  model = await OpenAiServer.start();
}, INSTALL_MS);
afterAll(async () => {
  await model?.stop();
  await project?.remove();
  await rm(folder, { recursive: true, force: true });
});

describe.each([PHOENIX, MLFLOW])("spans of the packed package in $name", (kind) => {
  let backend: LlmBackend;
  let traces: ReadonlyMap<string, ShownTrace>;

  beforeAll(async () => {
    backend = await LlmBackend.start(kind);
    for (const framework of PLAYED) {
      const environment = { OPENAI_BASE_URL: model.url };
      const command = [node, `llm-${framework}.mjs`] as const;
      expect(await backend.receive(command, environment, project.folder)).toBe("");
    }
    const sent = PLAYED.length * VARIANTS.length * 2;
    traces = await until("every trace is shown", async () => {
      const shown = await backend.traces();
      return [...shown.values()].every(isComplete) && shown.size === sent ? shown : undefined;
    });
  }, INSTALL_MS);
  afterAll(() => backend?.stop());

  function shown(framework: string, variant: string): Shown {
    const [answered, failed] = [1, 2].map((at) => traces.get(`${framework}/${variant}/${at}`));
    if (answered === undefined || failed === undefined) {
      throw new Error(`no traces of ${framework} ${variant} in ${[...traces.keys()]}`);
    }
    return { answered, failed };
  }

  const cells = ROWS.flatMap((row) =>
    CONVENTIONS.flatMap((conventions) => cellsOf(row, kind.name, conventions)),
  ).filter(({ framework }) => PLAYED.includes(framework));
  const place = ({ conventions, framework, row }: Cell) =>
    `${row.title}: ${framework}, ${conventions}`;

  it("are in the sessions of their conversations", () => {
    const sessions = PLAYED.flatMap((framework) =>
      VARIANTS.flatMap((variant) => [1, 2].map((at) => `${framework}/${variant}/${at}`)),
    );
    expect([...traces.keys()].sort()).toEqual(sessions.sort());
  });

  it("are shown as docs/backends.md says", () => {
    const wrong = cells.flatMap((cell) => {
      const { row, framework, conventions } = cell;
      const value = row.shown(shown(framework, conventions));
      const isShown = isDeepStrictEqual(value, row.wanted);
      if (isShown === (reasonOf(cell) === 0)) return [];
      return [[place(cell), isShown ? "is shown, and has a reason why not" : value]];
    });
    expect(wrong).toEqual([]);
  });

  it.each(PLAYED)("have no content of %s without captureContent", (framework) => {
    const { answered, failed } = shown(framework, "without");
    const all = JSON.stringify([answered, failed]);
    for (const content of ["order", "refund you", "delivered"]) expect(all).not.toContain(content);
    expect(answered.tokens?.[1]).toBe(63);
  });
});

describe("docs/backends.md", () => {
  it("says what is tested (`npx vitest -u` writes it)", async () => {
    const titles = new Set(ROWS.map(({ title }) => title));
    expect(REASONS.flatMap(({ rows }) => rows).filter((title) => !titles.has(title))).toEqual([]);
    await expect(backendsPage()).toMatchFileSnapshot("../../docs/backends.md");
  });
});

/** Its root has arrived, which comes last. */
function isComplete({ spans }: ShownTrace): boolean {
  return spans.some(({ name }) => /^invoke_(agent|workflow) /.test(name));
}

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AdaptersProject, installedPath, packed, type Scenes } from "./support/adapters-project.ts";
import {
  AISDK_TREES,
  langchainTrees,
  OPENAI_AGENTS_TREES,
  type Trees,
} from "./support/adapters-trees.ts";
import { aiSdkTrees } from "./support/ai-sdk-trees.ts";
import { mastraTrees } from "./support/mastra-trees.ts";

/** Each framework in the oldest and the newest version that its adapter is tested with. */
const ENDS: readonly {
  readonly server: string;
  readonly program: string;
  readonly trees: Trees;
  /** The newest OpenAI Agents SDK asks for more than the Node that this package asks for. */
  readonly newerNode?: boolean;
  /** Files that the program imports. */
  readonly needs?: readonly string[];
}[] = [
  {
    server: "langchain-oldest",
    program: "adapters-langchain.mjs",
    needs: ["langchain-model.mjs"],
    trees: langchainTrees(false),
  },
  {
    server: "langchain-newest",
    program: "adapters-langchain.mjs",
    needs: ["langchain-model.mjs"],
    trees: langchainTrees(true),
  },
  {
    server: "openai-agents-oldest",
    program: "adapters-openai-agents.mjs",
    needs: ["openai-agents-model.mjs"],
    trees: OPENAI_AGENTS_TREES,
  },
  {
    server: "openai-agents-newest",
    program: "adapters-openai-agents.mjs",
    needs: ["openai-agents-model.mjs"],
    trees: OPENAI_AGENTS_TREES,
    newerNode: true,
  },
  {
    server: "openai-agents-aisdk",
    program: "adapters-aisdk.mjs",
    trees: AISDK_TREES,
    newerNode: true,
  },
  {
    server: "openai-agents-newest",
    program: "adapters-aisdk.mjs",
    trees: AISDK_TREES,
    newerNode: true,
  },
  {
    server: "ai-sdk-6-oldest",
    program: "adapters-ai-sdk.mjs",
    needs: ["ai-sdk-model.mjs", "ai-sdk-version.mjs", "language-model.mjs"],
    trees: aiSdkTrees({ major: 6, goesOn: true, streamsWait: false }),
  },
  {
    server: "ai-sdk-6-newest",
    program: "adapters-ai-sdk.mjs",
    needs: ["ai-sdk-model.mjs", "ai-sdk-version.mjs", "language-model.mjs"],
    trees: aiSdkTrees({ major: 6, goesOn: false, streamsWait: true }),
  },
  {
    server: "ai-sdk-oldest",
    program: "adapters-ai-sdk.mjs",
    needs: ["ai-sdk-model.mjs", "ai-sdk-version.mjs", "language-model.mjs"],
    trees: aiSdkTrees({ major: 7, goesOn: true, streamsWait: true }),
    newerNode: true,
  },
  {
    server: "ai-sdk-newest",
    program: "adapters-ai-sdk.mjs",
    needs: ["ai-sdk-model.mjs", "ai-sdk-version.mjs", "language-model.mjs"],
    trees: aiSdkTrees({ major: 7, goesOn: false, streamsWait: true }),
    newerNode: true,
  },
  {
    server: "mastra-oldest",
    program: "adapters-mastra.mjs",
    needs: ["language-model.mjs", "mastra-model.mjs", "mastra-workflows.mjs"],
    trees: mastraTrees(true),
    newerNode: true,
  },
  {
    server: "mastra-newest",
    program: "adapters-mastra.mjs",
    needs: ["language-model.mjs", "mastra-model.mjs", "mastra-workflows.mjs"],
    trees: mastraTrees(false),
    newerNode: true,
  },
];

/** Counts of scenes that the adapter leaves something out of. */
const COUNTS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  handoff: { handoffs: 1 },
};
/** Scenes of two runs, of which each has a trace. */
const TWO_TRACES = /^interrupt and|^approved and|^denied$|waits$|merged/;

let folder: string;
let tarball: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "entelix-otel-adapters-"));
  tarball = await packed(folder);
});
afterAll(() => rm(folder, { recursive: true }));

describe.each(ENDS)("the packed package beside $server", (end) => {
  let project: AdaptersProject;
  let scenes: Scenes;

  beforeAll(async () => {
    const node = end.newerNode === true ? await installedPath("newer-node") : process.execPath;
    project = await AdaptersProject.create(end.server, tarball, node);
    scenes = await project.play(end.program, end.needs);
  });
  afterAll(() => project?.remove());

  it("plays every scene", () => {
    expect(Object.keys(scenes)).toEqual(Object.keys(end.trees));
  });

  it.each(Object.keys(end.trees))("%s: the spans, one trace for a run, no trouble", (name) => {
    const scene = scenes[name];
    expect(scene?.tree.map(withoutIds)).toEqual(end.trees[name]);
    expect(scene?.traces).toBe(TWO_TRACES.test(name) ? 2 : 1);
    expect(scene?.troubles).toEqual([]);
    expect(scene?.counts).toEqual(COUNTS[name] ?? {});
  });
});

describe("the ranges of the package's peers", () => {
  it.each([
    ["ai", "ai-sdk-6-oldest", "ai-sdk-newest", ">=6.0.0 <8"],
    ["@langchain/core", "langchain-oldest", "langchain-newest", ">=0.3.40 <2"],
    ["@mastra/core", "mastra-oldest", "mastra-newest", ">=1.57.0 <2"],
    ["@openai/agents-core", "openai-agents-oldest", "openai-agents-newest", ">=0.4.0 <1"],
  ])(
    "of %s begins at the oldest that is tested, and takes the newest",
    async (name, first, last, range) => {
      const { peerDependencies, peerDependenciesMeta } = await manifest("package.json");
      expect(peerDependencies?.[name]).toBe(range);
      expect(peerDependenciesMeta?.[name]).toEqual({ optional: true });
      const [from = "", below = ""] = range.replace(">=", "").split(" <");
      const oldest = await manifest(`scripts/servers/${first}/package.json`);
      const newest = await manifest(`scripts/servers/${last}/package.json`);
      expect(oldest.dependencies?.[name]).toBe(from);
      expect(Number(newest.dependencies?.[name]?.split(".")[0])).toBe(Number(below) - 1);
    },
  );
});

describe("the versions that the pages state", () => {
  it.each([
    ["docs/ai-sdk.md", "ai-sdk", ["ai"]],
    ["docs/ai-sdk.md", "ai-sdk-6", ["ai"]],
    ["docs/langchain.md", "langchain", ["@langchain/core", "@langchain/langgraph"]],
    ["docs/mastra.md", "mastra", ["@mastra/core", "@mastra/observability"]],
    ["docs/openai-agents.md", "openai-agents", ["@openai/agents-core"]],
  ])("%s names both ends that are tested", async (page, server, names) => {
    const text = await readFile(new URL(`../../${page}`, import.meta.url), "utf8");
    for (const end of ["oldest", "newest"]) {
      const { dependencies } = await manifest(`scripts/servers/${server}-${end}/package.json`);
      for (const name of names) expect(text).toContain(dependencies?.[name]);
    }
  });
});

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional: boolean }>>;
}

async function manifest(path: string): Promise<Manifest> {
  const text = await readFile(new URL(`../../${path}`, import.meta.url), "utf8");
  const read: Manifest = JSON.parse(text);
  return read;
}

function withoutIds(line: string): string {
  return line.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, "UUID");
}

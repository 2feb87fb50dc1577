import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AdaptersProject, installedPath, packed } from "./support/adapters-project.ts";
import type { End } from "./support/same-framework.ts";
import { FRAMEWORKS } from "./support/same-frameworks.ts";
import { type Reported, samePage } from "./support/same-page.ts";

/** What a program prints. */
interface Printed {
  readonly lines: readonly string[];
  readonly troubles: readonly string[];
  /** What a replay of the scenario's recording does not make again: spans and rows. */
  readonly lost: readonly string[];
}
type Played = Readonly<Record<string, Printed>>;

let folder: string;
let tarball: string;
let runtime: Played;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "entelix-otel-same-"));
  tarball = await packed(folder);
  // The runtime needs no framework: any installation that has what this package needs will do.
  runtime = await play({ server: "langchain-newest" }, "same-runtime.mjs", []);
});
afterAll(() => rm(folder, { recursive: true }));

async function play(
  { args = [], newerNode, server }: End,
  program: string,
  needs: readonly string[],
): Promise<Played> {
  const node = newerNode === true ? await installedPath("newer-node") : process.execPath;
  const project = await AdaptersProject.create(server, tarball, node);
  try {
    return await project.run<Played>(program, args, ["same-scenarios.mjs", ...needs]);
  } finally {
    await project.remove();
  }
}

const ENDS = FRAMEWORKS.flatMap((framework) =>
  framework.ends.map((end) => ({ ...framework, ...end, end, framework })),
);

describe.each(ENDS)("the same scenario in $server", ({ end, framework }) => {
  it("is reported as by the runtime, but for the differences that are known", async () => {
    const played = await play(end, framework.program, framework.needs);
    const expected: Record<string, Played[string]> = {};
    for (const [scenario, { lines }] of Object.entries(runtime)) {
      const difference = { ...framework.differences, ...end.differences }[scenario];
      const own = difference === undefined ? lines : difference.lines;
      if (own !== undefined) expected[scenario] = { lines: own, troubles: [], lost: [] };
    }
    expect(played).toEqual(expected);
  });
});

describe("the runtime's recordings", () => {
  it("make the same spans and rows again", () => {
    for (const { lost, troubles } of Object.values(runtime)) {
      expect({ lost, troubles }).toEqual({ lost: [], troubles: [] });
    }
  });
});

describe("docs/frameworks.md", () => {
  it("says what is reported (`npx vitest -u` writes it)", async () => {
    const reported: Reported = runtime;
    await expect(samePage(reported, FRAMEWORKS)).toMatchFileSnapshot("../../docs/frameworks.md");
  });
});

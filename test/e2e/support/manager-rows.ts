/** A package manager of `docs/setups.md`. Installed with it, the packed package sends everything. */
export interface ManagerRow {
  readonly title: string;
  /** Its package, whose version the table has. */
  readonly package: string;
  /** The line of the SDK that it takes. */
  readonly sdk: 2 | 3;
  /** The Node that installs and runs: the oldest supported one, or 24. */
  readonly node: "20" | "24";
  /** Its program: a file in its installation in `scripts/servers`. Absent: npm. */
  readonly program?: { readonly server: string; readonly file: string };
  readonly add: readonly string[];
  /** Starts `app.mjs`. `node` is that of the row, `manager` the program. */
  readonly run: readonly string[];
  /** As the README's second line. Default: its names without versions. */
  readonly packages?: readonly string[];
  readonly inCi?: boolean;
}

/** The SDK of the README's second install line. */
export const SDK = [
  "@opentelemetry/sdk-trace",
  "@opentelemetry/resources",
  "@opentelemetry/sdk-metrics",
];

/** The same for Node 20, where a package manager does not choose by Node. */
export const SDK_2 = SDK.map((name) => `${name}@2`);

const PNPM = { server: "package-managers", file: "pnpm/bin/pnpm.cjs" };
const YARN = { server: "package-managers", file: "@yarnpkg/cli-dist/bin/yarn.js" };

export const MANAGERS: readonly ManagerRow[] = [
  {
    title: "npm, Node 20",
    package: "npm",
    sdk: 2,
    node: "20",
    add: ["install"],
    run: ["node", "app.mjs"],
  },
  {
    title: "npm, Node 24",
    package: "npm",
    sdk: 3,
    node: "24",
    add: ["install"],
    run: ["node", "app.mjs"],
  },
  {
    title: "pnpm",
    package: "pnpm",
    sdk: 3,
    node: "24",
    program: PNPM,
    add: ["add"],
    run: ["node", "app.mjs"],
  },
  {
    title: "Yarn, Plug'n'Play",
    package: "@yarnpkg/cli-dist",
    sdk: 3,
    node: "24",
    program: YARN,
    add: ["add"],
    run: ["manager", "node", "app.mjs"],
    packages: ["@opentelemetry/api", ...SDK],
    inCi: true,
  },
  {
    title: "Yarn, Node 20",
    package: "@yarnpkg/cli-dist",
    sdk: 2,
    node: "20",
    program: YARN,
    add: ["add"],
    run: ["manager", "node", "app.mjs"],
    packages: ["@opentelemetry/api", ...SDK_2],
  },
  {
    title: "Bun",
    package: "bun",
    sdk: 3,
    node: "24",
    program: { server: "bun", file: ".bin/bun" },
    add: ["add"],
    run: ["manager", "app.mjs"],
  },
];

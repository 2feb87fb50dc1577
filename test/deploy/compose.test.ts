import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import {
  at,
  composeVariables,
  entriesAt,
  envVariables,
  maybeAt,
  settingsIn,
  shippedText,
  shippedYaml,
  textsAt,
} from "./support/shipped-yaml.ts";

const COMPOSE = "docker-compose.yml";
const compose = shippedYaml(COMPOSE);
const services = entriesAt(compose, "services");
const service = (name: string) => at(compose, "services", name);

/** Files of the repository with such a name, where compose files could be. */
function shippedFiles(name: RegExp): string[] {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  const below = (folder: string): string[] =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .map((path) => `${folder}/${path.replaceAll("\\", "/")}`)
      .filter((path) => !path.includes("node_modules/"));
  return [...readdirSync(root), ...["deploy", "examples", "scripts"].flatMap(below)].filter(
    (path) => name.test(path),
  );
}

/** Whether a YAML file describes containers. */
function isCompose(file: unknown): boolean {
  const described = Object.values(maybeAt(file, "services") ?? {});
  return described.some((settings) => maybeAt(settings, "image") ?? maybeAt(settings, "build"));
}

/** What end-to-end tests are run with. */
function testedVersion(server: string): string | undefined {
  const catalog = shippedText("scripts/servers/catalog.mjs");
  return new RegExp(`\\b${server}: go\\(\\{\\s*version: "([^"]+)"`).exec(catalog)?.[1];
}

const defaults = composeVariables(COMPOSE);
const replaced = [...defaults.keys()];

/** Those that a container is given as they are in the environment. */
const passedOn = services.flatMap(([name, settings]) =>
  Object.entries(maybeAt(settings, "environment") ?? {})
    .filter(([, value]) => value === null)
    .map(([variable]) => ({ name, variable })),
);

describe("docker-compose.yml", () => {
  it("pins every image to a release", () => {
    const images = services.flatMap(([, settings]) => maybeAt(settings, "image") ?? []);
    expect(images).toHaveLength(services.length - 1);
    for (const image of images) expect(image).toMatch(/^[a-z-]+\/[a-z-]+:v?\d+\.\d+\.\d+$/);
    expect(at(service("demo"), "build", "dockerfile_inline")).toMatch(/^FROM node:20\.19-/);
  });

  it.each(["collector", "jaeger", "prometheus", "alertmanager"])(
    "has the %s that is tested",
    (name) => {
      const version = String(at(service(name), "image")).replace(/^.*:v?/, "");
      expect(version).toBe(testedVersion(name));
    },
  );

  it("opens ports to this host only", () => {
    const ports = services.flatMap(([, settings]) => textsAt(settings, "ports"));
    expect(ports.map((port) => port.replace(/^.*:(\d+)$/, "$1")).sort()).toEqual(
      ["4317", "4318", "4319", "13133", "16686", "9090", "9093", "3000"].sort(),
    );
    for (const port of ports) {
      const [, outside, inside] = /^127\.0\.0\.1:\$\{\w+:-(\d+)\}:(\d+)$/.exec(port) ?? [];
      expect(outside, port).toBe(inside);
    }
  });

  it("checks the health of what stays, the collector's from outside", () => {
    const unchecked = services.filter(([, settings]) => !maybeAt(settings, "healthcheck"));
    expect(unchecked.map(([name]) => name)).toEqual(["volumes", "collector", "demo"]);
    expect(textsAt(service("collector-health"), "healthcheck", "test")).toContain(
      "http://collector:13133/",
    );
    expect(at(service("demo"), "depends_on", "collector-health", "condition")).toBe(
      "service_healthy",
    );
  });

  it("keeps what must survive a restart in named volumes", () => {
    const kept = services.flatMap(([name, settings]) =>
      textsAt(settings, "volumes")
        .filter((volume) => !volume.startsWith("."))
        .map((volume) => `${name} ${volume}`),
    );
    expect(kept).toEqual([
      "volumes collector-queue:/queue",
      "volumes jaeger-badger:/badger",
      "collector collector-queue:/queue",
      "jaeger jaeger-badger:/badger",
      "prometheus prometheus-data:/prometheus",
      "alertmanager alertmanager-data:/alertmanager",
      "grafana grafana-data:/var/lib/grafana",
    ]);
    expect(at(service("collector"), "environment", "QUEUE_DIR")).toBe("/queue");
    expect(at(service("jaeger"), "environment", "JAEGER_DATA")).toBe("/badger");
  });

  it("gives volumes to the users that their servers run as", () => {
    expect(textsAt(service("volumes"), "entrypoint")).toEqual([
      "/bin/chown",
      "10001:10001",
      "/queue",
      "/badger",
    ]);
    for (const name of ["collector", "jaeger"]) {
      expect(at(service(name), "user")).toBe("10001:10001");
      expect(at(service(name), "depends_on", "volumes", "condition")).toBe(
        "service_completed_successfully",
      );
    }
  });

  it("mounts files that there are, read-only", () => {
    const mounts = services.flatMap(([, settings]) =>
      textsAt(settings, "volumes").filter((volume) => volume.startsWith(".")),
    );
    expect(mounts.length).toBeGreaterThan(5);
    for (const mount of mounts) {
      const [, source = ""] = /^\.\/([^:]+):[^:]+:ro$/.exec(mount) ?? [];
      const path = fileURLToPath(new URL(`../../${source}`, import.meta.url));
      expect([mount, source !== "" && existsSync(path)]).toEqual([mount, true]);
    }
  });

  it("sends everything where it listens", () => {
    const env = (name: string, variable: string) => at(service(name), "environment", variable);
    const fallback = (path: string, name: string) =>
      envVariables(path).find((variable) => variable.name === name)?.fallback;
    const jaeger = fallback("deploy/jaeger/config.yaml", "JAEGER_OTLP_GRPC_PORT");
    expect(env("collector", "JAEGER_OTLP_ENDPOINT")).toBe(`jaeger:${jaeger}`);
    const health = fallback("deploy/jaeger/config.yaml", "JAEGER_HEALTH_PORT");
    expect(textsAt(service("jaeger"), "healthcheck", "test")).toContain(
      `http://127.0.0.1:${health}/status`,
    );
    const prometheus = shippedText("deploy/prometheus/prometheus.yml");
    expect(prometheus).toContain(
      String(env("collector", "PROMETHEUS_ENDPOINT")).replace("0.0.0.0", "collector"),
    );
    expect(env("jaeger", "PROMETHEUS_URL")).toBe("http://prometheus:9090");
  });

  it("links to servers by the addresses that people reach them at", () => {
    for (const [name, port] of [
      ["prometheus", "PROMETHEUS_PORT:-9090"],
      ["alertmanager", "ALERTMANAGER_PORT:-9093"],
    ] as const) {
      expect(textsAt(service(name), "command")).toContain(
        `--web.external-url=http://127.0.0.1:\${${port}}/`,
      );
    }
  });

  // Compose before 2.24, and podman-compose, end the default of ${NAME:-…} at the first brace, and keep the second one:
  // an overlay that is named was then looked for as auth.yaml}.
  it("has no brace in a default", () => {
    const variables = [...shippedText(COMPOSE).matchAll(/\$\{[^}]*\}?\}/g)].map(([all]) => all);
    expect(variables.length).toBeGreaterThan(10);
    for (const variable of variables) expect(variable).toMatch(/^\$\{\w+(:-[^{}]*)?\}$/);
  });

  it("passes on only what a configuration reads", () => {
    const known: Readonly<Record<string, readonly string[]>> = {
      collector: ["collector-config.yaml", "deploy/collector/auth.yaml"],
      jaeger: ["deploy/jaeger/config.yaml"],
    };
    expect(passedOn.length).toBeGreaterThan(10);
    for (const { name, variable } of passedOn) {
      const read = (known[name] ?? []).flatMap(envVariables).map((one) => one.name);
      expect([name, variable, read.includes(variable)]).toEqual([name, variable, true]);
    }
  });
});

describe("every service of every compose file", () => {
  const all = shippedFiles(/\.ya?ml$/)
    .map((path) => ({ path, file: shippedYaml(path) }))
    .filter(({ file }) => isCompose(file))
    .flatMap(({ path, file }) =>
      entriesAt(file, "services").map(([name, settings]) => ({
        name: `${path} ${name}`,
        settings,
      })),
    );
  const once = ["volumes", "demo"].map((name) => `${COMPOSE} ${name}`);

  it("is looked at, those of docker-compose.yml among them", () => {
    const own = services.map(([name]) => `${COMPOSE} ${name}`);
    expect(all.map(({ name }) => name)).toEqual(expect.arrayContaining(own));
  });

  it.each(all)("has bounds, and no more rights than it needs: $name", ({ name, settings }) => {
    expect(maybeAt(settings, "mem_limit")).toMatch(/^[1-9]\d*[mg]$/);
    expect(textsAt(settings, "cap_drop")).toEqual(["ALL"]);
    expect(textsAt(settings, "security_opt")).toEqual(["no-new-privileges:true"]);
    expect(maybeAt(settings, "logging", "options", "max-size")).toBe("10m");
    expect(maybeAt(settings, "logging", "options", "max-file")).toBe("3");
    // What ends by itself must not begin again.
    expect(maybeAt(settings, "restart")).toBe(once.includes(name) ? "no" : "unless-stopped");
    // Root alone may give a directory to another user.
    const chowns = textsAt(settings, "entrypoint").includes("/bin/chown");
    expect(textsAt(settings, "cap_add")).toEqual(chowns ? ["CHOWN"] : []);
    expect(maybeAt(settings, "user") === "0:0").toBe(chowns);
  });
});

describe(".env.example", () => {
  const offered = [...shippedText(".env.example").matchAll(/^#?([A-Z_]+)=/gm)].map(
    ([, name = ""]) => name,
  );

  it("offers only what has an effect", () => {
    const known = new Set([...replaced, ...passedOn.map(({ variable }) => variable)]);
    expect(offered.length).toBeGreaterThan(10);
    expect(offered.filter((name) => !known.has(name))).toEqual([]);
  });

  it("offers everything that can be set", () => {
    const settable = new Set([...replaced, ...passedOn.map(({ variable }) => variable)]);
    expect([...settable].filter((name) => !offered.includes(name))).toEqual([]);
  });

  it("offers what docs/deploy.md says something of, as it says itself", () => {
    const page = settingsIn("docs/deploy.md");
    expect(offered.filter((name) => !page.has(name))).toEqual([]);
    for (const [name, fallback] of defaults)
      expect([name, page.get(name)]).toEqual([name, fallback]);
  });
});

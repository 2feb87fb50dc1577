// The servers and tools of the native end-to-end stack, each in the version that the deployment names.
import { debianProgram } from "./debian-program.mjs";
import { goProgram } from "./go-program.mjs";
import { pythonEnvironment } from "./python-environment.mjs";

/**
 * @typedef {object} Installed
 * @property {string} version
 * @property {string} path
 */

/** @param {Omit<import("./go-program.mjs").GoProgram, "name">} source */
const go = (source) => async (name, tell) => ({
  version: source.version,
  path: await goProgram({ ...source, name }, tell),
});

/** @param {...string} programs */
const debian =
  (...programs) =>
  (name, tell) =>
    debianProgram({ name, programs }, tell);

/** @type {Readonly<Record<string, (name: string, tell: (line: string) => void) => Promise<Installed>>>} */
export const SERVERS = {
  collector: go({
    version: "0.155.0",
    module: ".",
    sources: new URL("collector/", import.meta.url),
  }),
  // Go modules know Jaeger 2.13.0 as v1.76.0, the last one whose tag fits its module path.
  jaeger: go({
    version: "2.13.0",
    module: "github.com/jaegertracing/jaeger/cmd/jaeger",
    sources: new URL("jaeger/", import.meta.url),
  }),
  "compose-go": go({
    version: "2.16.2",
    module: "github.com/compose-spec/compose-go/v2/cmd@v2.16.2",
  }),
  // A service behind a tool call, in another language: its Python, with the OpenTelemetry SDK.
  "opentelemetry-python": async (name, tell) => {
    const version = "1.45.2";
    const requirements = new URL("opentelemetry-python/requirements.txt", import.meta.url);
    return { version, path: await pythonEnvironment({ name, version, requirements }, tell) };
  },
  prometheus: debian("prometheus"),
  promtool: debian("promtool"),
  alertmanager: debian("prometheus-alertmanager", "alertmanager"),
  amtool: debian("amtool"),
};

import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readDashboard } from "../../deploy/grafana/check/dashboard.ts";
import { choose, fetchPanel } from "../../deploy/grafana/check/panel-data.ts";
import { Prometheus } from "../../deploy/grafana/check/prometheus.ts";
import { fromMilliseconds } from "../../src/events/door.ts";
import { namedPorts } from "./support/free-ports.ts";
import { FreshIds } from "./support/fresh-ids.ts";
import { fetchText } from "./support/http.ts";
import { installedProgram } from "./support/installed-program.ts";
import { playLive } from "./support/player.ts";
import { renamed, shiftedTo, shippedRecordings } from "./support/recording.ts";
import { ServerProcess } from "./support/server-process.ts";
import { shipped } from "./support/stack.ts";

const PAGE = readFileSync(shipped("docs/with-victoriametrics.md"), "utf8");

/** Building takes 3 minutes when it is not in the cache. */
const INSTALL_MS = 1_800_000;

/** The lines of a block of the page, without its indentation in a list. */
function block(language: string): string {
  const [, text = ""] = new RegExp(`^   \`\`\`${language}\n(.*?)^   \`\`\``, "ms").exec(PAGE) ?? [];
  return text.replace(/^ {3}/gm, "");
}

describe("VictoriaMetrics, started as its page says", () => {
  const from = Math.floor(Date.now() / 1000) - 60;
  let folder: string;
  let base: string;
  let server: ServerProcess;

  beforeAll(async () => {
    const program = await installedProgram("victoria-metrics");
    folder = await mkdtemp(join(tmpdir(), "entelix-otel-vm-"));
    await writeFile(join(folder, "relabel.yml"), block("yaml"));
    const [, ...args] = block("sh").trim().split(" ");
    const address = `127.0.0.1:${(await namedPorts(["http"]))("http")}`;
    base = `http://${address}`;
    server = new ServerProcess({
      name: "victoria-metrics",
      program,
      // So that queries show samples at once.
      args: [...args, `-httpListenAddr=${address}`, "-search.latencyOffset=0s"],
      cwd: folder,
      log: join(folder, "victoria-metrics.log"),
      ready: () => fetchText(`${base}/health`),
    });
    await server.start();
  }, INSTALL_MS);
  afterAll(async () => {
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it("shows on the dashboards exactly what was sent", async () => {
    const recordings = shippedRecordings();
    const { rename } = new FreshIds(recordings);
    const begin = Date.now();
    const { errors } = await playLive(
      recordings.map((one, at) =>
        shiftedTo(fromMilliseconds(begin + 200 + at * 100), renamed(rename, one)),
      ),
      {
        setup: "setupTelemetry",
        options: { serviceName: "shop" },
        env: {
          OTEL_TRACES_EXPORTER: "none",
          OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${base}/opentelemetry/v1/metrics`,
        },
      },
    );
    expect(errors).toEqual([]);
    // What was received becomes visible at a flush, which is otherwise made each second.
    await fetchText(`${base}/internal/force_flush`);

    const prometheus = new Prometheus(base);
    const range = { from, to: Math.floor(Date.now() / 1000) + 1 };
    const overview = dashboard("entelix-overview");
    const choices = await choose(prometheus, overview, new Map(), range);
    const shown = async (title: string) => {
      const panel = overview.panels.find((each) => each.title === title);
      if (panel === undefined) throw new Error(`no panel ${title}`);
      const { answers } = await fetchPanel(prometheus, panel, choices, range);
      return answers.flatMap(({ series }) =>
        series.map(({ labels, points }) => ({ ...labels, value: points[0]?.[1] })),
      );
    };
    expect(await shown("Root runs ended")).toEqual([{ value: 10 }]);
    expect(await shown("Failed root runs")).toEqual([{ value: 3 }]);
    expect(await shown("Root runs paused")).toEqual([{ value: 1 }]);
    const failed = (tenant: string, kind: string) => ({
      job: "shop",
      entelix_tenant_id: tenant,
      entelix_failure_kind: kind,
      value: 1,
    });
    expect(await shown("Failure kinds by tenant")).toEqual(
      expect.arrayContaining([
        failed("acme", "cancelled"),
        failed("acme", "tool_error_terminal"),
        failed("globex", "model_dispatch"),
      ]),
    );
  });
});

function dashboard(uid: string) {
  const folder = shipped("deploy/grafana/dashboards");
  const found = readdirSync(folder)
    .map((name) => readDashboard(readFileSync(join(folder, name), "utf8")))
    .find((each) => each.uid === uid);
  if (found === undefined) throw new Error(`${uid}: no such dashboard`);
  return found;
}

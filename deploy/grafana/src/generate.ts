// Writes the dashboards' JSON: npm run dashboards [-- --jaeger-url URL] [--out FOLDER]
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { dashboardFiles } from "./boards.ts";
import { jaegerAddress } from "./jaeger-address.ts";
import { DEFAULT_JAEGER_URL } from "./names.ts";

const { values } = parseArgs({
  options: {
    "jaeger-url": { type: "string", default: DEFAULT_JAEGER_URL },
    out: { type: "string", default: "deploy/grafana/dashboards" },
  },
});

const { out } = values;
const jaegerUrl = jaegerAddress(values["jaeger-url"]);
mkdirSync(out, { recursive: true });
for (const [name, text] of dashboardFiles({ jaegerUrl })) writeFileSync(join(out, name), text);

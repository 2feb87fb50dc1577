import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { tokenDigest } from "../service/door.ts";
import { CliError } from "./cli-error.ts";
import type { Command } from "./command.ts";
import { rateOption, tenantOption } from "./services/options.ts";

const OPTIONS = {
  tenant: {
    type: "string",
    value: "NAME",
    about: "Tenant whose events the token may send. Without it, the token can only read.",
  },
  rate: {
    type: "string",
    value: "LINES",
    about: "Maximum lines per second of the tenant. Default: --rate of serve.",
  },
  trusted: {
    type: "boolean",
    about: "Use the traceparent of its lines as the parent of spans. Default: off.",
  },
  metrics: { type: "boolean", about: "Allow reading /metrics. Default: off." },
  runs: {
    type: "boolean",
    about:
      "Allow reading the open runs of all tenants. A tenant's token reads its own. Default: off.",
  },
} as const;

/** Random bytes of a token. */
const TOKEN_BYTES = 32;
/** Prefix of all tokens, for secret scanners. */
const PREFIX = "eot_";

/** Creates a token for `serve`. */
export const token: Command = {
  operands: "",
  least: 0,
  most: 0,
  options: OPTIONS,
  notes: [
    "The first line of the output is the token. The second line is its entry, one JSON object with the SHA-256 of the token. The token itself is not stored.",
    'A tokens file is {"tokens":[ENTRY, …]}. serve reloads it at SIGHUP.',
  ],
  run: async (args, io) => {
    const { values } = parseArgs({ args, options: OPTIONS });
    const { trusted = false, metrics = false, runs = false } = values;
    const tenant = values.tenant === undefined ? undefined : tenantOption(values.tenant);
    if (tenant === undefined && !metrics && !runs) {
      throw new CliError(
        "expected --tenant NAME, --metrics or --runs",
        "Run: entelix-otel token --tenant NAME",
      );
    }
    const rate = rateOption("--rate", values.rate);
    const text = `${PREFIX}${randomBytes(TOKEN_BYTES).toString("base64url")}`;
    io.out.line(text);
    io.out.json(
      JSON.stringify({
        tenant,
        sha256: tokenDigest(text).toString("hex"),
        ...(trusted ? { trusted } : {}),
        ...(rate === undefined ? {} : { rate }),
        ...(metrics ? { metrics } : {}),
        ...(runs ? { runs } : {}),
      }),
    );
    return 0;
  },
};

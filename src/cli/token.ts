import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { tokenDigest } from "../service/http/tokens/token-file.ts";
import { CliError } from "./cli-error.ts";
import type { Command } from "./command.ts";
import { rateOption, tenantOption } from "./services/options.ts";

const OPTIONS = {
  tenant: {
    type: "string",
    value: "NAME",
    about: "Whose events it may send. Without it the token only reads /metrics.",
  },
  rate: { type: "string", value: "LINES", about: "Lines a second of the tenant." },
  trusted: { type: "boolean", about: "Follow the traceparent of its lines." },
  metrics: { type: "boolean", about: "Let it read /metrics." },
} as const;

/** Random bytes of a token: far more than can be guessed. */
const TOKEN_BYTES = 32;
/** What tokens begin with, so that scanners for secrets know them. */
const PREFIX = "eot_";

/** Makes a token for `serve`. */
export const token: Command = {
  name: "token",
  summary: "Make a token for serve: its sender gets the token, the tokens file its entry.",
  operands: "",
  least: 0,
  most: 0,
  options: OPTIONS,
  notes: [
    "Prints the token on the first line and its entry, one JSON object, on the second. The token itself is stored nowhere; the entry has its SHA-256.",
    'A tokens file is {"tokens":[ENTRY, …]}. serve reads it again at SIGHUP.',
  ],
  run: async (args, io) => {
    const { values } = parseArgs({ args, options: OPTIONS });
    const { trusted = false, metrics = false } = values;
    const tenant = values.tenant === undefined ? undefined : tenantOption(values.tenant);
    if (tenant === undefined && !metrics) {
      throw new CliError(
        "expected --tenant NAME, or --metrics",
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
      }),
    );
    return 0;
  },
};

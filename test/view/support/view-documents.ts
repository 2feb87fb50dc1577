import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type {
  RunDetail,
  RunList,
  ViewAttributes,
  ViewSpan,
  ViewValue,
} from "../../../src/view/format.ts";
import { command } from "../../cli/support/any-process.ts";
import type { LineSpan } from "../../cli/support/otlp-lines.ts";

export type { RunDetail, RunList, ViewSpan };

const RECORDINGS = fileURLToPath(new URL("../../../recordings", import.meta.url));

/** Every bundled recording. */
export const ALL_RECORDINGS: readonly string[] = readdirSync(RECORDINGS)
  .filter((name) => name.endsWith(".ndjson"))
  .map((name) => `${RECORDINGS}/${name}`);

type Environment = Readonly<Record<string, string>>;

/** What `view --json` prints of these places. */
export async function viewedList(
  places: readonly string[],
  env: Environment = {},
): Promise<RunList> {
  return printed(["view", ...places, "--json"], env);
}

export async function viewedRun(
  places: readonly string[],
  run: string,
  env: Environment = {},
): Promise<RunDetail> {
  return printed(["view", ...places, "--json", "--run", run], env);
}

/** Every run of these places with all that is known of it, by key. */
export async function viewedRuns(
  places: readonly string[],
  env: Environment = {},
): Promise<Map<string, RunDetail>> {
  const details = new Map<string, RunDetail>();
  for (const { key, run_id } of (await viewedList(places, env)).runs) {
    details.set(key, await viewedRun(places, run_id, env));
  }
  return details;
}

async function printed<T>(args: readonly string[], env: Environment): Promise<T> {
  const options = Object.keys(env).length > 0 ? { env } : {};
  const { code, stderr, stdout } = await command(args, options);
  if (code !== 0 && code !== 2) throw new Error(stderr);
  return JSON.parse(stdout);
}

/** Exchanges the token of the page's address, and asks with the session from then on. */
export async function visitor(url: string): Promise<<T>(path: string) => Promise<T>> {
  const page = await (await fetch(url)).text();
  const [, session = ""] = /<meta name="entelix-otel.session" content="([^"]+)">/.exec(page) ?? [];
  const headers = { authorization: `Bearer ${session}` };
  return async (path) => {
    const answer = await fetch(new URL(path, url), { headers });
    return JSON.parse(await answer.text());
  };
}

/** A span of an OTLP/JSON file as the page has it, but for its kind. */
export function asViewed(span: LineSpan): Omit<ViewSpan, "kind"> {
  const { message } = span.status;
  const runId = viewValue(span.values["entelix.run_id"]);
  return {
    trace_id: span.traceId,
    span_id: span.spanId,
    ...(span.parentSpanId ? { parent_span_id: span.parentSpanId } : {}),
    ...(typeof runId === "string" ? { run_id: runId } : {}),
    name: span.name,
    start_ns: span.startTimeUnixNano,
    end_ns: span.endTimeUnixNano,
    failed: span.status.code === 2,
    ...(message ? { message } : {}),
    attributes: Object.fromEntries(
      Object.entries(span.values).map(([name, value]) => [name, viewValue(value)]),
    ),
    events: listOf(span, "events").map((event) => ({
      name: String(event.name),
      time_ns: String(event.timeUnixNano),
      attributes: attributesOf(event),
    })),
    links: listOf(span, "links").map((link) => ({
      trace_id: String(link.traceId),
      span_id: String(link.spanId),
      attributes: attributesOf(link),
    })),
  };
}

type Fields = Readonly<Record<string, unknown>>;

function listOf(span: object, name: string): readonly Fields[] {
  const list: unknown = Reflect.get(span, name);
  return Array.isArray(list) ? list : [];
}

function attributesOf(of: Fields): ViewAttributes {
  return Object.fromEntries(
    listOf(of, "attributes").map(({ key, value }) => [String(key), viewValue(value)]),
  );
}

/** A value of an attribute, as OTLP/JSON writes it. */
function viewValue(value: unknown): ViewValue {
  if (typeof value !== "object" || value === null) return null;
  const [[name, plain] = []] = Object.entries(value);
  if (name === "arrayValue") return listOf({ plain }.plain ?? {}, "values").map(plainValue);
  return plainValue(value);
}

function plainValue(value: object): string | number | boolean | null {
  const entries: [string, unknown][] = Object.entries(value);
  const [name, plain] = entries[0] ?? [];
  if (name === "intValue") {
    const number = Number(plain);
    return Number.isSafeInteger(number) ? number : String(plain);
  }
  const isPlain =
    typeof plain === "string" || typeof plain === "number" || typeof plain === "boolean";
  return isPlain ? plain : null;
}

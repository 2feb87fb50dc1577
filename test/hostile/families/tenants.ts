import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sendLines } from "../../e2e/support/serve-sender.ts";
import { contentsBySpan } from "../../e2e/support/span-sets.ts";
import { OtlpServer, type WireSpan } from "../../support/otlp-server.ts";
import { Ends } from "../ends.ts";
import type { Family } from "../family.ts";
import { type Outcome, outcomeOf, replayed, SERVICE, spansArrive } from "../support/outcome.ts";
import { runCommand } from "../support/run-command.ts";
import { Service } from "../support/service.ts";
import {
  TENANT_ATTACKS,
  type TenantAttack,
  type TenantLine,
  victimOf,
} from "../support/tenant-attacks.ts";
import type { Trial } from "../trial.ts";

/** Victims of a trial, each with its attack. */
const VICTIMS = 12;

/** beta uses acme's ids: acme's runs are as they are alone, in traces of their own. */
export const tenants: Family = {
  name: "tenants",
  about: "one tenant uses the ids of another's run: the other's spans and rows are as without it",
  async run(trials, size) {
    await using owner = new Ends();
    await using receiver = await OtlpServer.start();
    const tokens = join(trials.root, "tokens.json");
    await mkdir(trials.root, { recursive: true });
    await writeFile(tokens, JSON.stringify({ tokens: [entry("acme"), entry("beta")] }));
    const audit = join(trials.root, "audit");
    const to = ["--endpoint", receiver.url, "--audit", audit, "--tokens", tokens, ...SERVICE];
    const { url } = await Service.start(owner, join(trials.root, "journal"), { args: to });
    for (const attack of TENANT_ATTACKS) {
      await trials.each(`${attack.name}: replay`, size.of(4, 1), (trial) =>
        byReplay(trial, attack),
      );
    }
    // All at a time, since each waits for the reorder buffer.
    await Promise.all(
      TENANT_ATTACKS.map((attack) =>
        trials.each(
          `${attack.name}: serve`,
          size.of(4, 1),
          (trial) => byServe(trial, attack, { url, receiver, audit }),
          { width: 2, boundMs: 120_000 },
        ),
      ),
    );
  },
};

function entry(tenant: string): object {
  return { tenant, sha256: createHash("sha256").update(tenant).digest("hex") };
}

/** The lines of all victims of a trial and of the attacks on them, in the order of their times. */
function draw(trial: Trial, attack: TenantAttack): TenantLine[] {
  const lines = Array.from({ length: VICTIMS }, (_, at) => {
    const { victim, lines } = victimOf(trial.random, at * 10, attack.starts);
    return [...lines, ...attack.draw(victim, at * 10, trial.random)];
  });
  return lines.flat().sort((a, b) => a.at - b.at);
}

async function byReplay(trial: Trial, attack: TenantAttack): Promise<void> {
  const lines = draw(trial, attack);
  const folder = await trial.folder();
  const [file, audit] = [join(folder, "events.ndjson"), join(folder, "audit")];
  await writeFile(file, lines.map(({ text }) => `${text}\n`).join(""));
  await using receiver = await OtlpServer.start();
  const args = ["replay", file, "--endpoint", receiver.url, "--audit", audit, ...SERVICE];
  const { code, stderr } = await runCommand(trial, args);
  trial.equal("exit code", [code, stderr], [0, ""]);
  await judge(trial, lines, receiver, await outcomeOf(receiver, audit));
}

async function byServe(
  trial: Trial,
  attack: TenantAttack,
  { audit, receiver, url }: { url: string; receiver: OtlpServer; audit: string },
): Promise<void> {
  const lines = draw(trial, attack);
  for (let at = 0; at < lines.length; ) {
    // As many of one tenant as stand in a row.
    const tenant = lines[at]?.tenant ?? "acme";
    const others = lines.findIndex((line, index) => index > at && line.tenant !== tenant);
    const end = others === -1 ? lines.length : others;
    const texts = lines.slice(at, end).map(({ text }) => text);
    const { results } = await sendLines(url, texts, { token: tenant });
    const taken = results.filter(({ status }) => status === "accepted").length;
    trial.equal(`lines of ${tenant} that were accepted`, taken, texts.length);
    at = end;
  }
  const ours = runsOf(lines);
  const isOurs = ([, [content = ""]]: readonly [string, readonly string[]]) =>
    [...ours].some((run) => content.includes(run));
  await spansArrive(receiver, lines.filter(isEnd).length, isOurs);
  const { rows, spans } = await outcomeOf(receiver, audit);
  await judge(trial, lines, receiver, {
    spans: new Map([...spans].filter(isOurs)),
    rows: new Map([...rows].filter(isOurs)),
  });
}

/** Each end, of a run or a call, is one span. */
function isEnd({ text }: TenantLine): boolean {
  return /"type":"(?:tool_)?complete"/.test(text);
}

function isBetasEnd({ tenant, text }: TenantLine): boolean {
  return tenant === "beta" && text.includes('"type":"complete"');
}

function runsOf(lines: readonly TenantLine[]): ReadonlySet<string> {
  return new Set(lines.map(({ text }) => `${JSON.parse(text).run_id}`.toLowerCase()));
}

async function judge(
  trial: Trial,
  lines: readonly TenantLine[],
  receiver: OtlpServer,
  found: Outcome,
): Promise<void> {
  trial.accept(lines.length);
  const own = lines.filter(({ tenant }) => tenant === "acme").map(({ text }) => text);
  const expected = await replayed(trial, own);
  const spans = receiver.spans.filter((span) => found.spans.has(`${span.traceId} ${span.spanId}`));
  const [acme, beta] = ["acme", "beta"].map((tenant) =>
    spans.filter((span) => span.attributes["entelix.tenant_id"] === tenant),
  );
  if (acme === undefined || beta === undefined) throw new Error("two tenants");
  const faces = [...contentsBySpan(acme).values()].flat().map((text) => face(JSON.parse(text)));
  const wanted = [...expected.spans.values()].flat().map((text) => face(JSON.parse(text)));
  bagCompare(trial, "span of acme's, ids aside", faces, wanted);
  const rows = [...found.rows].filter(([key]) => key.startsWith("acme "));
  const texts = (all: Outcome["rows"] | typeof rows) =>
    [...all].flatMap(([key, contents]) => contents.map((text) => `${key} ${eventText(text)}`));
  bagCompare(trial, "row of acme's", texts(rows), texts(expected.rows));
  const traces = new Set(acme.map(({ traceId }) => traceId));
  const inside = beta.filter(({ traceId }) => traces.has(traceId));
  trial.harm(
    "unexpected",
    "no span of beta's in acme's traces",
    `${inside[0]?.name}`,
    inside.length,
  );
  const here = new Set(acme.map(({ spanId }) => spanId));
  const orphans = acme.filter(({ parentSpanId }) => parentSpanId && !here.has(parentSpanId));
  trial.harm("unexpected", "acme's spans under its own", `${orphans[0]?.name}`, orphans.length);
  const runs = beta.filter(({ name }) => name === "invoke_agent intruder").length;
  const missing = lines.filter(isBetasEnd).length - runs;
  trial.harm("lost", "a span of each of beta's runs", `${runs} runs`, missing);
}

/** A span without its ids and what follows from them. */
function face(span: WireSpan): string {
  const { attributes, name, startTimeUnixNano, endTimeUnixNano } = span;
  const { "entelix.audit.hash": _, ...others } = attributes;
  return JSON.stringify([name, startTimeUnixNano, endTimeUnixNano, others]);
}

function eventText(row: string): string {
  const { event_text, ordinal, run_id } = JSON.parse(row);
  return `${ordinal} ${run_id} ${event_text}`;
}

function bagCompare(
  trial: Trial,
  what: string,
  found: readonly string[],
  expected: readonly string[],
): void {
  const left = [...found];
  const lost = expected.filter((each) => {
    const at = left.indexOf(each);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  trial.harm("lost", `${what}: ${lost[0]}`, `among them ${left[0]}`, lost.length);
  const more = left.length - lost.length;
  trial.harm("doubled", `no ${what} beyond ${expected.length}`, `${left[0]}`, more);
}

import { join } from "node:path";
import { fetchJson, fetchText } from "../../e2e/support/http.ts";
import { field, optionalText } from "../../e2e/support/json-shape.ts";
import { sendLines } from "../../e2e/support/serve-sender.ts";
import { event } from "../../service/http/support/lines.ts";
import { RawConnection } from "../../service/http/support/raw-connection.ts";
import { readText } from "../../support/golden.ts";
import { bounded } from "../bounded.ts";
import { Ends } from "../ends.ts";
import type { Family } from "../family.ts";
import { SHAPES, type Shape } from "../support/http-shapes.ts";
import { firstAnswer, type RawAnswer } from "../support/raw-answer.ts";
import { seededUuid } from "../support/seeded-ids.ts";
import { Service } from "../support/service.ts";
import type { Trial } from "../trial.ts";

/** How long an answer may take, in ms: longer than any limit of time of the service. */
const ANSWER_MS = 45_000;

/** The statuses with which each code of an error is documented. */
type Documented = ReadonlyMap<string, ReadonlySet<number>>;

/** Requests of every shape, over plain sockets: each gets an answer of the document. */
export const http: Family = {
  name: "http",
  about: "malformed HTTP requests over plain sockets: each gets an answer in the documented form",
  async run(trials, size) {
    await using owner = new Ends();
    const { service, url } = await Service.start(owner, join(trials.root, "journal"));
    const documented = documentedCodes(await fetchJson(`${url}/openapi.json`));
    const port = Number(new URL(url).port);
    const kinds = [...new Set(SHAPES.map(({ kind }) => kind))];
    for (const kind of kinds) {
      const shapes = SHAPES.filter((shape) => shape.kind === kind);
      await trials.each(
        kind,
        shapes.length,
        async (trial, index) => {
          const shape = shapes[index];
          if (shape !== undefined) await ask(trial, shape, { url, port, documented });
        },
        { width: 8, boundMs: 120_000 },
      );
    }
    await trials.each("a head that stops", size.of(4, 1), (trial) => slow(trial, port, HEAD), {
      width: 4,
    });
    await trials.each("a body that stops", size.of(2, 0), (trial) => slow(trial, port, BODY), {
      width: 2,
    });
    const after = async (trial: Trial) => {
      trial.equal("/healthz", await fetchText(`${url}/healthz`), '{"status":"ok"}\n');
      trial.equal("exit code after SIGTERM", (await service.stop()).code, 0);
      trial.accept();
    };
    await trials.one("the service after all", after, { chained: true });
  },
};

const HEAD = "POST /v1/events HTTP/1.1\r\nHost: localhost\r\nX-A: ";
const BODY =
  "POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\nContent-Length: 99\r\n\r\n{";

interface Asked {
  readonly url: string;
  readonly port: number;
  readonly documented: Documented;
}

async function ask(trial: Trial, shape: Shape, { documented, port, url }: Asked): Promise<void> {
  trial.subject = shape.name;
  const line = event({ event_id: seededUuid(trial.random) });
  const answer = await answerTo(port, shape.send(line), shape.half === true);
  if (answer === undefined) {
    trial.refuse();
    trial.harm("unanswered", `${shape.name}: ${shape.status.join(" or ")}`, "closed unanswered");
    return;
  }
  const { body, status } = answer;
  if (!shape.status.includes(status)) {
    trial.harm("unexpected", `${shape.name}: ${shape.status.join(" or ")}`, `${status} ${body}`);
  }
  if (status < 400) {
    trial.accept();
    return;
  }
  trial.refuse();
  const fault = faultOf(answer, documented);
  if (fault !== undefined) {
    trial.harm("unexpected", `${shape.name}: ${fault.expected}`, `${status} ${body}`);
  }
  // A line has a result where it was taken before the request went wrong. Any other has left nothing behind.
  const wasTaken = body.includes('"status":"accepted"');
  const sent = await sendLines(url, [line]);
  trial.equal(
    `${shape.name}: sent again`,
    sent.results.map((result) => result.status),
    [wasTaken ? "duplicate" : "accepted"],
  );
}

/** A request that stops in its middle is ended with an answer. */
async function slow(trial: Trial, port: number, start: string): Promise<void> {
  const answer = await answerTo(port, start, false);
  if (answer === undefined) trial.harm("unanswered", "408", "closed unanswered");
  else trial.equal("status", answer.status, 408);
  trial.refuse();
}

/** The first answer; `undefined` where the connection ended without one. @throws Hung */
async function answerTo(port: number, text: string, half: boolean): Promise<RawAnswer | undefined> {
  using connection = new RawConnection(port);
  const bytes = Buffer.from(text, "latin1");
  if (half) connection.socket.end(bytes);
  else connection.socket.write(bytes);
  const answered = async () => {
    for (;;) {
      const answer = firstAnswer(connection.text);
      if (answer !== undefined || connection.socket.destroyed) return answer;
      await connection.more();
    }
  };
  // Awaited, or the connection would be ended before.
  return await bounded(answered(), ANSWER_MS, "an answer");
}

/** What is not as the document has it. */
function faultOf(
  { body, headers, status }: RawAnswer,
  documented: Documented,
): { readonly expected: string } | undefined {
  if (headers.get("content-type") !== "application/json") {
    return { expected: "Content-Type: application/json" };
  }
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return { expected: "a body of JSON" };
  }
  const error = field(value, "error");
  const code =
    typeof error === "object" && error !== null ? optionalText(error, "code") : undefined;
  if (code === undefined || optionalText(error, "message") === undefined) {
    return { expected: "an error with code and message" };
  }
  return documented.get(code)?.has(status) === true
    ? undefined
    : { expected: `a code that is documented for ${status}` };
}

/** The codes of the OpenAPI document and of the page's table, with the statuses that they stand at. */
function documentedCodes(document: unknown): Documented {
  const page = readText("../docs/serve.md");
  const rows = [...page.matchAll(/^\| `(\w+)` \| ([45]\d\d) \|/gm)];
  const codes = new Map(rows.map(([, code = "", status]) => [code, new Set([Number(status)])]));
  const walk = (value: unknown, status: number): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [name, each] of Object.entries(value)) {
      const here = /^[45]\d\d$/.test(name) ? Number(name) : status;
      if (name === "code" && here > 0) {
        for (const code of enumOf(each)) codes.set(code, (codes.get(code) ?? new Set()).add(here));
      }
      walk(each, here);
    }
  };
  walk(document, 0);
  return codes;
}

function enumOf(schema: unknown): string[] {
  const values = typeof schema === "object" && schema !== null ? field(schema, "enum") : undefined;
  return Array.isArray(values) ? values.filter((each) => typeof each === "string") : [];
}

import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type YAMLMap } from "yaml";
import { FAILURE_ORIGINS } from "../../../src/events/errors/failure-source.ts";
import {
  COUNTABLE_KINDS,
  DEFAULT_KINDS,
  DEFAULT_MINIMUM_RUNS,
  EACH,
  type Failures,
  MEASURED_SECONDS,
  type Objective,
  type Slow,
} from "./objective.ts";

const FIELDS = ["name", "service", "agent", "tenant", "good", "within"];
const FIELDS_OF_FAILURES = ["kinds", "origins"];
const MINIMUM = "minimum_runs";

/** Something in the file that is not as it should be. */
export class ObjectiveError extends Error {
  override readonly name = "ObjectiveError";
}

/**
 * The objectives of a file.
 *
 * @param file its name, for errors.
 * @throws ObjectiveError with file, line and field, and what was expected.
 */
export function readObjectives(text: string, file: string): readonly Objective[] {
  return new Reader(text, file).objectives();
}

type Given = Node | null | undefined;

class Reader {
  readonly #text: string;
  readonly #file: string;
  readonly #lines = new LineCounter();

  constructor(text: string, file: string) {
    this.#text = text;
    this.#file = file;
  }

  objectives(): readonly Objective[] {
    const document = parseDocument(this.#text, {
      lineCounter: this.#lines,
      prettyErrors: false,
      uniqueKeys: false,
    });
    const [error] = document.errors;
    if (error !== undefined) throw this.#at(error.pos[0], error.message);
    const top = this.#map(document.contents, "", ["objectives"]);
    const list = nodeOf(top, "objectives");
    if (!isSeq<Node>(list)) throw this.#wrong(list, "objectives", "a list", top);
    const names = new Set<string>();
    return list.items.map((item, index) => {
      const path = `objectives[${index}]`;
      const objective = this.#objective(item, path);
      if (names.has(objective.name)) {
        const node = isMap<unknown, Node>(item) ? nodeOf(item, "name") : item;
        throw this.#wrong(node, `${path}.name`, "a name of its own");
      }
      names.add(objective.name);
      return objective;
    });
  }

  #objective(item: Node, path: string): Objective {
    const map = this.#map(item, path, [...FIELDS, ...FIELDS_OF_FAILURES, MINIMUM]);
    const text = (field: string, expected: string, fits: (value: string) => boolean) => {
      const node = nodeOf(map, field);
      const value = isScalar(node) ? node.value : undefined;
      if (typeof value === "string" && fits(value)) return value;
      throw this.#wrong(node, `${path}.${field}`, expected, item);
    };
    const optional = (field: string) =>
      nodeOf(map, field) === undefined ? undefined : text(field, 'a name or "*"', isName);
    const good = text("good", 'a share such as "99.5%", over 0% and under 100%', isShare);
    return {
      name: text("name", "1 to 40 of a-z, 0-9 and -", (value) => /^[a-z0-9-]{1,40}$/.test(value)),
      service: optional("service") ?? EACH,
      agent: optional("agent"),
      tenant: optional("tenant"),
      budget: Number((1 - Number.parseFloat(good) / 100).toPrecision(9)),
      bad: this.#bad(map, path, text),
      minimumRuns: this.#minimum(nodeOf(map, MINIMUM), `${path}.${MINIMUM}`),
    };
  }

  #bad(
    map: YAMLMap<unknown, Node>,
    path: string,
    text: (field: string, expected: string, fits: (value: string) => boolean) => string,
  ): Failures | Slow {
    if (nodeOf(map, "within") === undefined) {
      return {
        kinds: this.#some(map, path, "kinds", COUNTABLE_KINDS) ?? DEFAULT_KINDS,
        origins: this.#some(map, path, "origins", FAILURE_ORIGINS) ?? FAILURE_ORIGINS,
      };
    }
    for (const field of FIELDS_OF_FAILURES) {
      const node = nodeOf(map, field);
      if (node !== undefined) throw this.#wrong(node, `${path}.${field}`, "none beside `within`");
    }
    const times = MEASURED_SECONDS.map((seconds) => `${seconds}s`).join(", ");
    const within = text("within", `one of ${times} (or as minutes)`, (value) =>
      MEASURED_SECONDS.includes(secondsIn(value)),
    );
    return { within, seconds: secondsIn(within) };
  }

  #some<T extends string>(
    map: YAMLMap<unknown, Node>,
    path: string,
    field: string,
    known: readonly T[],
  ): readonly T[] | undefined {
    const node = nodeOf(map, field);
    if (node === undefined) return undefined;
    const given = isSeq<Node>(node) ? node.items : [];
    const values = given.map((item) => {
      const value = known.find((one) => isScalar(item) && one === item.value);
      if (value !== undefined) return value;
      throw this.#wrong(item, `${path}.${field}`, `some of ${known.join(", ")}`);
    });
    if (values.length > 0) return values;
    throw this.#wrong(node, `${path}.${field}`, `a list with some of ${known.join(", ")}`);
  }

  #minimum(node: Given, path: string): number {
    if (node === undefined) return DEFAULT_MINIMUM_RUNS;
    const value = isScalar(node) ? node.value : undefined;
    if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return value;
    throw this.#wrong(node, path, "a whole number from 1");
  }

  #map(node: Given, path: string, fields: readonly string[]): YAMLMap<unknown, Node> {
    if (!isMap<unknown, Node>(node)) throw this.#wrong(node, path || "the file", "a map");
    const seen = new Set<string>();
    for (const { key } of node.items) {
      const name = isScalar(key) ? key.value : undefined;
      const isKnown = typeof name === "string" && fields.includes(name);
      if (isKnown && !seen.has(name)) {
        seen.add(name);
        continue;
      }
      const prefix = path === "" ? "" : `${path}.`;
      const at = isScalar(key) ? key : node;
      const expected = isKnown ? "it once" : `one of ${fields.join(", ")}`;
      throw this.#wrong(at, `${prefix}${String(name)}`, expected);
    }
    return node;
  }

  /** @param around says where a node should stand that is absent. */
  #wrong(node: Given, path: string, expected: string, around?: Node): ObjectiveError {
    const [from = 0, to = 0] = node?.range ?? [];
    const [first = ""] = this.#text.slice(from, to).trim().split(/\r?\n/);
    const offset = node?.range?.[0] ?? around?.range?.[0] ?? 0;
    const found = first.slice(0, 60) || "nothing";
    return this.#at(offset, `${path}: expected ${expected}, found ${found}`);
  }

  #at(offset: number, message: string): ObjectiveError {
    return new ObjectiveError(`${this.#file}:${this.#lines.linePos(offset).line}: ${message}`);
  }
}

/** The value of a field; `undefined` where it is absent. */
function nodeOf(map: YAMLMap<unknown, Node>, field: string): Given {
  return map.get(field, true);
}

/** Longer ones are `_other` in the labels. */
function isName(value: string): boolean {
  return value !== "" && value.length <= 128;
}

function isShare(value: string): boolean {
  const share = /^(\d{1,2}(?:\.\d{1,6})?)%$/.exec(value)?.[1];
  return share !== undefined && Number(share) > 0;
}

function secondsIn(text: string): number {
  const [, amount = "", unit] = /^(\d+(?:\.\d+)?)(s|m|h)$/.exec(text) ?? [];
  const factor = unit === "h" ? 3_600 : unit === "m" ? 60 : 1;
  return amount === "" ? Number.NaN : Number(amount) * factor;
}

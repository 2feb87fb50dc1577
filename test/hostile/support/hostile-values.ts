import { types } from "node:util";
import type { Random } from "../../support/random.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Makes something hostile in the form of an object that code expects. */
export interface HostileForm {
  readonly name: string;
  /** It is another thing each time it is read. */
  readonly changes?: boolean;
  make(fields: Fields, random: Random): unknown;
}

function refuse(): never {
  throw new Error("a hostile object");
}

const TRAPS: ProxyHandler<object> = {
  get: refuse,
  set: refuse,
  has: refuse,
  ownKeys: refuse,
  getPrototypeOf: refuse,
  getOwnPropertyDescriptor: refuse,
  defineProperty: refuse,
  deleteProperty: refuse,
  isExtensible: refuse,
};

/** Every access to it throws. */
const throwing = (): object => new Proxy({}, TRAPS);

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** Answers everything with itself: also when it is called, or made to a text. */
function endless(): object {
  const self: object = new Proxy(() => {}, { get: () => self, apply: () => self });
  return self;
}

/** A new object below each field, for ever. */
function bottomless(): object {
  return {
    get below() {
      return bottomless();
    },
  };
}

function deep(): object {
  let value: object = {};
  for (let level = 0; level < 20_000; level += 1) value = { value };
  return value;
}

function cyclic(): object {
  const self: { self?: object } = {};
  self.self = self;
  return self;
}

/** Has these methods, which throw. */
function refusing(...names: readonly PropertyKey[]): object {
  return Object.fromEntries(names.map((name) => [name, refuse]));
}

/** Values where text, a number or plain JSON is expected. */
const LEAVES: readonly (() => unknown)[] = [
  throwing,
  revoked,
  endless,
  bottomless,
  deep,
  cyclic,
  () => Symbol("hostile"),
  () => () => refuse(),
  () => 10n ** 400n,
  () => refusing("toString", "valueOf", "toJSON", Symbol.toPrimitive),
  () => ({ toJSON: () => throwing() }),
  () => Object.create(null),
  () => new Date(Number.NaN),
  () => Number.NaN,
  () => Number.NEGATIVE_INFINITY,
  () => "\ud800",
  () => "x".repeat(2_000_000),
  () => new Array(5),
  () => new Map([[{}, throwing()]]),
  () => [throwing()],
  () => Promise.reject(new Error("a hostile promise")),
  () => refusing("then"),
  () => null,
  () => undefined,
  () => -1,
  () => "",
  () => "__proto__",
];

export function hostileLeaf(random: Random): unknown {
  const leaf = random.of(LEAVES)();
  // Nobody waits for it: that it rejects must not count as a rejection of ours.
  if (types.isPromise(leaf)) leaf.catch(() => {});
  return leaf;
}

function withGetter(fields: Fields, name: string, get: () => unknown): object {
  return Object.defineProperty({ ...fields }, name, { enumerable: true, get });
}

export const HOSTILE_FORMS: readonly HostileForm[] = [
  { name: "a Proxy that throws", make: () => throwing() },
  { name: "a revoked Proxy", make: () => revoked() },
  { name: "a Proxy of itself", changes: true, make: () => endless() },
  {
    name: "a Proxy of the object that throws now and then",
    make: (fields, random) => {
      const get = (target: object, name: string | symbol) =>
        random.chance(0.3) ? refuse() : Reflect.get(target, name);
      return new Proxy({ ...fields }, { get });
    },
  },
  {
    name: "a getter that throws",
    make: (fields, random) => withGetter(fields, random.of(Object.keys(fields)), refuse),
  },
  {
    name: "a getter that changes",
    changes: true,
    make: (fields, random) => {
      const name = random.of(Object.keys(fields));
      const values = [fields[name], hostileLeaf(random), "started", refuse];
      let reads = 0;
      return withGetter(fields, name, () => {
        const value = values[reads++ % values.length];
        return value === refuse ? refuse() : value;
      });
    },
  },
  {
    name: "a hostile field",
    make: (fields, random) => ({
      ...fields,
      [random.of(Object.keys(fields))]: hostileLeaf(random),
    }),
  },
  {
    name: "a missing field",
    make: (fields, random) => {
      const name = random.of(Object.keys(fields));
      return Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name));
    },
  },
  { name: "no such object", make: (_, random) => hostileLeaf(random) },
  { name: "a frozen object", make: (fields) => Object.freeze({ ...fields }) },
];

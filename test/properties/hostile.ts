import fc from "fast-check";

/** How an outside object misbehaves, whatever it is. */
export interface Malice {
  /** It throws from the n-th look at it on; 0: at every one. */
  readonly from: number;
  /** Only at that one. */
  readonly once: boolean;
  /** Values that are objects misbehave as well, on the same count. */
  readonly deep: boolean;
  /** What it throws. */
  readonly thrown: string;
}

/** An error that can't be looked at either. */
const opaque = new Proxy(new Error("opaque"), {
  get: () => {
    throw new Error("more");
  },
});
const THROWN: Readonly<Record<string, unknown>> = {
  error: new Error("trap"),
  range: new RangeError("trap"),
  nothing: undefined,
  text: "trap",
  opaque,
};

/** A value that throws when it is looked at, in any way there is. */
export function hostile<T extends object>(value: T, how: Malice): T {
  let looks = 0;
  const look = () => {
    const at = looks++;
    if (how.once ? at === how.from : at >= how.from) throw THROWN[how.thrown];
  };
  const wrap = <V extends object>(inner: V): V =>
    new Proxy(inner, {
      get: (target, key) => {
        look();
        const got: unknown = Reflect.get(target, key);
        return how.deep && typeof got === "object" && got !== null ? wrap(got) : got;
      },
      has: (target, key) => {
        look();
        return Reflect.has(target, key);
      },
      ownKeys: (target) => {
        look();
        return Reflect.ownKeys(target);
      },
      getOwnPropertyDescriptor: (target, key) => {
        look();
        return Reflect.getOwnPropertyDescriptor(target, key);
      },
      getPrototypeOf: (target) => {
        look();
        return Reflect.getPrototypeOf(target);
      },
    });
  return wrap(value);
}

/** What a look at a value does. */
export type Hostility = Malice | "revoked" | { readonly getter: number } | "none";

/** The value, misbehaving like that. */
export function made<T extends object>(value: T, how: Hostility): T {
  if (how === "none") return value;
  if (how === "revoked") {
    const { proxy, revoke } = Proxy.revocable(value, {});
    revoke();
    return proxy;
  }
  if (!("getter" in how)) return hostile(value, how);
  const names = Object.keys(value);
  const field = names[how.getter % names.length] ?? "type";
  return Object.defineProperty({ ...value }, field, {
    enumerable: true,
    get: () => {
      throw new Error(`getter of ${field}`);
    },
  });
}

const malice: fc.Arbitrary<Malice> = fc.record({
  from: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 40 })),
  once: fc.boolean(),
  deep: fc.boolean(),
  thrown: fc.constantFrom(...Object.keys(THROWN)),
});

const anyHostility: fc.Arbitrary<Hostility> = fc.oneof(
  { arbitrary: malice, weight: 6 },
  { arbitrary: fc.constant("revoked" as const), weight: 1 },
  { arbitrary: fc.record({ getter: fc.nat(20) }), weight: 3 },
);

/** Which of some events is sent, and how it and its envelope misbehave. */
export interface HostileSend {
  readonly index: number;
  readonly event: Hostility;
  readonly envelope: Hostility | "absent";
}

export const hostileSend: fc.Arbitrary<HostileSend> = fc.oneof(
  fc.record({
    index: fc.nat(100),
    event: anyHostility,
    envelope: fc.oneof(anyHostility, fc.constantFrom("none" as const, "absent" as const)),
  }),
  fc.record({ index: fc.nat(100), event: fc.constant("none" as const), envelope: anyHostility }),
);

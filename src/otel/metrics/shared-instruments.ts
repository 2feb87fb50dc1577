import { createNoopMeter, type MeterProvider, metrics } from "@opentelemetry/api";
import { VERSION } from "../../version.ts";
import { Instruments, ownMeter } from "./instruments.ts";

/**
 * Where the instruments of each meter provider are kept. On a `Symbol.for` key, since an ESM and a
 * CommonJS copy of this package can be loaded in one process; with the version in it, since only
 * equal copies can share them (others have a scope, and with it instruments, of their own).
 */
const KEY = Symbol.for(`entelix-otel.instruments@${VERSION}`);

type Kept = WeakMap<MeterProvider, Instruments>;

/** Another copy's are instances of another class of the same name. */
function isKept(value: unknown): value is Kept {
  return value instanceof WeakMap;
}

function shared(): Kept {
  const existing: unknown = Reflect.get(globalThis, KEY);
  if (isKept(existing)) return existing;
  const kept: Kept = new WeakMap();
  Reflect.set(globalThis, KEY, kept);
  return kept;
}

/**
 * The instruments of a meter provider, made when they are first asked for.
 *
 * @param provider default: the global one, as it is now.
 * @returns `undefined` where no provider is there to measure.
 */
export function instrumentsOf(provider?: MeterProvider): Instruments | undefined {
  const from = provider ?? metrics.getMeterProvider();
  const kept = shared();
  const known = kept.get(from);
  if (known !== undefined) return known;
  const meter = ownMeter(from);
  // The API gives this one meter out as long as no provider is registered.
  if (meter === createNoopMeter()) return undefined;
  const made = new Instruments(meter);
  kept.set(from, made);
  return made;
}

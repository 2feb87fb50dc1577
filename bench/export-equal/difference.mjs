// Says where two requests are not the same.
import { fieldsOf } from "../../test/bridge/export/support/decode-request.ts";

const AROUND = 24;

/** Prints the first bytes that differ, and the two messages that they are in, as deep as both can be read. */
export function printDifference(ours, stock) {
  const at = ours.findIndex((byte, n) => byte !== stock[n]);
  const place = at === -1 ? ours.length : at;
  console.error(`byte ${place} of ${ours.length} (ours) and ${stock.length} (stock)`);
  for (const [name, bytes] of Object.entries({ ours, stock })) {
    const near = bytes.subarray(Math.max(place - AROUND, 0), place + AROUND);
    console.error(`${name}: … ${Buffer.from(near).toString("hex")} …`);
  }
  const path = [];
  let pair = { ours, stock };
  for (let deeper = step(pair); deeper !== undefined; deeper = step(pair)) {
    path.push(deeper.field);
    pair = deeper.pair;
  }
  console.error(`in field ${path.join(" / ")} of ExportTraceServiceRequest:`);
  for (const [name, bytes] of Object.entries(pair)) console.error(`${name}:`, shown(bytes));
}

/** The first field whose values differ, where both are messages or bytes. */
function step(pair) {
  const [ours, stock] = [read(pair.ours), read(pair.stock)];
  if (ours === undefined || stock === undefined) return undefined;
  const n = ours.findIndex((field, index) => !same(field, stock[index]));
  const [one, other] = [ours[n], stock[n]];
  if (one?.number !== other?.number) return undefined;
  if (!(one?.value instanceof Uint8Array && other?.value instanceof Uint8Array)) return undefined;
  return { field: `${one.number}[${n}]`, pair: { ours: one.value, stock: other.value } };
}

function read(bytes) {
  try {
    return fieldsOf(bytes);
  } catch {
    return undefined;
  }
}

function same(one, other) {
  if (one.number !== other?.number) return false;
  if (typeof one.value === "bigint" || typeof other.value === "bigint") {
    return one.value === other.value;
  }
  return Buffer.compare(one.value, other.value) === 0;
}

function shown(bytes) {
  const fields = read(bytes)?.map(({ number, value }) => [
    number,
    value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : value,
  ]);
  return { hex: Buffer.from(bytes).toString("hex"), fields };
}

import { CountColumn } from "./columns.ts";
import { type HashKey, keyedHash, randomKey } from "./keyed-hash.ts";

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;
const HEX = /^[\da-f]{32}$/;

/** How a text is kept, in the lowest bits of its place. */
const AS_UUID = 0;
const AS_HEX = 1;
const AS_TEXT = 2;
/** UTF-8 has no place for half a surrogate pair. */
const AS_UNITS = 3;
const FORMS = 4;

/** Bytes before a text: how many it has. */
const LENGTH = 4;

/** Texts start at multiples of this number of bytes. */
const GRAIN = 16;

/** Grains of one block; a text that is longer gets a block of its own, which counts as several. */
const BLOCK = 16 * 1024;

/**
 * Texts by number, from 1, each kept once and outside of the heap: a UUID or a trace id takes 16 bytes, where a
 * string takes 60. 0 stands for no text.
 */
export class TextTable {
  #count = 0;
  #lastText: string | undefined;
  #lastId = 0;
  readonly #key: HashKey = randomKey();
  #slots = new Uint32Array(1024);
  readonly #blocks: Buffer[] = [];
  /** Grains that are used; a block begins at each multiple of {@link BLOCK}. */
  #used = 0;
  /** First grain of each text times {@link FORMS}, and its form. Up to 16 GiB of texts have a place. */
  readonly #place = new CountColumn();

  get size(): number {
    return this.#count;
  }

  /** The number of a text, which it gets where it has none. */
  idOf(text: string): number {
    // Spans of one run come together.
    if (text === this.#lastText) return this.#lastId;
    this.#lastId = this.#idOf(text);
    this.#lastText = text;
    return this.#lastId;
  }

  #idOf(text: string): number {
    const { bytes, form } = packed(text);
    const slot = this.#slotOf(bytes, form);
    const known = this.#slots[slot] ?? 0;
    return known > 0 ? known : this.#add(bytes, form, slot);
  }

  /** 0 where the text has none. */
  find(text: string): number {
    const { bytes, form } = packed(text);
    return this.#slots[this.#slotOf(bytes, form)] ?? 0;
  }

  /** The text of a number; empty for 0. */
  text(id: number): string {
    if (id === 0) return "";
    const bytes = this.#bytes(id);
    const form = this.#place.get(id) % FORMS;
    if (form === AS_TEXT) return bytes.toString("utf8");
    if (form === AS_UNITS) return bytes.toString("utf16le");
    const hex = bytes.toString("hex");
    if (form === AS_HEX) return hex;
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  }

  #bytes(id: number): Buffer {
    const at = this.#place.get(id);
    const grain = Math.floor(at / FORMS);
    const block = this.#blocks[Math.floor(grain / BLOCK)] ?? Buffer.alloc(0);
    const place = (grain % BLOCK) * GRAIN;
    if (at % FORMS < AS_TEXT) return block.subarray(place, place + 16);
    const start = place + LENGTH;
    return block.subarray(start, start + block.readUInt32LE(place));
  }

  #slotOf(bytes: Buffer, form: number): number {
    const mask = this.#slots.length - 1;
    let slot = (keyedHash(bytes, this.#key) ^ form) & mask;
    for (;;) {
      const id = this.#slots[slot] ?? 0;
      if (id === 0) return slot;
      if (this.#place.get(id) % FORMS === form && this.#bytes(id).equals(bytes)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #add(bytes: Buffer, form: number, slot: number): number {
    this.#count += 1;
    const id = this.#count;
    const head = form < AS_TEXT ? 0 : LENGTH;
    const grains = Math.ceil((head + bytes.length) / GRAIN);
    const inBlock = this.#used % BLOCK;
    if (inBlock === 0 || inBlock + grains > BLOCK) this.#addBlock(grains);
    const grain = this.#used;
    const block = this.#blocks[Math.floor(grain / BLOCK)] ?? Buffer.alloc(0);
    const place = (grain % BLOCK) * GRAIN;
    if (head > 0) block.writeUInt32LE(bytes.length, place);
    block.set(bytes, place + head);
    // What is left of a block of its own has no place.
    this.#used = grains > BLOCK ? Math.ceil((grain + grains) / BLOCK) * BLOCK : grain + grains;
    this.#place.set(id, grain * FORMS + form);
    this.#slots[slot] = id;
    if (this.#count * 4 > this.#slots.length * 3) this.#grow();
    return id;
  }

  #addBlock(grains: number): void {
    const first = Math.ceil(this.#used / BLOCK);
    this.#blocks[first] = Buffer.alloc(Math.max(grains, BLOCK) * GRAIN);
    this.#used = first * BLOCK;
  }

  #grow(): void {
    this.#slots = new Uint32Array(this.#slots.length * 2);
    const mask = this.#slots.length - 1;
    for (let id = 1; id <= this.#count; id += 1) {
      let slot = (keyedHash(this.#bytes(id), this.#key) ^ (this.#place.get(id) % FORMS)) & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = id;
    }
  }
}

function packed(text: string): { readonly bytes: Buffer; readonly form: number } {
  if (text.length === 36 && UUID.test(text)) {
    return { bytes: Buffer.from(text.replaceAll("-", ""), "hex"), form: AS_UUID };
  }
  if (text.length === 32 && HEX.test(text)) {
    return { bytes: Buffer.from(text, "hex"), form: AS_HEX };
  }
  const bytes = Buffer.from(text, "utf8");
  if (bytes.toString("utf8") === text) return { bytes, form: AS_TEXT };
  return { bytes: Buffer.from(text, "utf16le"), form: AS_UNITS };
}

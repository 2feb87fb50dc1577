import type { MessagePart } from "./message.ts";
import { firstText, isObject, type OwnFields, objectIn, own, textIn } from "./own-fields.ts";

/** Modalities by type of block. */
const MODALITIES: ReadonlyMap<string, string> = new Map([
  ["image", "image"],
  ["image_url", "image"],
  ["input_image", "image"],
  ["audio", "audio"],
  ["input_audio", "audio"],
  ["output_audio", "audio"],
  ["video", "video"],
  ["video_url", "video"],
  ["file", "document"],
  ["input_file", "document"],
  ["document", "document"],
  ["text-plain", "document"],
  ["blob", "document"],
  ["uri", "document"],
  ["media", "document"],
]);

/** Objects in a block that contain its data. */
const WRAPPERS = [
  "source",
  "image_url",
  "image",
  "input_audio",
  "audio",
  "video_url",
  "file",
  "inlineData",
  "inline_data",
  "fileData",
  "file_data",
];

/**
 * The start of a `data:` URL, with its type. Its repetitions share no character, so a URL without a comma takes one
 * pass.
 */
const DATA_URL = /^data:([^;,]*)(?:;[^,]*)?,/i;

const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/**
 * An image, audio, video or file as a part: data as `blob`, an address as `uri`, an uploaded file as `file`.
 * `undefined` for any other block, and for one without data.
 *
 * @param type empty if the block has none.
 */
export function mediaPart(type: string, fields: OwnFields): MessagePart | undefined {
  const known = MODALITIES.get(type);
  const inner = innerOf(fields);
  if (known === undefined && (type !== "" || inner === undefined)) return undefined;
  const bytes = bytesIn(fields, inner);
  const from = bytes === undefined ? (inner ?? fields) : fields;
  const mime = mimeIn(from) ?? mimeIn(fields);
  const modality = textIn(fields, "modality") ?? modalityOf(mime) ?? known ?? "document";
  const mimeType = mime === undefined ? {} : { mime_type: mime };
  if (bytes !== undefined) return { type: "blob", modality, ...mimeType, content: bytes };
  const id = firstText(from, "file_id", "fileId") ?? idIn(from, inner) ?? idOfSource(fields);
  if (id !== undefined) return { type: "file", modality, ...mimeType, file_id: id };
  const address =
    firstText(
      from,
      "url",
      "uri",
      "fileUri",
      "file_uri",
      "image_url",
      "file_url",
      "video_url",
      "audio_url",
    ) ?? firstText(fields, "image", "file");
  if (address !== undefined) return atAddress(address, modality, mimeType);
  const data =
    firstText(from, "data", "file_data", "base64", "content") ?? firstText(fields, "audio");
  if (data === undefined) return undefined;
  return DATA_URL.test(data)
    ? atAddress(data, modality, mimeType)
    : { type: "blob", modality, ...mimeType, content: data };
}

/** Data that is not a text, as base64. The AI SDK accepts arrays of bytes. */
function bytesIn(fields: OwnFields, inner: OwnFields | undefined): string | undefined {
  for (const [from, name] of [
    [fields, "data"],
    [fields, "image"],
    [inner, "data"],
    [inner, "bytes"],
  ] as const) {
    if (from === undefined || !Object.hasOwn(from, name)) continue;
    const bytes = base64Of(from[name]);
    if (bytes !== undefined) return bytes;
  }
  return undefined;
}

function innerOf(fields: OwnFields): OwnFields | undefined {
  for (const name of WRAPPERS) {
    const inner = objectIn(fields, name);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

/** The protocol's `{ image: { id } }`. The block's own ID is not the file's. */
function idIn(from: OwnFields, inner: OwnFields | undefined): string | undefined {
  if (inner === undefined || own(inner, "url") !== undefined || own(inner, "data") !== undefined) {
    return undefined;
  }
  return textIn(from, "id");
}

/** LangChain's blocks before 1.0. */
function idOfSource(fields: OwnFields): string | undefined {
  return textIn(fields, "source_type") === "id" ? textIn(fields, "id") : undefined;
}

function mimeIn(fields: OwnFields): string | undefined {
  const named = firstText(fields, "mime_type", "mimeType", "media_type", "mediaType");
  if (named !== undefined) return named;
  const format = textIn(fields, "format");
  return format === undefined ? undefined : `audio/${format}`;
}

function modalityOf(mime: string | undefined): string | undefined {
  const kind = mime?.slice(0, mime.indexOf("/"));
  return kind === "image" || kind === "audio" || kind === "video" ? kind : undefined;
}

function atAddress(
  address: string,
  modality: string,
  mimeType: { readonly mime_type?: string },
): MessagePart {
  const [head, mime] = DATA_URL.exec(address) ?? [];
  if (head === undefined) {
    return SCHEME.test(address)
      ? { type: "uri", modality, ...mimeType, uri: address }
      : { type: "blob", modality, ...mimeType, content: address };
  }
  const known = mime === undefined || mime === "" ? mimeType : { mime_type: mime };
  const { mime_type } = known;
  return {
    type: "blob",
    modality: modalityOf(mime_type) ?? modality,
    ...known,
    content: address.slice(head.length),
  };
}

/**
 * Bytes as base64: an array of bytes, or one of its forms in JSON, so that a recording gives the same. `undefined`
 * for any other value.
 */
function base64Of(value: unknown): string | undefined {
  if (value instanceof Uint8Array) {
    const { buffer, byteLength, byteOffset } = value;
    return byteLength === 0 ? undefined : base64(Buffer.from(buffer, byteOffset, byteLength));
  }
  if (!isObject(value)) return undefined;
  // The form of bytes in a recording.
  if (typeof value.base64 === "string" && typeof value.type === "string") {
    return Object.keys(value).length === 2 && value.base64 !== "" ? value.base64 : undefined;
  }
  if (value.type === "Buffer") return isDense(value.data) ? written(value.data) : undefined;
  // `{"0":137,"1":80}`: the names of bytes are in order.
  return isByte(value["0"]) && !Array.isArray(value)
    ? written(Object.entries(value).map(([name, byte], at) => (name === String(at) ? byte : NaN)))
    : undefined;
}

/** Whether a list may be bytes. A list with holes may have any length. */
function isDense(data: unknown): data is readonly unknown[] {
  return Array.isArray(data) && data.length <= MOST_LISTED;
}

/** Most bytes in a list of numbers. */
const MOST_LISTED = 16 * 1024 * 1024;

function written(bytes: readonly unknown[]): string | undefined {
  return bytes.length > 0 && bytes.every(isByte) ? base64(Buffer.from(bytes)) : undefined;
}

function base64(bytes: Buffer): string {
  return bytes.toString("base64");
}

function isByte(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 255;
}

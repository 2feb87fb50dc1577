import { base64Of, isBytes } from "./base64.ts";
import type { MessagePart } from "./message.ts";
import {
  fieldsIn,
  firstText,
  isObject,
  type OwnFields,
  objectIn,
  own,
  textIn,
} from "./own-fields.ts";

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
  ["reasoning-file", "document"],
  ["container_upload", "document"],
  ["computer_screenshot", "image"],
  ["resource", "document"],
  ["resource_link", "document"],
  // Results of the AI SDK.
  ["image-data", "image"],
  ["image-url", "image"],
  ["image-file-id", "image"],
  ["image-file-reference", "image"],
  ["file-data", "document"],
  ["file-url", "document"],
  ["file-id", "document"],
  ["file-reference", "document"],
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
  "resource",
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
export function mediaPart(type: string, given: OwnFields): MessagePart | undefined {
  const known = MODALITIES.get(type);
  const fields = known === undefined ? given : untagged(given);
  const inner = innerOf(fields);
  if (known === undefined && (type !== "" || inner === undefined)) return undefined;
  const bytes = bytesIn(fields, inner);
  const from = inner ?? fields;
  const mime = mimeIn(from) ?? mimeIn(fields);
  const modality = textIn(fields, "modality") ?? modalityOf(mime) ?? known ?? "document";
  const mimeType = mime === undefined ? {} : { mime_type: mime };
  // An MCP resource has its data beside its address.
  const held = bytes ?? (type === "resource" ? textIn(from, "blob") : undefined);
  if (held !== undefined) return { type: "blob", modality, ...mimeType, content: held };
  const left = leftIn(from) ?? leftIn(fields);
  if (left !== undefined) return leftOut(mime, left);
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
    firstText(from, "data", "file_data", "base64", "base64Data", "content") ??
    firstText(fields, "audio");
  if (data === undefined) return undefined;
  // Data without a comma is not a URL.
  return DATA_URL.test(data) || !/^data:/i.test(data)
    ? atAddress(data, modality, mimeType)
    : { type: "blob", modality, ...mimeType, content: data };
}

/** The length of bytes that a sender has left out. */
function leftIn(fields: OwnFields): number | undefined {
  const data = objectIn(fields, "data") ?? objectIn(fields, "image");
  const length = data === undefined ? undefined : own(data, "bytes");
  return typeof length === "number" && Object.keys(data ?? {}).length === 2 ? length : undefined;
}

function leftOut(mime: string | undefined, bytes: number): MessagePart {
  return { type: "text", content: `… [${mime ?? "blob"}, ${bytes} bytes left out]` };
}

/** Data that is not a text, as base64. The AI SDK accepts arrays of bytes. */
function bytesIn(fields: OwnFields, inner: OwnFields | undefined): string | undefined {
  for (const [from, name] of [
    [fields, "data"],
    [fields, "image"],
    [inner, "data"],
    [inner, "bytes"],
    // A file that the AI SDK generated.
    [inner, "uint8ArrayData"],
  ] as const) {
    if (from === undefined || !Object.hasOwn(from, name)) continue;
    const bytes = base64Of(from[name]);
    if (bytes !== undefined) return bytes;
  }
  return undefined;
}

/** Fields of the AI SDK that have the data, or say where it is. */
const HOLDERS = ["data", "image", "fileId", "providerReference"];

/**
 * The AI SDK's tagged data as fields of the block: `data: { type: "data", data }`, `{ type: "url", url }`, `{ type:
 * "reference", reference }`. Other blocks stay unchanged.
 */
function untagged(fields: OwnFields): OwnFields {
  for (const name of HOLDERS) {
    const held = fields[name];
    const inner = isObject(held) && !isBytes(held) ? fieldsIn(held) : undefined;
    if (inner === undefined) continue;
    const { [name]: _, ...rest } = fields;
    const type = own(inner, "type");
    if (type === "data") return { ...rest, data: inner.data };
    if (type === "url") return { ...rest, url: inner.url };
    const id = referenceIn(type === "reference" ? objectIn(inner, "reference") : inner);
    if (id !== undefined) return { ...rest, file_id: id };
  }
  return fields;
}

/** Most providers that a reference names. */
const MOST_PROVIDERS = 16;

/** Names of fields, and not of providers. */
const FIELDS: ReadonlySet<string> = new Set([
  ...["type", "id", "url", "uri", "data", "base64", "format", "source", "fileUri", "file_id"],
  ...["bytes", "mimeType", "mime_type", "media_type", "text"],
]);

/** A reference has the file's ID at each provider: `{ openai: "file-1" }`. */
function referenceIn(inner: OwnFields | undefined): string | undefined {
  let id: string | undefined;
  let count = 0;
  for (const name in inner) {
    if (!Object.hasOwn(inner, name)) continue;
    const value = own(inner, name);
    const given = inner[name];
    // JSON leaves it out, unlike null and numbers that are not finite.
    if (value === undefined && given !== null && typeof given !== "number") continue;
    count += 1;
    if (typeof value !== "string" || count > MOST_PROVIDERS || FIELDS.has(name)) return undefined;
    id ??= value;
  }
  return id;
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

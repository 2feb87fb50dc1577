import { MemoryDisk, seeded } from "./memory-disk.ts";

/** A file of these bytes, of which at most `piece` come with each read. */
export async function fileOf(bytes: Uint8Array, piece = Number.POSITIVE_INFINITY) {
  const file = await new MemoryDisk(seeded(1)).layer().open("/f", "create");
  for (let at = 0; at < bytes.length; ) at += await file.write(bytes.subarray(at), at);
  return {
    ...file,
    read: (into: Uint8Array, position: number) =>
      file.read(into.subarray(0, Math.min(into.length, piece)), position),
  };
}

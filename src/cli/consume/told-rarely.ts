/** What is told again and again is told once in so many ms, with a count. */
const QUIET_MS = 30_000;
/** Places that are remembered; beyond, all of them are one. */
const PLACES = 200;

interface Place {
  toldMs: number;
  kept: number;
}

/**
 * Tells troubles so that a log stays readable: the first of a kind at once, those that follow as a count
 * with the next one that is told.
 *
 * @param tell for one line.
 * @param nowMs the clock, in ms.
 */
export function toldRarely(
  tell: (line: string) => void,
  nowMs: () => number = Date.now,
): (kind: string, line: string) => void {
  const places = new Map<string, Place>();
  return (kind, line) => {
    const name = places.has(kind) || places.size < PLACES ? kind : "";
    const now = nowMs();
    const place = places.get(name);
    if (place !== undefined && now - place.toldMs < QUIET_MS) {
      place.kept++;
      return;
    }
    const kept = place?.kept ?? 0;
    places.set(name, { toldMs: now, kept: 0 });
    tell(kept === 0 ? line : `${line} (and ${kept} like it before)`);
  };
}

/** What is told again and again is told once in so many ms, with a count. */
const QUIET_MS = 30_000;
/** A count that nobody asked for is kept so long, in ms. */
const COUNTED_MS = 600_000;
/** Places that are remembered; where more have something to tell at a time, those are one. */
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
 * @param nowMs any steady clock, in ms.
 */
export function toldRarely(
  tell: (line: string) => void,
  nowMs: () => number = () => performance.now(),
): (kind: string, line: string) => void {
  const places = new Map<string, Place>();
  return (kind, line) => {
    const now = nowMs();
    if (places.size >= PLACES && !places.has(kind)) forgetOld(places, now);
    const name = places.has(kind) || places.size < PLACES ? kind : "";
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

/** Those that would be told at once if they came again; a count that was kept is forgotten later. */
function forgetOld(places: Map<string, Place>, now: number): void {
  for (const [kind, { kept, toldMs }] of places) {
    if (now - toldMs >= (kept === 0 ? QUIET_MS : COUNTED_MS)) places.delete(kind);
  }
}

/** The first trouble of each place is told; the summary has how many there were. */
export function onceAPlace(tell: (error: unknown, place: string) => void) {
  const told = new Set<string>();
  return (error: unknown, place: string) => {
    if (told.has(place)) return;
    told.add(place);
    tell(error, place);
  };
}

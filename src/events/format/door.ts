// The door of what writes figures and texts for people: it runs in browsers, too.

export { count, counted, durationText, highest, percent } from "./figures.ts";
export { cut, safe, safeLines, UNSAFE } from "./text.ts";

// The door of figures and texts for people. It runs in browsers, too.

export { count, counted, durationText, highest, percent } from "./figures.ts";
export { cut, safe, safeLines, UNSAFE } from "./text.ts";

// The door of figures and texts for people. It runs in browsers, too.

export { addDecimals, formatDecimal, readDecimal } from "../decimal.ts";
export { count, counted, durationText, highest, percent } from "./figures.ts";
export { cut, safe, safeLines, UNSAFE } from "./text.ts";

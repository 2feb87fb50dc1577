/** Width of a character as a share of the font's size, where a page cannot measure. */
const MIDDLE = 0.55;

let context: CanvasRenderingContext2D | null | undefined;
let fontFamily = "";

/**
 * Width of a text in the font of the page, in pixels.
 *
 * @param size of the font in rem.
 */
export function textWidth(text: string, size = 1): number {
  const px = size * remPx();
  if (context === undefined) {
    context = document.createElement("canvas").getContext("2d");
    fontFamily = getComputedStyle(document.body).fontFamily;
  }
  if (context === null) return text.length * px * MIDDLE;
  context.font = `${px}px ${fontFamily}`;
  return context.measureText(text).width;
}

/** 1 rem in pixels. */
export function remPx(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 14;
}

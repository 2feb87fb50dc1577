import { constructorName, textProperty } from "../events/thrown-property.ts";

/** The operator's text of anything thrown: its message, else what it is. Never throws. */
export function operatorText(thrown: unknown): string {
  const message = textProperty(thrown, "message");
  if (message !== undefined) return message;
  switch (typeof thrown) {
    case "object":
    case "function":
      return thrown === null
        ? "null was thrown"
        : `${constructorName(thrown)} was thrown, without a message`;
    case "string":
      return thrown === "" ? "an empty text was thrown" : thrown;
    default:
      return `${String(thrown)} was thrown`;
  }
}

/** The operator's text of a call that the run's end cut off. */
export function cutText(error: unknown): string {
  return `${operatorText(error)}: the run ended while the call was open`;
}

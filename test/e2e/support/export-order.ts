import type { TakenRequest } from "./export-receiver.ts";

/** What the requests that a receiver took say of the order in which they were sent. */
export interface OrderSeen {
  /** The numbers of all spans, request by request, as the requests were filled. */
  readonly numbers: readonly number[];
  /**
   * The most requests that came later than one that was filled after them. A sender of `n` requests at
   * once that starts them in order can't have more than `n - 1`.
   */
  readonly overtaken: number;
}

export function orderSeen(taken: readonly TakenRequest[]): OrderSeen {
  const first = ({ numbers }: TakenRequest) => numbers[0] ?? 0;
  let overtaken = 0;
  taken.forEach((request, place) => {
    const late = taken.slice(place + 1).filter((other) => first(other) < first(request));
    overtaken = Math.max(overtaken, late.length);
  });
  const filled = [...taken].sort((a, b) => first(a) - first(b));
  return { numbers: filled.flatMap(({ numbers }) => numbers), overtaken };
}

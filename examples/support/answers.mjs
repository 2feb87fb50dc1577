// What the model says. A rule belongs to a question and has a step for each answer to it: calls of tools, or text. A
// step gets the numbers of the question and the results of the tools so far.

const RULES = [
  {
    asks: /^where is order (\d+)/i,
    steps: [
      ([order]) => call("look_up_order", { order }),
      ([order], [{ carrier, due, item, state }]) =>
        `Order **${order}** is on its way:

| item | state | carrier | expected |
|---|---|---|---|
| ${item} | ${state} | ${carrier} | **${due}** |

The driver sends you a message on the morning of the delivery.`,
    ],
  },
  {
    asks: /not at home/i,
    steps: [
      () => call("search_help", { query: "not at home delivery neighbour" }),
      () => `You have three choices, until **8 in the morning** of that day:

- a neighbour,
- a parcel shop nearby, which keeps it for 7 days,
- another day within a week.

Choose in the message of the carrier.`,
    ],
  },
  {
    asks: /charged twice for order (\d+)\D+([\d.]+)/i,
    steps: [
      ([order]) => [...call("look_up_order", { order }), ...call("list_payments", { order })],
      ([order, euros]) => call("refund", { order, euros }),
      (_, [, , { days, refunded, to }]) =>
        `You are right: there were two payments. **${refunded}** go back to your ${to} within ${days} days.`,
    ],
  },
  {
    asks: /^why [\d.]+ and not/i,
    steps: [
      () => `These were your two payments:

| payment | amount |
|---|---|
| first | 41.90 EUR |
| second, with voucher WELCOME5 | 36.90 EUR |

The second one was one too many, so you get **36.90 EUR** back.`,
    ],
  },
  {
    asks: /return the tent of order (\d+)/i,
    steps: [
      ([order]) => [
        ...call("look_up_order", { order }),
        ...call("ask_returns_desk", {
          question: "May a tent be returned after 9 days and one night?",
        }),
      ],
      () =>
        `Yes, within **30 days**. Please dry and clean the tent first. Since it was used, we deduct **10 %**:
you get 170.10 of 189.00 EUR. The return label is free.`,
    ],
  },
  {
    asks: /^may a tent be returned/i,
    steps: [
      () => call("search_help", { query: "returns used tents" }),
      () => "Yes: used tents are taken back within 30 days if they are clean and dry, less 10 %.",
    ],
  },
  {
    asks: /which paper does the p40/i,
    isBusyOnce: true,
    steps: [
      () => call("search_help", { query: "P40 printer paper tray" }),
      () => `The P40 takes:

| where | sizes | weight |
|---|---|---|
| tray | A4, A5 | 60 to 120 g/m² |
| slot at the back | A4, A5, one sheet at a time | up to 200 g/m² |

Coated paper damages the drum.`,
    ],
  },
  {
    asks: /clear a paper jam/i,
    steps: [
      () => call("search_help", { query: "P40 clear a paper jam" }),
      () => `1. Switch the printer off.
2. Open the cover at the back.
3. Pull the sheet out slowly, in the direction of the arrow.
4. Close the cover and switch the printer on.`,
    ],
  },
  {
    // It asks again and again: the mistake that the limit stops.
    asks: /repaired\? the number is (R-\d+)/i,
    steps: [([repair]) => call("repair_status", { repair })],
  },
  {
    asks: /mail me invoice (\d+)/i,
    steps: [
      ([invoice]) => call("get_invoice", { invoice }),
      (_, [{ file }]) => call("send_mail", { to: "wanda@mail.test", file }),
      () => "Your invoice is on its way.",
    ],
  },
  {
    asks: /^refund me ([\d.]+) EUR for order (\d+)/i,
    steps: [
      ([, order]) => call("look_up_order", { order }),
      ([euros, order]) => call("refund", { order, euros }),
      ([euros, order], [{ total }]) =>
        `I can't refund ${euros} EUR: order ${order} cost **${total}**. Shall I ask for a refund of that amount?`,
    ],
  },
  {
    asks: /desk of order (\d+) arrived broken/i,
    steps: [
      ([order]) => call("look_up_order", { order }),
      ([order], [{ total }]) => call("refund", { order, euros: Number.parseFloat(total) }),
      (_, [, { days, refunded }]) => `**${refunded}** come back to you within ${days} days.`,
    ],
  },
  {
    asks: /deliver on saturdays/i,
    steps: [
      () => call("search_help", { query: "deliver on Saturdays" }),
      () => "Yes, parcels up to **20 kg**, for 4.90 EUR. Furniture comes from Monday to Friday.",
    ],
  },
];

/**
 * The answer to the last question of a conversation.
 *
 * @returns `message` in the form of Chat Completions; `isBusyOnce` if the first request is to be refused.
 */
export function answerTo(messages) {
  const asked = messages.findLastIndex(({ role }) => role === "user");
  const question = textOf(messages[asked]);
  const since = messages.slice(asked + 1);
  const { asks, isBusyOnce = false, steps } = ruleFor(question);
  const step = since.filter(({ role }) => role === "assistant").length;
  const numbers = asks.exec(question).slice(1).map(numberOr);
  const results = since
    .filter(({ role }) => role === "tool")
    .map((result) => resultOf(textOf(result)));
  const answer = steps[Math.min(step, steps.length - 1)](numbers, results);
  const message =
    typeof answer === "string"
      ? { role: "assistant", content: answer }
      : {
          role: "assistant",
          content: null,
          tool_calls: answer.map(({ args, name }, index) => ({
            // Unique in the conversation, and the same each time.
            id: `call_${messages.length}${index === 0 ? "" : `_${index + 1}`}`,
            type: "function",
            function: { name, arguments: JSON.stringify(args) },
          })),
        };
  return { isBusyOnce, message, question };
}

function ruleFor(question) {
  const rule = RULES.find(({ asks }) => asks.test(question));
  return rule ?? { asks: /^/, steps: [() => "I don't know. A colleague will write to you."] };
}

function call(name, args) {
  return [{ name, args }];
}

function textOf({ content }) {
  if (typeof content === "string") return content;
  return (content ?? []).map(({ text = "" }) => text).join("");
}

function numberOr(text) {
  return /^[\d.]+$/.test(text) ? Number.parseFloat(text) : text;
}

/** A tool's result. Some are JSON, others are text. */
function resultOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

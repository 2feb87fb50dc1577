// Who asks what, in which shop, and who decides. All names are made up.

/** A conversation is a thread: its turns are questions of the customer and decisions of an approver. */
export const CONVERSATIONS = [
  {
    tenant: "acme",
    thread: "acme-1041",
    user: "mara",
    channel: "web",
    beginsAfterMs: 0,
    turns: [
      { ask: "Where is order 17?" },
      { afterMs: 38_000, ask: "I am not at home on Thursday. What can I do?" },
    ],
  },
  {
    tenant: "acme",
    thread: "acme-1042",
    user: "jonas",
    channel: "mail",
    beginsAfterMs: 12_000,
    turns: [
      { ask: "I was charged twice for order 23. Please refund me 41.90 EUR." },
      {
        // The second payment was lower: Ann corrects the amount.
        afterMs: 134_000,
        approver: "ann@acme.test",
        decision: {
          type: "edit",
          editedAction: { name: "refund", args: { order: 23, euros: 36.9 } },
        },
      },
      { afterMs: 22_000, ask: "Why 36.90 and not 41.90?" },
    ],
  },
  {
    tenant: "acme",
    thread: "acme-1043",
    user: "priya",
    channel: "web",
    beginsAfterMs: 95_000,
    turns: [{ ask: "Can I return the tent of order 31? I slept in it for one night." }],
  },
  {
    tenant: "globex",
    thread: "globex-2201",
    user: "lena",
    channel: "chat",
    beginsAfterMs: 28_000,
    turns: [
      { ask: "Which paper does the P40 printer take?" },
      { afterMs: 26_000, ask: "And how do I clear a paper jam?" },
    ],
  },
  {
    tenant: "globex",
    thread: "globex-2202",
    user: "marco",
    channel: "chat",
    beginsAfterMs: 118_000,
    turns: [{ ask: "Is my printer repaired? The number is R-77." }],
  },
  {
    tenant: "initech",
    thread: "initech-3301",
    user: "wanda",
    channel: "mail",
    beginsAfterMs: 56_000,
    turns: [{ ask: "Please mail me invoice 88 again." }],
  },
  {
    tenant: "initech",
    thread: "initech-3302",
    user: "otis",
    channel: "web",
    beginsAfterMs: 70_000,
    turns: [
      { ask: "Refund me 900 EUR for order 90." },
      {
        afterMs: 48_000,
        approver: "sam@initech.test",
        decision: { type: "reject", message: "Order 90 cost 94.50 EUR. Offer that." },
      },
    ],
  },
  {
    tenant: "initech",
    thread: "initech-3303",
    user: "noor",
    channel: "web",
    beginsAfterMs: 20_000,
    turns: [{ ask: "Do you deliver on Saturdays?" }],
  },
  {
    // Nobody has decided yet.
    tenant: "initech",
    thread: "initech-3304",
    user: "paulo",
    channel: "mail",
    beginsAfterMs: 150_000,
    turns: [{ ask: "The desk of order 92 arrived broken. I want my money back." }],
  },
];

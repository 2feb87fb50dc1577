// What the shops know: orders, payments, help pages. All of it is made up.

const ORDERS = {
  17: { item: "Fell 2 tent, green", state: "in transit", carrier: "Postrunner", due: "Thursday" },
  23: { item: "Drizzle rain cape", state: "delivered", total: "41.90 EUR" },
  31: { item: "Fell 2 tent, blue", state: "delivered 9 days ago", total: "189.00 EUR" },
  90: { item: "Desk lamp", state: "delivered", total: "94.50 EUR" },
  92: { item: "Standing desk", state: "delivered", total: "249.00 EUR" },
};

const PAYMENTS = {
  23: [
    { payment: "p-1", euros: "41.90" },
    { payment: "p-2", euros: "36.90", note: "with voucher WELCOME5" },
  ],
};

const INVOICES = { 88: { file: "invoice-88.pdf", pages: 2 } };

export function lookUpOrder({ order }) {
  return found(ORDERS[order], `order ${order}`);
}

export function listPayments({ order }) {
  return { order, payments: found(PAYMENTS[order], `payments of order ${order}`) };
}

export function getInvoice({ invoice }) {
  return { invoice, ...found(INVOICES[invoice], `invoice ${invoice}`) };
}

let isFirstRefund = true;

/** The payment service is overloaded when it is asked first. */
export function refund({ euros, order }) {
  if (isFirstRefund) {
    isFirstRefund = false;
    const message = "payment service answered 503: overloaded, nothing was paid";
    throw Object.assign(new Error(message), { status: 503 });
  }
  return { order, refunded: `${euros.toFixed(2)} EUR`, to: "card ending in 4417", days: 3 };
}

/** The workshop never gets on with this one. */
export function repairStatus({ repair }) {
  return { repair, state: "being checked" };
}

/** The key of the mail gateway has expired: what an operator has to mend. */
export function sendMail() {
  throw Object.assign(new Error("mail gateway answered 401: API key expired"), { status: 401 });
}

export const HELP_PAGES = [
  {
    title: "If you are not at home",
    text:
      "On the day of delivery you can choose: a neighbour, a parcel shop nearby (kept for 7 days), or another day " +
      "within a week. Choose before 8 in the morning, in the message of the carrier.",
  },
  {
    title: "Returns",
    text:
      "Return within 30 days. Used tents and sleeping bags are taken back if they are clean and dry. We deduct 10 % " +
      "if they were used. The return label is free.",
  },
  {
    title: "P40 printer: paper",
    text:
      "The P40 takes A4 and A5 from 60 to 120 g/m² in its tray, and up to 200 g/m² in the slot at the back, one " +
      "sheet at a time. Do not use coated paper.",
  },
  {
    title: "P40 printer: clear a paper jam",
    text:
      "Switch the printer off. Open the cover at the back. Pull the sheet out slowly, in the direction of the " +
      "arrow. Close the cover and switch the printer on.",
  },
  {
    title: "Delivery times",
    text:
      "We deliver from Monday to Friday. On Saturdays we deliver parcels up to 20 kg for 4.90 EUR. Furniture is " +
      "delivered on weekdays only.",
  },
];

function found(value, what) {
  if (value === undefined) throw new Error(`there is no ${what}`);
  return value;
}

const entelix = require("entelix-otel");

void import("./use-main-entry.mjs").then(({ useMainEntry }) =>
  useMainEntry(entelix, async () => require("entelix-otel/setup")),
);

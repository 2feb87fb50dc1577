// `import.mjs api|main|setup`: CPU time of one import, in us. Prints JSON.
const WHAT = {
  api: "@opentelemetry/api",
  main: "../../dist/index.mjs",
  setup: "../../dist/setup.mjs",
};

const what = WHAT[process.argv[2]];
const from = process.cpuUsage();
await import(what);
const { user, system } = process.cpuUsage(from);
console.log(JSON.stringify({ us: user + system }));

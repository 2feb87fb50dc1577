// What Mastra asks of its bridge, and tells its exporters, in a run. It is recorded from a run of Mastra itself, which
// takes tens of milliseconds: a cost of microseconds would drown in it.
let made = 0;

/**
 * @param run runs an agent under a bridge.
 * @returns makes the steps of another run: `create` a span, an `event` of a span, `inside` a span.
 */
export async function recorded(run) {
  const from = Date.now();
  const { spans, steps } = await record(run);
  // From JSON, so that each run has its own objects.
  const text = JSON.stringify({ steps, spans });
  return () => {
    const copy = JSON.parse(text);
    const later = Date.now() - from;
    made += 1;
    const traceId = made.toString(16).padStart(32, "0");
    const known = copy.spans.map((span, index) => ({
      ...span,
      id: (made * 65_536 + index).toString(16).padStart(16, "0"),
      traceId,
      isInternal: false,
      exports: [],
    }));
    for (const span of known) span.parent = known[span.parent];
    return copy.steps.map(({ does, event, parts, span: index }) => {
      const span = known[index];
      if (does === "event") {
        withDates(event.exportedSpan, later);
        span.exports.push(event.exportedSpan);
      }
      return { does, span, event, parts };
    });
  };
}

async function record(run) {
  const spans = [];
  const steps = [];
  const indexes = new Map();
  const inside = (id) => {
    const step = { does: "inside", span: indexes.get(id) };
    steps.push(step);
    return step;
  };
  /** Mastra gives its spans their IDs after this. */
  const bridge = {
    name: "recording",
    createSpan({ name, parent, type }) {
      const id = (spans.length + 1).toString(16).padStart(16, "0");
      const above = parent?.isInternal === true ? parent.getParentSpanId(false) : parent?.id;
      indexes.set(id, spans.length);
      steps.push({ does: "create", span: spans.length });
      spans.push({ id, name, type, parent: indexes.get(above) });
      return { spanId: id, traceId: "1".repeat(32), parentSpanId: above };
    },
    executeInContext(id, work) {
      inside(id);
      return work();
    },
    executeInContextSync(id, work) {
      const step = inside(id);
      const given = work();
      if (!(given instanceof ReadableStream)) return given;
      step.parts = [];
      const keep = (part, controller) => {
        step.parts.push(part);
        controller.enqueue(part);
      };
      return given.pipeThrough(new TransformStream({ transform: keep }));
    },
    onTracingEvent(event) {
      const copy = structuredClone({ type: event.type, exportedSpan: event.exportedSpan });
      steps.push({ does: "event", span: indexes.get(event.exportedSpan.id), event: copy });
    },
  };
  await run(bridge);
  return { spans, steps };
}

const DATES = ["startTime", "endTime", "completionStartTime"];

/** Times of the recording become those of now. */
function withDates(exported, later) {
  for (const fields of [exported, exported.attributes ?? {}]) {
    for (const name of DATES) {
      if (fields[name] !== undefined)
        fields[name] = new Date(new Date(fields[name]).getTime() + later);
    }
  }
}

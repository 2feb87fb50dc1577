/** Colours by the value that a series' name begins with. */
export type Colors = Readonly<Record<string, string>>;

/** How a run ended. A pause is blue: it is nobody's fault. */
export const OUTCOME_COLORS: Colors = {
  complete: "green",
  failed: "red",
  interrupted: "blue",
  abandoned: "purple",
};

/** Why a run or a model call failed. `cancelled` is grey: somebody wanted it. */
export const FAILURE_COLORS: Colors = {
  tool_error_terminal: "red",
  usage_limit_exceeded: "orange",
  cancelled: "#9fa7b3",
  deadline_exceeded: "yellow",
  model_dispatch: "purple",
  internal: "dark-red",
  unclassified: "#ff7fd5",
};

/** Why a tool call failed. */
export const TOOL_ERROR_COLORS: Colors = {
  transient: "yellow",
  rate_limit: "orange",
  quota: "dark-orange",
  auth: "dark-red",
  permanent: "red",
  validation: "light-blue",
  internal: "purple",
};

export const TOKEN_COLORS: Colors = { input: "blue", output: "orange" };

/** What an open run waits for. */
export const WAIT_COLORS: Colors = {
  approval: "blue",
  tool: "orange",
  model: "purple",
  child: "green",
  nothing: "yellow",
  unknown: "#9fa7b3",
};

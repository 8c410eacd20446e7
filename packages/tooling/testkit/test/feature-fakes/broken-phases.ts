/** What can be wrong with Registration, Execution and Shutdown. One fake each. */
import { type Contributions, type FeatureContext, SvcError, type Tool, type ToolContext } from "@svc/contract";
import { type Broken, sound, tool } from "./feature.ts";

const never = () => new Promise<never>(() => undefined);

export const BROKEN_PHASES: readonly Broken[] = [
  [
    "a shutdown that throws without register",
    {
      create: () => ({
        ...sound(),
        register: () => Promise.reject(new Error("no")),
        shutdown: () => Promise.reject(new Error("never registered")),
      }),
    },
    [
      "shutdown is safe without register, and when it is called twice",
      "register rejects at once under an aborted signal, and shutdown is safe afterwards",
    ],
  ],
  [
    "a shutdown that fails the second time",
    { create: () => onceOnly() },
    ["shutdown is safe without register, and when it is called twice"],
  ],
  [
    "a shutdown that hangs",
    { create: () => ({ ...sound(), register: undefined as never, shutdown: never }) },
    ["shutdown is safe without register, and when it is called twice"],
  ],
  [
    "a register that ignores its signal",
    { create: () => ({ ...sound(), register: () => Promise.resolve() }) },
    ["register rejects at once under an aborted signal, and shutdown is safe afterwards"],
  ],
  [
    "a register that hangs",
    { create: () => ({ ...sound(), register: never }) },
    ["register rejects at once under an aborted signal, and shutdown is safe afterwards"],
  ],
  [
    "a shutdown that fails once it has run",
    { create: () => failsAfterRun() },
    ["shutdown is safe when it has registered and run, and when it is called twice"],
  ],
  [
    "a tool that validates its credential for each call",
    { create: (context) => validating(context, (me) => me()) },
    ["no call asks again what registration asked"],
  ],
  [
    "a tool that validates by the client of its own context",
    { create: (context) => validating(context, (_, own) => own.fetch("https://api.example.org/me")) },
    ["no call asks again what registration asked"],
  ],
  [
    "a registration that fails with the answers given",
    { create: () => ({ ...sound(), register: () => Promise.reject(new Error("no")) }) },
    ["no call asks again what registration asked"],
  ],
  ["a tool without an input", { inputs: {} }, ["no call asks again what registration asked"]],
  ["a run that hangs", { create: () => ({ ...sound(), run: never }) }, ["run ends at once under an aborted signal"]],
];

function failsAfterRun(): Contributions {
  let hasRun = false;
  return {
    ...sound(),
    run: async () => void (hasRun = true),
    shutdown: async () => {
      if (hasRun) throw new SvcError("INTERNAL", "The loop left something open.");
    },
  };
}

/** `work` is what its tool does; `me` is what its registration does. */
export function validating(
  { fetch }: FeatureContext,
  work: (me: () => Promise<unknown>, own: ToolContext) => Promise<unknown>,
): Contributions {
  const me = (): Promise<unknown> => fetch("https://api.example.org/me");
  const run: Tool["run"] = async (_, own) => (await work(me, own), null);
  return {
    ...sound(),
    tools: [{ ...tool, run }],
    register: async (signal) => (signal.throwIfAborted(), void (await me())),
  };
}

function onceOnly(): Contributions {
  let ended = false;
  return {
    ...sound(),
    shutdown: async () => {
      if (ended) throw new SvcError("INTERNAL", "again?");
      ended = true;
    },
  };
}

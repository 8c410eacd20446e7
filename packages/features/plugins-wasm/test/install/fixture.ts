/** `svc plugin` as it is run, without the binary: the command's own code, a real client, a real process for the check of modules. */
import { type CommandOptions, type FeatureCommandContext, SvcError } from "@svc/contract";
import { createGuardedFetch } from "@svc/kit";
import { captureLogger } from "@svc/testkit/capture-logger";
import { run } from "../../src/command/plugin.ts";
import type { PluginsConfig } from "../../src/index.ts";

export interface CommandSetup {
  readonly home: string;
  /** What the person at the terminal says to each question; undefined: there is no terminal. */
  readonly answers?: readonly (boolean | (() => Promise<boolean>))[];
  readonly options?: Readonly<Record<string, string | readonly string[] | boolean>>;
  readonly isEnabled?: boolean;
  readonly runningTools?: readonly string[];
  readonly signal?: AbortSignal;
  readonly clock?: FeatureCommandContext["clock"];
  /** Names that lead to addresses. */
  readonly addresses?: Readonly<Record<string, string>>;
}

export interface Ran {
  /** 0 or what the command returned, or the code of the error. */
  readonly end: number | string;
  readonly error: SvcError | undefined;
  readonly printed: string;
  readonly asked: readonly string[];
  readonly reloads: number;
  readonly enabled: boolean;
  /** Shares of the work, as the bar showed them. */
  readonly progress: readonly (number | undefined)[];
}

export async function plugin(args: readonly string[], setup: CommandSetup): Promise<Ran> {
  const { home, answers, isEnabled = true, options = {}, signal = new AbortController().signal } = setup;
  const printed: string[] = [];
  const asked: string[] = [];
  const progress: (number | undefined)[] = [];
  const waiting = [...(answers ?? [])];
  let [reloads, enabled] = [0, isEnabled];
  const log = captureLogger();
  const context: FeatureCommandContext<PluginsConfig> = {
    config: isEnabled ? { enabled: true, plugins_dir: "plugins" } : undefined,
    isEnabled,
    homeFolder: home,
    args,
    options: optionsOf(options),
    signal,
    print: (text) => void printed.push(text),
    printJson: (value) => void printed.push(JSON.stringify(value)),
    confirm: async (question) => {
      if (answers === undefined) return undefined;
      asked.push(question);
      const answer = waiting.shift();
      if (answer === undefined) throw new Error(`nobody expected the question: ${question}`);
      return typeof answer === "boolean" ? answer : await answer();
    },
    progress: () => ({ at: (share) => void progress.push(share), done: () => {} }),
    // As apps/svc/src/commands/feature-command.ts makes it.
    fetch: (url, fetchOptions) =>
      createGuardedFetch({
        allowPrivate: [],
        exempt: /^https?:\/\/(?:localhost|127\.|\[::1\])/.test(url) ? [url] : [],
        lookup: async (name) => [setup.addresses?.[name] ?? "127.0.0.1"],
        log,
        clock: setup.clock ?? CLOCK,
      })(url, fetchOptions),
    child: (name) => [
      process.execPath,
      "--eval",
      CHILD,
      new URL(`../../src/children/${name}.ts`, import.meta.url).href,
    ],
    runningTools: async () => setup.runningTools,
    clock: setup.clock ?? CLOCK,
    enable: async () => void (enabled = true),
    ask: () => Promise.reject(new SvcError("NOT_RUNNING")),
    editConfig: async () => {},
    follow: () => Promise.reject(new Error("nothing streams here")),
    reload: async () => {
      reloads += 1;
      return "started anew: plugins-wasm";
    },
  };
  const end = await run(context).catch((error: unknown) => {
    if (error instanceof SvcError) return error;
    throw error;
  });
  const error = end instanceof SvcError ? end : undefined;
  return {
    end: end instanceof SvcError ? end.code : end,
    error,
    printed: printed.join("\n"),
    asked,
    reloads,
    enabled,
    progress,
  };
}

/** What `svc __<name>` does. */
const CHILD = `const [module, ...args] = process.argv.slice(1); import(module).then((m) => m.run(args)).then((code) => (process.exitCode = code));`;

function optionsOf(options: NonNullable<CommandSetup["options"]>): CommandOptions {
  return {
    text: (name) => (typeof options[name] === "string" ? options[name] : undefined),
    texts: (name) => (Array.isArray(options[name]) ? options[name] : []),
    flag: (name) => options[name] === true,
  };
}

const CLOCK: FeatureCommandContext["clock"] = {
  now: () => Date.UTC(2026, 0, 1),
  monotonic: () => performance.now(),
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
  sleep: async (ms) => void (await new Promise((resolve) => setTimeout(resolve, ms))),
};

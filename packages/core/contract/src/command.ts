/** What a feature adds to the command line. Its line in the help is core's; here is what it does. */
import type { Clock } from "./clock.ts";
import type { FeatureContext } from "./feature.ts";
import type { Json } from "./json.ts";
import type { Route, RouteEvent } from "./route.ts";
import type { FetchOptions, FetchResult } from "./tool.ts";

export interface FeatureCommand<Config = unknown> {
  /** Resolves with the exit code; throws `SvcError` for what the caller can mend. */
  run(context: FeatureCommandContext<Config>): Promise<number>;
}

export interface FeatureCommandContext<Config = unknown> {
  /** The validated section, whether it turns the feature on or not; undefined where it is not there. */
  readonly config: Config | undefined;
  /** The section turns the feature on. */
  readonly isEnabled: boolean;
  /** `FeatureContext.homeFolder`. */
  readonly homeFolder: string;
  /** Arguments after the command's word, as typed. */
  readonly args: readonly string[];
  readonly options: CommandOptions;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** A line on standard output; control characters in it drive no terminal. */
  print(text: string): void;
  /** Standard output as JSON for scripts. */
  printJson(value: unknown): void;
  /** Asks at the terminal, where only yes is a yes; undefined: there is none, and nobody was asked. Throws CANCELLED. */
  confirm(question: string): Promise<boolean | undefined>;
  /** Shows how long work is coming along, on standard error and at a terminal only. */
  progress(what: string): CommandProgress;
  /** The guarded client of `ToolContext`, which here also reaches loopback addresses: whoever types a URL means it. */
  fetch(url: string, options?: FetchOptions): Promise<FetchResult>;
  /** `FeatureContext.child`. */
  readonly child: FeatureContext["child"];
  /** Names of the tools that the running daemon has; undefined: none runs. */
  runningTools(): Promise<readonly string[] | undefined>;
  readonly clock: Clock;
  /** Turns the feature on in the config file, for the next start or `reload`. Throws CONFIG_*. */
  enable(): Promise<void>;
  /**
   * Asks a route of a feature with an operator's rights: of the running daemon, else of a service that is opened for this command alone.
   * Throws what the route throws; NOT_CONFIGURED, FEATURE_DOWN.
   */
  ask(question: FeatureQuestion): Promise<Json>;
  /**
   * Follows the stream of a feature's route (`Route.stream`) in the running daemon. Resolves when it ends. Throws what the route throws;
   * NOT_RUNNING, NOT_CONFIGURED, FEATURE_DOWN.
   */
  follow(question: FeatureQuestion, onEvent: (event: RouteEvent) => void): Promise<void>;
  /** Changes the text of the config file; the result is checked before it is written. Throws CONFIG_*; then nothing is changed. */
  editConfig(change: (text: string) => string): Promise<void>;
  /** Tells the running daemon that what the feature is made of has changed. Resolves with a sentence about what came of it. */
  reload(): Promise<string>;
}

export interface FeatureQuestion {
  readonly method: Route["method"];
  /** As the feature writes it, with its `{name}` segments. */
  readonly path: string;
  /** By `{name}`. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Json;
}

/** Options as typed: a text stays a text, whatever it looks like. */
export interface CommandOptions {
  text(name: string): string | undefined;
  /** Every value of an option that may be repeated. */
  texts(name: string): readonly string[];
  flag(name: string): boolean;
}

export interface CommandProgress {
  /** 0 to 1; undefined: nobody knows how much there is. */
  at(share: number | undefined): void;
  done(): void;
}

/**
 * The feature contract. A feature is a static definition plus a module that is evaluated only when the feature is on.
 *
 *   Construction   `load()`, `survey()` where the feature is made of files too, then `create(context)`: synchronous, no I/O,
 *                  no timer, no environment read
 *   Registration   `register(signal)`: one-time validation, may do I/O; a failure disables this feature alone
 *   Execution      `run(signal)`: for a connection or a loop; supervised, restarted with back-off
 *   Shutdown       `shutdown()`: reverse order, idempotent, safe when register never ran
 */
import type { GenericSchema, InferOutput } from "valibot";
import type { AgentAccess } from "./agent-access.ts";
import type { FindCapabilities, Provided } from "./capability.ts";
import type { Channel, Inbound } from "./channel.ts";
import type { Clock } from "./clock.ts";
import type { ChildAgentEvent, HardwareChangedEvent, SafetyEvent, VoiceStateEvent } from "./events.ts";
import type { Json } from "./json.ts";
import type { Logger } from "./log.ts";
import type { Build, CatalogueEntry } from "./manifest.ts";
import type { Observer, Readings } from "./observe.ts";
import type { Route, RouteEvent } from "./route.ts";
import type { SandboxBackend } from "./sandbox.ts";
import type { DocumentReader, FetchOptions, FetchResult, Tool } from "./tool.ts";
import type { ClientId } from "./identity.ts";
import type { Ingress } from "./ingress.ts";
import type { PerClient, PerClientOptions, SecretStore, SharedHandle, StateStore } from "./state.ts";
import type { Speech } from "./speech.ts";
import type { Triggered, TriggeredWith, TriggerEvent } from "./trigger.ts";

export interface FeatureDefinition<Schema extends GenericSchema = GenericSchema> {
  /** Folder name = package suffix = line in a profile; of a further part `<folder name>-<part>`. */
  readonly id: string;
  /**
   * Id of the feature that this is a further part of. A package whose feature has several sections exports a list: first the
   * feature itself, then one part for each further section that it owns or extends. Every part has its own section, lifecycle and
   * state, so that a failure or a config change of one does not affect the others; and its own channel, named after its section.
   */
  readonly partOf?: string;
  /** Shares state and secrets with the feature itself: for parts that never work at the same time. */
  readonly sharesState?: true;
  /** The config section this feature owns, e.g. `channels_config.webhook`. None: always on. */
  readonly section?: string;
  /** A section owned elsewhere that this feature adds keys to. */
  readonly extends?: string;
  /** Schema of `section`, or of the keys added to `extends`; a strict object. */
  readonly config?: Schema;
  /**
   * For a feature that extends a section without adding keys: whether the validated section turns it on. Such a feature
   * receives the whole section as its config.
   */
  when?(section: Readonly<Record<string, unknown>>): boolean;
  readonly load: () => Promise<FeatureModule<InferOutput<Schema>>>;
  /**
   * Its commands, named as in its manifest: by a word (`plugin`), or by a word and an action when several features share the word
   * (`hardware discover`).
   */
  readonly commands?: Readonly<Record<string, () => Promise<FeatureCommand<InferOutput<Schema>>>>>;
  /**
   * What a valid section needs to work: another feature (an error if the build lacks it), another section (an error if it is off),
   * or another tool beside one of its own (an error if an agent has only one of the two).
   */
  needs?(config: InferOutput<Schema>): readonly FeatureNeed[];
}

export type FeatureNeed =
  | {
      /** A key of the section. */
      readonly key: string;
      /** Id of the feature that makes something of it. */
      readonly feature: string;
    }
  | {
      /** Name of a section that must be on, e.g. `transcription`. */
      readonly section: string;
    }
  | {
      /** Name of a tool that every agent with the tool `beside` must have too. */
      readonly tool: string;
      readonly beside: string;
    };

export interface FeatureModule<Config = unknown> {
  /**
   * What the feature is made of beside its section, such as the files of a folder, told as plain data. It only reads. Asked
   * before it is made, and at each reload: where the answer is another one, the feature is made anew. A rejection disables it.
   */
  survey?(surroundings: FeatureSurroundings<Config>, signal: AbortSignal): Promise<Json>;
  create(context: FeatureContext<Config>): Contributions;
}

export interface FeatureSurroundings<Config = unknown> {
  /** The validated section; `undefined` for a feature without one. */
  readonly config: Config;
  /**
   * Validated sections of the feature's other parts that are on, by name (`channels_config.chat`). The part is made anew when one
   * of them changes.
   */
  readonly siblings: Readonly<Record<string, unknown>>;
  readonly log: Logger;
  /** Absolute path of `$SVC_HOME`, where relative paths of the config start. */
  readonly homeFolder: string;
}

export interface FeatureContext<Config = unknown> extends FeatureSurroundings<Config> {
  readonly clock: Clock;
  /** The result of its `survey`; null without one. */
  readonly survey: Json;
  /**
   * How to start one of the processes that the manifest lists under `children`: the program and its first arguments. It runs
   * `run` of the package's `./children/<name>` export, and nothing else of svc is loaded in it. Throws TypeError for another.
   */
  child(name: string): readonly [file: string, ...args: string[]];
  /**
   * The guarded outgoing client of `ToolContext`, which here also reaches the host and port of the section's `api_url`,
   * `url`, `homeserver` and `relays` when those are private addresses. Not before the Registration phase: Construction does no I/O.
   */
  fetch(url: string, options?: FetchOptions): Promise<FetchResult>;
  /**
   * The addresses of a URL's host (http, https, ws, wss), checked as `fetch` checks, for a library that opens a connection of
   * its own. Throws ADDRESS_REFUSED, REMOTE_UNREACHABLE.
   */
  resolve(url: string): Promise<readonly string[]>;
  /** Which build it is in. */
  readonly build: Build;
  /** `gateway.public_url` without a slash at the end; a change of it makes the feature anew. */
  readonly publicUrl: string | undefined;
  /** `[transcription]` and `[tts]`, as the config in force says. Not before the Execution phase. */
  readonly speech: Speech;
  /** How the service stands. Not before the Execution phase. */
  readings(): Readings;
  /**
   * The ClientId of a paired device that a feature has kept as text; undefined where there is no such device, or it was revoked
   * since. Not before the Registration phase.
   */
  pairedClient(storedClientId: string): ClientId | undefined;
  /**
   * State for as long as this construction of the feature is in force, whose first value is `initial`. Names are the feature's
   * own: a-z, then a-z 0-9 _ -, at most 64, each once. Only in `create`. Throws TypeError.
   */
  shared<T>(name: string, initial: T): SharedHandle<T>;
  /** The same for what belongs to one client each. What a client that is gone for good had is forgotten. Throws TypeError. */
  perClient<T>(name: string, initial: () => T, options?: PerClientOptions): PerClient<T>;
  /** What this feature keeps encrypted over restarts. Not before the Registration phase. */
  readonly secrets: SecretStore;
  /**
   * Encrypted values of one client: visible only with that client's id, and not through `secrets`. Revoking a device
   * deletes its values.
   */
  secretsOf(clientId: ClientId): SecretStore;
  /** The same for values that are not secret: a cursor, a date. */
  readonly state: StateStore;
  /**
   * Stores messages that the channel received itself (a long connection, polling). Resolves once they are on disk, in
   * their order; only then may the channel acknowledge them. Not before the Execution phase. Rejects with STORE_*, BUSY:
   * then none is stored.
   */
  receive(messages: readonly Inbound[], more?: ReceivedWith): Promise<readonly Kept[]>;
  /**
   * Starts the procedures with a trigger that the event fits. Resolves once their runs are on disk; only then may the source be told
   * that the event was taken. Not before the Execution phase. Rejects with STORE_*: then nothing was started.
   */
  trigger(event: TriggerEvent, more?: TriggeredWith): Promise<Triggered>;
  /**
   * What features in service provide under a key; none while features are constructed. Ask again before each use: a reload replaces
   * providers.
   */
  readonly capabilities: FindCapabilities;
  /** Tells subscribers and observers. Not before the Execution phase. */
  publish(event: ChildAgentEvent | HardwareChangedEvent | SafetyEvent | VoiceStateEvent): void;
  /**
   * Adds a line to the audit log. Resolves once it is on disk. `kind`: the feature's id, a hyphen, and what happened. Secrets are taken
   * out; long texts are cut. Not before the Execution phase. Rejects with STORE_*.
   */
  audit(kind: string, data: Json): Promise<void>;
  /** The agents of the config, for child agents. Not before the Execution phase. */
  readonly agents: AgentAccess;
  /**
   * Asks `survey` again, soon: where its answer differs, the feature is made anew in a new generation of the registry, with the tools
   * it has then. Calls in progress end with the old one. Does nothing outside a daemon.
   */
  refresh(): void;
}

/** Written in the same transaction as the received messages. */
export interface ReceivedWith {
  /** As by `state.set`, by name: where the channel goes on. */
  readonly state?: Readonly<Record<string, string>>;
  /** `Inbound.id` of messages that were taken back: those that are not answered yet are dropped. */
  readonly withdrawn?: readonly string[];
  /** `locked` messages that never come to be read, or that need no answer. */
  readonly ended?: readonly EndedLocked[];
}

export interface EndedLocked {
  /** `Inbound.id`. */
  readonly id: string;
  /** `failed`: with KEYS_MISSING. Its sender is not told. */
  readonly as: "done" | "failed";
}

/** `duplicate`: its id was seen before, and it was dropped. */
export type Kept = "kept" | "duplicate";

/** Plain data plus one lifecycle. */
export interface Contributions {
  readonly tools?: readonly Tool[];
  /** Of files that `file_read` would make nothing of. */
  readonly readers?: readonly DocumentReader[];
  readonly channel?: Channel;
  /** Ways in of its channel. */
  readonly ingress?: readonly Ingress[];
  readonly sandbox?: SandboxBackend;
  readonly observer?: Observer;
  readonly routes?: readonly Route[];
  /** For other features, each under its key. */
  readonly provides?: readonly Provided[];
  /**
   * Added to the system prompt of every agent; asked once for each turn, so it must be quick and read nothing. Blank: nothing. Text
   * beyond `MAX_PROMPT_CONTEXT` characters is cut; a throw leaves it out and is logged.
   */
  promptContext?(): string;
  register?(signal: AbortSignal): Promise<void>;
  run?(signal: AbortSignal): Promise<void>;
  shutdown?(): Promise<void>;
}

/** Characters of `Contributions.promptContext` that reach the model. */
export const MAX_PROMPT_CONTEXT = 4000;

/** What a package exports by default. */
export type FeatureExport = FeatureDefinition | readonly FeatureDefinition[];

/** The feature's id in its manifest and the catalogue; the same for each of its parts. */
export const featureIdOf = ({ id, partOf }: Pick<FeatureDefinition, "id" | "partOf">): string => partOf ?? id;

/** Checks the id at the door; everything else is checked by the runtime, with all problems told at once. */
export function defineFeature<Schema extends GenericSchema>(
  definition: FeatureDefinition<Schema>,
): FeatureDefinition<Schema> {
  return Object.freeze(definition);
}

/** What a feature adds to the command line. The core prints the line of the help; this is what the command does. */
export interface FeatureCommand<Config = unknown> {
  /** Resolves with the exit code; throws `SvcError` for what the caller can fix. */
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
  /** Asks at the terminal; only "yes" confirms. undefined: no terminal, so no question was asked. Throws CANCELLED. */
  confirm(question: string): Promise<boolean | undefined>;
  /** Shows how long work is coming along, on standard error and at a terminal only. */
  progress(what: string): CommandProgress;
  /** The guarded client of `ToolContext`, which here also reaches loopback addresses: the operator typed the URL. */
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

/** Options as typed: a value stays text even when it looks like a number. */
export interface CommandOptions {
  text(name: string): string | undefined;
  /** Every value of an option that may be repeated. */
  texts(name: string): readonly string[];
  flag(name: string): boolean;
}

export interface CommandProgress {
  /** 0 to 1; undefined: the total is unknown. */
  at(share: number | undefined): void;
  done(): void;
}

/** What one build consists of; written by the composer. */
export interface Composition extends Build {
  readonly features: readonly FeatureDefinition[];
  readonly catalogue: readonly CatalogueEntry[];
}

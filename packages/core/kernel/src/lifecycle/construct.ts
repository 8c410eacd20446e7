/** The Construction phase of one feature: import its module, call `create`, take down what it contributes. */
import {
  type Channel,
  type Contributions,
  type FeatureContext,
  type FeatureDefinition,
  type Ingress,
  type Observer,
  type Route,
  type SandboxBackend,
  SvcError,
  type Tool,
} from "@svc/contract";
import type { RegistryPart } from "../registry/registry.ts";
import { channelIdOf } from "./channel-id.ts";

/** A feature that its configuration turned on, and what it is handed. */
export interface EnabledFeature {
  readonly definition: FeatureDefinition;
  /** The validated section; `undefined` for a feature without one. */
  readonly config: unknown;
  /** Its outgoing client. Default: one that refuses every request. */
  readonly fetch?: FeatureContext["fetch"];
  /** Where names lead to. Default: nowhere. */
  readonly resolve?: FeatureContext["resolve"];
  /** Default: there is none. */
  readonly publicUrl?: string | undefined;
  /** Default: there is none. */
  readonly speech?: FeatureContext["speech"];
  /** How the service stands. Default: nobody knows. */
  readonly readings?: FeatureContext["readings"];
  /** Default: nobody is. */
  readonly isPaired?: FeatureContext["isPaired"];
  /** Its encrypted store. Default: one that is not there. */
  readonly secrets?: FeatureContext["secrets"];
  /** What it keeps that is no secret. Default: one that is not there. */
  readonly state?: FeatureContext["state"];
  /** Where its messages go. Default: they are refused. */
  readonly receive?: FeatureContext["receive"];
}

export interface ConstructedFeature {
  readonly definition: FeatureDefinition;
  readonly part: RegistryPart;
  readonly register: ((signal: AbortSignal) => Promise<void>) | undefined;
  readonly run: ((signal: AbortSignal) => Promise<void>) | undefined;
  readonly shutdown: (() => Promise<void>) | undefined;
}

/** Throws whatever the feature throws, and TypeError where it keeps the contract in name only. */
export async function construct(
  feature: EnabledFeature,
  surroundings: Pick<FeatureContext, "log" | "clock">,
): Promise<() => ConstructedFeature> {
  const {
    definition,
    config,
    fetch = refuse,
    resolve = refuse,
    publicUrl,
    speech = NO_SPEECH,
    readings = noReadings,
    isPaired = () => false,
    secrets = NO_STORE,
    state = NO_STORE,
    receive = refuseMessages,
  } = feature;
  const module = await definition.load();
  return () => {
    const made: unknown = module.create(
      Object.freeze({
        config,
        fetch,
        resolve,
        publicUrl,
        speech,
        readings,
        isPaired,
        secrets,
        state,
        receive,
        ...surroundings,
      }),
    );
    if (isThenable(made)) {
      // Its rejection would otherwise end the process.
      void Promise.resolve(made).catch(() => undefined);
      throw new TypeError("create() must be synchronous");
    }
    if (typeof made !== "object" || made === null) throw new TypeError("create() must return its contributions");
    return takeDown(definition, made as Contributions);
  };
}

/** Reads every member once, here, so that nothing that was checked can change afterwards. */
function takeDown(definition: FeatureDefinition, made: Contributions): ConstructedFeature {
  const { tools = [], routes = [], ingress = [], channel, sandbox, observer, register, run, shutdown } = made;
  for (const tool of tools) demand(isTool(tool), "a tool needs name, description, input, approval and run()");
  for (const route of routes) demand(isRoute(route), "a route needs method, path, doc and handle()");
  for (const way of ingress) demand(isIngress(way), "an ingress needs path, methods, signed, verify() and parse()");
  demand(channel !== undefined || ingress.length === 0, "an ingress needs a channel whose messages come in by it");
  demand(channel === undefined || typeof channel.send === "function", "a channel needs send()");
  demand(sandbox === undefined || isSandbox(sandbox), "a sandbox backend needs id, probe() and open()");
  demand(observer === undefined || typeof observer.record === "function", "an observer needs record()");
  for (const step of [register, run, shutdown]) {
    demand(step === undefined || typeof step === "function", "register, run and shutdown must be functions");
  }
  return Object.freeze({
    definition,
    part: Object.freeze({
      feature: definition.id,
      tools: Object.freeze(tools.map((tool): Tool => Object.freeze(tool))),
      sandboxes: Object.freeze(present<SandboxBackend>(sandbox)),
      channels: Object.freeze(
        present<Channel>(channel).map((channel) => Object.freeze([channelIdOf(definition), channel] as const)),
      ),
      ingress: Object.freeze(
        ingress.map((way): readonly [string, Ingress] => Object.freeze([channelIdOf(definition), Object.freeze(way)])),
      ),
      observers: Object.freeze(present<Observer>(observer)),
      routes: Object.freeze(routes.map((route): Route => Object.freeze(route))),
    }),
    register: register?.bind(made),
    run: run?.bind(made),
    shutdown: shutdown?.bind(made),
  });
}

const present = <T>(value: T | undefined): readonly T[] => (value === undefined ? [] : [value]);

function demand(held: boolean, message: string): void {
  if (!held) throw new TypeError(message);
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";

const isTool = (tool: Tool): boolean =>
  typeof tool.name === "string" &&
  typeof tool.description === "string" &&
  typeof tool.input === "object" &&
  (typeof tool.approval === "function" || tool.approval === "auto" || tool.approval === "ask") &&
  typeof tool.run === "function";

const ACCESS: ReadonlySet<string> = new Set(["read", "operate", "open"]);

const isRoute = (route: Route): boolean =>
  typeof route.method === "string" &&
  typeof route.path === "string" &&
  (route.access === undefined || ACCESS.has(route.access)) &&
  typeof route.doc?.summary === "string" &&
  typeof route.doc.answers === "object" &&
  typeof route.handle === "function";

const isIngress = (way: Ingress): boolean =>
  typeof way.path === "string" &&
  Array.isArray(way.methods) &&
  typeof way.signed === "boolean" &&
  typeof way.verify === "function" &&
  typeof way.parse === "function";

const isSandbox = (backend: SandboxBackend): boolean =>
  typeof backend.id === "string" && typeof backend.probe === "function" && typeof backend.open === "function";

const refuse = (): Promise<never> =>
  Promise.reject(new SvcError("ADDRESS_REFUSED", "This process gives features no outgoing client."));

const noSpeech = (): Promise<never> => Promise.reject(new SvcError("CHANNEL_CANNOT", "This process has no speech."));
const NO_SPEECH: FeatureContext["speech"] = Object.freeze({
  canTranscribe: false,
  canSpeak: false,
  transcribe: noSpeech,
  speak: noSpeech,
});

const noReadings = (): never => {
  throw new SvcError("INTERNAL", "This process tells features no readings.");
};

const refuseMessages: FeatureContext["receive"] = () =>
  Promise.reject(new SvcError("CHANNEL_DOWN", "This process takes no messages."));

const noStore = (): Promise<never> =>
  Promise.reject(new SvcError("STORE_FAILED", "This process keeps nothing for features."));
const NO_STORE: FeatureContext["secrets"] = { get: noStore, set: noStore, delete: noStore, list: noStore };

/** What a feature contributes, taken down once and for good, and checked for what the contract's types can't hold a program to. */
import type {
  CatalogueEntry,
  ClientId,
  Contributions,
  DocumentReader,
  FeatureDefinition,
  Ingress,
  Route,
  SandboxBackend,
  Tool,
} from "@svc/contract";
import { snapshot } from "../frozen.ts";
import type { RegistryPart } from "../registry.ts";
import type { FeatureStates } from "../shared-state.ts";

export interface ConstructedFeature {
  readonly definition: FeatureDefinition;
  readonly part: RegistryPart;
  readonly register: ((signal: AbortSignal) => Promise<void>) | undefined;
  readonly run: ((signal: AbortSignal) => Promise<void>) | undefined;
  readonly shutdown: (() => Promise<void>) | undefined;
  /** The client is gone for good. */
  readonly forget: (clientId: ClientId) => void;
}

/** Every member is read once, here: nothing that was checked can change afterwards. Throws TypeError. */
export function readContributions(
  definition: FeatureDefinition,
  made: Contributions,
  states: FeatureStates,
): ConstructedFeature {
  const { register, run, shutdown } = made;
  const [tools, readers, routes] = [all(made.tools), all(made.readers), all(made.routes)];
  const { provides = [], promptContext } = made;
  const ingress = all(made.ingress);
  const [channels, sandboxes, observers] = [one(made.channel), one(made.sandbox), one(made.observer)];
  for (const tool of tools) demand(isTool(tool), "a tool needs name, description, input, approval and run()");
  for (const reader of readers) demand(isReader(reader), "a reader of documents needs type and read()");
  for (const route of routes) demand(isRoute(route), "a route needs method, path, doc and handle()");
  for (const way of ingress) demand(isIngress(way), "an ingress needs path, methods, signed, verify() and parse()");
  demand(channels.length > 0 || ingress.length === 0, "an ingress needs a channel whose messages come in by it");
  for (const channel of channels) demand(typeof channel.send === "function", "a channel needs send()");
  for (const sandbox of sandboxes) demand(isSandbox(sandbox), "a sandbox backend needs id, probe() and open()");
  for (const observer of observers) demand(typeof observer.record === "function", "an observer needs record()");
  for (const { capability } of provides)
    demand(CAPABILITY_ID.test(capability.id), "a capability needs an id: a-z 0-9 -");
  for (const step of [register, run, shutdown, promptContext]) {
    demand(
      step === undefined || typeof step === "function",
      "register, run, shutdown and promptContext must be functions",
    );
  }
  const channelId = channelIdOf(definition);
  return Object.freeze({
    definition,
    part: Object.freeze({
      feature: definition.id,
      tools,
      readers,
      sandboxes,
      channels: Object.freeze(channels.map((channel) => Object.freeze([channelId, channel] as const))),
      ingress: Object.freeze(ingress.map((way) => Object.freeze([channelId, way] as const))),
      observers,
      routes,
      provides: Object.freeze([...provides]),
      promptContext: promptContext?.bind(made),
    }),
    register: register?.bind(made),
    run: run?.bind(made),
    shutdown: shutdown?.bind(made),
    forget: (clientId: ClientId) => states.forget(clientId),
  });
}

const all = <T extends object>(made: readonly T[] = []): readonly T[] =>
  Object.freeze(
    made.map((each) => {
      const taken = snapshot(each);
      // Whoever tries to change it is told.
      Object.freeze(each);
      return taken;
    }),
  );

/** Of these the object that was made may be the place of its own state. */
const one = <T extends object>(made: T | undefined): readonly T[] =>
  Object.freeze(made === undefined ? [] : [snapshot(made)]);

function demand(held: boolean, message: string): void {
  if (!held) throw new TypeError(message);
}

const CAPABILITY_ID = /^[a-z][a-z0-9-]{0,63}$/;

const isTool = (tool: Tool): boolean =>
  typeof tool.name === "string" &&
  typeof tool.description === "string" &&
  typeof tool.input === "object" &&
  (typeof tool.approval === "function" || tool.approval === "auto" || tool.approval === "ask") &&
  typeof tool.run === "function";

const isReader = (reader: DocumentReader): boolean =>
  typeof reader.type === "string" && typeof reader.read === "function";

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

/**
 * The name a feature's channel has in `Conversation.channel`, in `channels` of an event and in `svc channels`: the last
 * part of its config section (`channels_config.chat` → `chat`), else the feature's id without `channel-`.
 */
export function channelIdOf(definition: Pick<FeatureDefinition, "id" | "section" | "extends">): string {
  const section = definition.section ?? definition.extends ?? "";
  const [, name] = /^channels_config\.(.+)$/.exec(section) ?? [];
  return name ?? definition.id.replace(/^channel-/, "").replaceAll("-", "_");
}

/** Those of a feature that may not be in the build: one for each section of its manifest. */
export const channelIdsOf = ({ id, sections }: Pick<CatalogueEntry, "id" | "sections">): string[] =>
  sections.length === 0 ? [channelIdOf({ id })] : sections.map((section) => channelIdOf({ id, section }));

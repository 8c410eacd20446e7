/** What this process can do, fixed once start-up is over. A reload builds a new one and swaps the reference. */
import {
  type Channel,
  type DocumentReader,
  type FindCapabilities,
  type Ingress,
  type Observer,
  type Provided,
  type Route,
  type SandboxBackend,
  type Tool,
  findProvided,
} from "@svc/contract";
import { FrozenMap } from "./frozen.ts";

export interface Registry {
  readonly tools: FrozenMap<Tool>;
  /** Feature id of each tool's owner; `core` for core's own. */
  readonly toolOwners: FrozenMap<string>;
  /** By the media type of what they read. */
  readonly readers: FrozenMap<DocumentReader>;
  readonly sandboxes: FrozenMap<SandboxBackend>;
  /** By channel id (`channelIdOf`). */
  readonly channels: FrozenMap<Channel>;
  /** Feature id of each channel's owner. */
  readonly channelOwners: FrozenMap<string>;
  readonly ingress: readonly RegisteredIngress[];
  readonly observers: readonly RegisteredObserver[];
  readonly routes: readonly RegisteredRoute[];
  /** What features provide to others, by key. */
  readonly capabilities: FindCapabilities;
  readonly promptContexts: readonly RegisteredPromptContext[];
}

export interface RegisteredPromptContext {
  readonly feature: string;
  readonly text: () => string;
}

export interface RegisteredRoute {
  /** Feature id; its state says whether the route is in service. */
  readonly feature: string;
  readonly route: Route;
}

export interface RegisteredObserver {
  readonly feature: string;
  readonly observer: Observer;
}

export interface RegisteredIngress {
  /** Feature id; its state says whether the channel is in service. */
  readonly feature: string;
  readonly channel: string;
  readonly ingress: Ingress;
}

/** What one owner adds. The kernel has checked all of it against everybody else's. */
export interface RegistryPart {
  readonly feature: string;
  readonly tools: readonly Tool[];
  readonly readers: readonly DocumentReader[];
  readonly sandboxes: readonly SandboxBackend[];
  readonly channels: readonly (readonly [id: string, channel: Channel])[];
  readonly ingress: readonly (readonly [channel: string, ingress: Ingress])[];
  readonly observers: readonly Observer[];
  readonly routes: readonly Route[];
  readonly provides?: readonly Provided[];
  readonly promptContext?: (() => string) | undefined;
}

/** Throws on a name that comes twice, which the conflict check has to have found before. */
export function buildRegistry(parts: readonly RegistryPart[]): Registry {
  const provided = parts.flatMap(({ provides = [] }) => provides);
  return Object.freeze({
    tools: new FrozenMap(parts.flatMap((part) => part.tools.map((tool) => [tool.name, tool] as const))),
    toolOwners: new FrozenMap(parts.flatMap((part) => part.tools.map((tool) => [tool.name, part.feature] as const))),
    readers: new FrozenMap(parts.flatMap((part) => part.readers.map((reader) => [reader.type, reader] as const))),
    sandboxes: new FrozenMap(parts.flatMap((part) => part.sandboxes.map((backend) => [backend.id, backend] as const))),
    channels: new FrozenMap(parts.flatMap((part) => part.channels)),
    channelOwners: new FrozenMap(parts.flatMap((part) => part.channels.map(([id]) => [id, part.feature] as const))),
    ingress: Object.freeze(
      parts.flatMap(({ feature, ingress: ways }) =>
        ways.map(([channel, ingress]) => Object.freeze({ feature, channel, ingress })),
      ),
    ),
    observers: Object.freeze(
      parts.flatMap((part) => part.observers.map((observer) => Object.freeze({ feature: part.feature, observer }))),
    ),
    routes: Object.freeze(
      parts.flatMap(({ feature, routes }) => routes.map((route) => Object.freeze({ feature, route }))),
    ),
    capabilities: <T>(capability: Parameters<typeof findProvided<T>>[1]) => findProvided(provided, capability),
    promptContexts: Object.freeze(
      parts.flatMap(({ feature, promptContext: text }) => (text ? [Object.freeze({ feature, text })] : [])),
    ),
  });
}

/** Paths of routes as patterns: segments as they are written, or `{name}` for any one. */
const ROUTE_PATH = /^\/api(?:\/(?:[A-Za-z0-9_~-][A-Za-z0-9._~-]*|\{[a-z][a-z0-9_]*\}))+$/;

export const isRoutePath = (path: string): boolean => ROUTE_PATH.test(path);

/** Whether two segments would be handed on by one name. */
export function hasDoubledName(path: string): boolean {
  const names = path.split("/").filter(isAny);
  return new Set(names).size < names.length;
}

/** Whether there is a path that is on both. */
export function pathsMeet(one: string, other: string): boolean {
  const [ours, theirs] = [one.split("/"), other.split("/")];
  return (
    ours.length === theirs.length &&
    ours.every((segment, at) => {
      const facing = theirs[at] ?? "";
      return segment === facing || (isAny(segment) && facing !== "") || (isAny(facing) && segment !== "");
    })
  );
}

/** As paths of core may write it, too. */
const isAny = (segment: string): boolean => /^(?::.*|\{.*\}|\*)$/.test(segment);

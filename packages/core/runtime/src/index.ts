/** `@svc/runtime`: features from construction to shutdown, the registry, events, observers and the log. */
export * from "./events/activity.ts";
export { createEventHub, type EventHubOptions } from "./events/hub.ts";
export type * from "./events/hub.ts";
export { timestamp } from "./events/wire.ts";
export { FrozenMap } from "./frozen.ts";
export type { EnabledFeature } from "./lifecycle/construct.ts";
export { channelIdOf, channelIdsOf } from "./lifecycle/contributions.ts";
export { Lifecycle, type LifecycleChange } from "./lifecycle/lifecycle.ts";
export * from "./lifecycle/options.ts";
export { definitionProblems, type ReservedNames } from "./lifecycle/problems.ts";
export type { FeatureState, FeatureStatus } from "./lifecycle/status.ts";
export { type Link, LinkedList } from "./linked-list.ts";
export { logBackend } from "./log-backend.ts";
export * from "./log-file.ts";
export * from "./log.ts";
export { Ongoing } from "./ongoing.ts";
export * from "./registry.ts";
export { ClientStates, FeatureStates } from "./shared-state.ts";
export {
  type BeginOptions,
  codeOf,
  createTracer,
  currentScope,
  fromOutside,
  inScope,
  keepScope,
  NO_TRACER,
  type OpenSpan,
  type Scope,
  type Tracer,
  type TracerOptions,
  watched,
  type WatchingObserver,
  within,
} from "./tracing.ts";

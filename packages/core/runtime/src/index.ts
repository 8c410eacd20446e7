/** `@svc/runtime`: features from construction to shutdown, the registry, events, observers and the log. */
export * from "./events/activity.ts";
export { createEventHub, type EventHubOptions } from "./events/hub.ts";
export { timestamp } from "./events/wire.ts";
export type * from "./events/hub.ts";
export * from "./lifecycle/channel-id.ts";
export type { LifecycleChange } from "./lifecycle/change.ts";
export type { EnabledFeature } from "./lifecycle/construct.ts";
export * from "./lifecycle/definition-problems.ts";
export * from "./lifecycle/lifecycle.ts";
export * from "./lifecycle/options.ts";
export type { FeatureState, FeatureStatus } from "./lifecycle/status.ts";
export * from "./log.ts";
export * from "./log-file.ts";
export * from "./log-line.ts";
export type { LineSink } from "./log-output.ts";
export { asideNumbers, logFilePath } from "./log-file.ts";
export { type Link, LinkedList } from "./linked-list.ts";
export {
  type BeginOptions,
  createTracer,
  type Tracer,
  type TracerOptions,
  NO_TRACER,
  type OpenSpan,
  type WatchingObserver,
} from "./observe/tracer.ts";
export { logBackend } from "./observe/log-backend.ts";
export { codeOf, watched } from "./observe/watched.ts";
export { Ongoing } from "./ongoing.ts";
export * from "./registry/frozen-map.ts";
export * from "./registry/registry.ts";
export { isRoutePath, pathsMeet } from "./registry/route-paths.ts";
export * from "./scope.ts";
export { ClientStates } from "./shared/client-states.ts";
export { FeatureStates } from "./shared/feature-states.ts";
export type { ReservedNames } from "./lifecycle/contribution-problems.ts";

/** `@svc/kernel`: config, secrets, lifecycle, registry. */
export * from "./config/core-schema.ts";
export * from "./home.ts";
export * from "./clock.ts";
export * from "./lifecycle/channel-id.ts";
export type { EnabledFeature } from "./lifecycle/construct.ts";
export { TOOL_NAME, type ReservedNames } from "./lifecycle/contribution-problems.ts";
export * from "./lifecycle/definition-problems.ts";
export * from "./lifecycle/lifecycle.ts";
export * from "./lifecycle/options.ts";
export type { FeatureState, FeatureStatus } from "./lifecycle/status.ts";
export * from "./log.ts";
export * from "./redact.ts";
export * from "./registry/frozen-map.ts";
export * from "./registry/registry.ts";

/** `@svc/contract`: what every part of the house agrees on. Types and pure values only. */
export * from "./channel.ts";
export * from "./clock.ts";
export * from "./device-name.ts";
export * from "./error-codes.ts";
export * from "./error.ts";
export * from "./events.ts";
export * from "./feature.ts";
export * from "./identity.ts";
export * from "./ingress.ts";
export * from "./json.ts";
export * from "./log.ts";
export * from "./manifest.ts";
export * from "./postponed.ts";
export * from "./sandbox.ts";
export * from "./schema.ts";
export * from "./shared.ts";
export * from "./tool.ts";

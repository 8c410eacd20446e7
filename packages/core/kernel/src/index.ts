/** `@svc/kernel`: config, secrets, lifecycle, registry. */
export * from "./config/core-schema.ts";
export * from "./home.ts";

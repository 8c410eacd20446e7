/** `@svc/config/load`: reading the config, for the commands that do no more and must start fast. */
export * from "./load-config.ts";
export * from "./key-text.ts";

export * from "./error.ts";
export * from "./schema.ts";

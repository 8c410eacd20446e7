/** `@svc/kit/process`: programs that are run to their end, for sandboxes and whoever else starts one. */
export * from "./confined-session.ts";
export * from "./run-process.ts";

/** `@svc/config/settings`: the config file as a settings page edits it. Loaded by the daemon when somebody opens it. */
export * from "./config-editor.ts";
export type { ConfigState } from "./form.ts";
export { formSchema } from "./form.ts";

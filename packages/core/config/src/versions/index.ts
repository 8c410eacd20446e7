/** `@svc/config/versions`: files as they were before each write, and what a write changed. Loaded when somebody edits. */
export { type DiffLine, diffOf } from "./line-diff.ts";
export { type Version, VersionStore } from "./version-store.ts";

/**
 * `@svc/kit/files`: the one place that makes, gives away, copies and removes files where less trusted people can write: the
 * workspace, temporary folders, a plugin folder. Every step goes by the descriptor of a folder that is held open.
 */
export { removeAbandonedScratch } from "./abandoned-scratch.ts";
export * from "./copy-tree.ts";
export * from "./give.ts";
export * from "./opened.ts";
export * from "./private-path.ts";
export * from "./remove-tree.ts";
export * from "./scratch.ts";
export * from "./windows-path.ts";

/**
 * `@svc/kit/files`: the one place that makes, gives away, copies and removes files where less trusted people can write: the
 * workspace, temporary folders, a plugin folder. Every step goes by the descriptor of a folder that is held open.
 */
export * from "./opened.ts";
export * from "./paths.ts";
export { makeScratch, removeAbandonedScratch, type Scratch, type ScratchOptions } from "./scratch.ts";
export * from "./trees.ts";

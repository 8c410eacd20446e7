/** `@svc/kit/markdown`: what a model writes, read once for all channels. A channel only says how it shows it. */
export * from "./plain.ts";
export { readMarkdown } from "./read.ts";
export { speakableOf, type SpeakableOptions } from "./speakable.ts";
export type * from "./tree.ts";

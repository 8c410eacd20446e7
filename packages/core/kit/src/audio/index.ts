/** `@svc/kit/audio`: sound as samples, as WAV and as Ogg Opus. */
export * from "./ogg-opus.ts";
export * from "./wav.ts";

/** Files that people send, and files on their way out. */
import { type FeatureContext, type Media, type OutgoingMessage, SvcError } from "@svc/contract";
import { downloadMedia } from "@svc/kit";
import type { Config } from "./config.ts";
import type { Cdn } from "./message.ts";

/**
 * Files that people send: links of the platform's own hosts, which need no token and are given none.
 * https://docs.discord.com/developers/reference#signed-attachment-cdn-urls
 */
type Surroundings = Pick<FeatureContext, "clock" | "fetch">;

export function mediaFetcher({ api_url: apiUrl }: Config, { clock, fetch }: Surroundings): Media["fetch"] {
  return async ({ ref }, write, signal) => {
    signal.throwIfAborted();
    if (!isPlatforms(ref, apiUrl)) {
      throw new SvcError("MEDIA_REFUSED", "The file is at a host that is not the platform's.");
    }
    return downloadMedia(fetch, {
      url: ref,
      maxBytes: MAX_MEDIA_BYTES,
      redirects: "same-host",
      write,
      signal,
      nowMs: clock.now(),
    });
  };
}

const IMAGES = "https://cdn.discordapp.com";
const MOVING = "https://media.discordapp.net";

/** Who stands in for the platform has its files too. */
export function cdnOf({ api_url: apiUrl }: Pick<Config, "api_url">): Cdn {
  const { origin, hostname } = new URL(apiUrl);
  return /(?:^|\.)discord\.com$/.test(hostname)
    ? { images: IMAGES, moving: MOVING }
    : { images: origin, moving: origin };
}

/** Anyone who writes a message chooses nothing of its links; a reader of the gateway in between could. */
function isPlatforms(text: string, apiUrl: string): boolean {
  if (!URL.canParse(text)) return false;
  const { origin } = new URL(text);
  return origin === IMAGES || origin === MOVING || origin === new URL(apiUrl).origin;
}

/** Files on their way out, as many in a message as it takes. */
export interface FileBytes {
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

export type Bundle = readonly FileBytes[];

/** The limit of a whole message, and of a received file: https://docs.discord.com/developers/resources/message#create-message */
export const MAX_MEDIA_BYTES = 25 * 1_048_576;
const MAX_FILES = 10;

/**
 * All of them before anything is to be seen: a try that fails here has sent nothing. What one file may have, the platform
 * decides by the server. Throws what `read` throws.
 */
export async function bundlesOf({ files = [] }: Pick<OutgoingMessage, "files">): Promise<Bundle[]> {
  const bundles: FileBytes[][] = [];
  let room = 0;
  for (const { name, mimeType, read } of files) {
    const bytes = await read();
    let last = bundles.at(-1);
    if (last === undefined || last.length === MAX_FILES || bytes.byteLength > room) {
      last = [];
      bundles.push(last);
      room = MAX_MEDIA_BYTES;
    }
    last.push({ name, mimeType, bytes });
    room -= bytes.byteLength;
  }
  return bundles;
}

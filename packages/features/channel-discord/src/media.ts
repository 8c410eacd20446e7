/**
 * Files that people send: links of the platform's own hosts, which need no token and are given none.
 * https://docs.discord.com/developers/reference#signed-attachment-cdn-urls
 */
import { type FeatureContext, type Media, SvcError } from "@svc/contract";
import { downloadMedia } from "@svc/kit";
import type { Config } from "./config.ts";
import type { Cdn } from "./inbound/attachments.ts";
import { MAX_MEDIA_BYTES } from "./outbound/files.ts";

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

/** Whoever writes a message chooses nothing of its links; a reader of the gateway in between could. */
function isPlatforms(text: string, apiUrl: string): boolean {
  if (!URL.canParse(text)) return false;
  const { origin } = new URL(text);
  return origin === IMAGES || origin === MOVING || origin === new URL(apiUrl).origin;
}

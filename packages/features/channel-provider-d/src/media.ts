import { type FeatureContext, type Media, SvcError } from "@svc/contract";
import { downloadMedia } from "@svc/kit";
import type { Config } from "./index.ts";
import { downloadUrl, isShareToken } from "./share-link.ts";

const MAX_BYTES = 26_214_400;

export function createMedia({ config, fetch, clock }: FeatureContext<Config>): Media {
  return {
    maxBytes: MAX_BYTES,
    // The bot API takes text and reactions only.
    sends: [],
    async fetch({ ref, mimeType }, write, signal) {
      signal.throwIfAborted();
      if (!isShareToken(ref)) throw new SvcError("MEDIA_REFUSED", "This is no share of the server.");
      const url = downloadUrl(config.api_url, ref);
      const limits = { maxBytes: MAX_BYTES, redirects: "same-host" } as const;
      const got = await downloadMedia(fetch, { url, ...limits, write, signal, nowMs: clock.now() });
      // A share with a password, or one that only members may open, answers 200 with a page for signing in.
      if (got.mimeType === "text/html" && mimeType !== "text/html") {
        throw new SvcError("MEDIA_REFUSED", "Only files of conversations that are open to guests can be fetched.");
      }
      return got;
    },
  };
}

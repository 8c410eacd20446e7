/** What callers said, as recordings. https://www.twilio.com/docs/voice/api/recording#fetch-a-recording-media-file */
import { type FeatureContext, type Media, SvcError } from "@svc/contract";
import { downloadMedia } from "@svc/kit";
import type { PlatformApi } from "./api.ts";
import { RECORDING_SID } from "./webhooks.ts";

/** An hour and a half; recordings take at most a minute. */
const MAX_RECORDING_BYTES = 26_214_400;

export function recordings(api: PlatformApi, { clock, fetch }: Pick<FeatureContext, "clock" | "fetch">): Media {
  return {
    maxBytes: MAX_RECORDING_BYTES,
    sends: [],
    async fetch({ ref }, write, signal) {
      signal.throwIfAborted();
      // It becomes a path of the API, and anyone who made the delivery chose it.
      if (!RECORDING_SID.test(ref))
        throw new SvcError("MEDIA_REFUSED", "The recording's id is not a valid id of the platform.");
      const url = `${api.root}/Recordings/${ref}.mp3`;
      const { headers } = api;
      const download = { url, headers, maxBytes: MAX_RECORDING_BYTES, write, signal, nowMs: clock.now() };
      try {
        return await downloadMedia(fetch, { ...download, redirects: "same-host" });
      } catch (error) {
        throw (await isInTheMaking(api, ref, signal)) ? notYet(error) : error;
      }
    },
  };
}

/** It is announced as soon as the caller is silent, and there some moments later. */
async function isInTheMaking(api: PlatformApi, ref: string, signal: AbortSignal): Promise<boolean> {
  const { status } = await api.get(`/Recordings/${ref}`, {}, signal).catch(() => ({ status: undefined }));
  return status === "processing" || status === "in-progress";
}

const notYet = (cause: unknown): SvcError =>
  new SvcError("REMOTE_UNREACHABLE", "The recording is not ready yet.", { cause, retryAfterMs: 1_000 });

/**
 * Files that people send: the id is looked up, and what the answer points at is fetched.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/business-phone-numbers/media
 */
import { type FeatureContext, type Media, SvcError } from "@svc/contract";
import { downloadMedia } from "@svc/kit";
import type { CloudConfig } from "./config.ts";
import { typeOf } from "./delivery.ts";
import { MAX_MEDIA_BYTES } from "./files.ts";
import type { GraphApi } from "./graph.ts";
import { type Fields, numberOf, textOf } from "./protocol.ts";

export function inboundMedia(graph: GraphApi, config: CloudConfig, { clock, fetch }: Surroundings): Media["fetch"] {
  const { apiUrl, accessToken, phoneNumberId } = config;
  return async ({ ref }, write, signal) => {
    // The id becomes an API path, and the sender of the delivery chose it.
    if (!/^[A-Za-z0-9_-]{1,256}$/.test(ref)) throw refused("The file's id is not a valid id of the platform.");
    const info = await graph.find(ref, { phone_number_id: phoneNumberId }, signal).catch(asMediaError);
    const { url, mimeType } = described(info, apiUrl);
    const fetched = await downloadMedia(fetch, {
      url,
      headers: { authorization: `Bearer ${accessToken}` },
      maxBytes: MAX_MEDIA_BYTES,
      redirects: "same-host",
      write,
      signal,
      nowMs: clock.now(),
    });
    // An error page that comes with 200 would be saved as someone's picture.
    if (fetched.mimeType === "text/html" && mimeType !== "text/html") {
      throw new SvcError("REMOTE_UNREACHABLE", "The platform answered with a page when asked for a file.");
    }
    return mimeType === undefined ? fetched : { mimeType };
  };
}

type Surroundings = Pick<FeatureContext, "clock" | "fetch">;

/** Throws MEDIA_REFUSED for what must not or can't be fetched. */
function described(info: Fields | undefined, apiUrl: string): { url: string; mimeType: string | undefined } {
  const url = textOf(info?.["url"]);
  if (info === undefined || url === undefined)
    throw refused("The file is gone; the platform keeps one for seven days.");
  if ((numberOf(info["file_size"]) ?? 0) > MAX_MEDIA_BYTES)
    throw refused(`The file is larger than ${MAX_MEDIA_BYTES / 1_048_576} MiB.`);
  if (!isPlatforms(url, apiUrl)) throw refused("The platform points at a host that is not its own.");
  return { url, mimeType: typeOf(info["mime_type"]) };
}

/** The token goes along: no one else may be asked. Exempt is the API itself, which may be a proxy. */
function isPlatforms(text: string, apiUrl: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (url.origin === new URL(apiUrl).origin) return true;
  return url.protocol === "https:" && url.port === "" && PLATFORM_HOST.test(url.hostname);
}

/** It names lookaside.fbsbx.com today. */
const PLATFORM_HOST = /(?:^|\.)(?:fbsbx\.com|fbcdn\.net|whatsapp\.net)$/;

/** Errors of sending and of the client, as those of fetching a file. */
function asMediaError(error: unknown): never {
  if (!(error instanceof SvcError)) throw error;
  const { code, message, retryAfterMs } = error;
  // The API redirects to somewhere else.
  if (code === "DELIVERY_REFUSED" || code === "ADDRESS_REFUSED") throw refused(message, error);
  if (code !== "DELIVERY_FAILED") throw error;
  throw new SvcError("REMOTE_UNREACHABLE", message, {
    cause: error,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

const refused = (message: string, cause?: unknown): SvcError => new SvcError("MEDIA_REFUSED", message, { cause });

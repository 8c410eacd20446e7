/**
 * Files that people send: the id is looked up, and what the answer points at is fetched.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/business-phone-numbers/media
 */
import { type FeatureContext, type FetchResult, type Media, SvcError } from "@svc/contract";
import type { CloudConfig } from "./config.ts";
import { typeOf } from "./content.ts";
import { type Fields, textOf } from "./fields.ts";
import { MAX_MEDIA_BYTES } from "./files.ts";
import type { GraphApi } from "./graph.ts";

const TIMEOUT_MS = 120_000;

export function inboundMedia(graph: GraphApi, config: CloudConfig, fetch: FeatureContext["fetch"]): Media["fetch"] {
  const { apiUrl, accessToken, phoneNumberId } = config;
  return async ({ ref }, write, signal) => {
    // It becomes a path of the API, and whoever made the delivery chose it.
    if (!/^[A-Za-z0-9_-]{1,256}$/.test(ref)) throw refused("The file's id is none of the platform's.");
    const info = await graph.find(ref, { phone_number_id: phoneNumberId }, signal).catch(asMediaError);
    const { url, mimeType } = described(info, apiUrl);
    const answer = await fetch(url, {
      headers: { authorization: `Bearer ${accessToken}` },
      maxBytes: MAX_MEDIA_BYTES,
      write,
      redirects: "same-host",
      timeoutMs: TIMEOUT_MS,
      signal,
    }).catch(asMediaError);
    checkAnswer(answer, mimeType);
    return mimeType === undefined ? {} : { mimeType };
  };
}

/** Throws MEDIA_REFUSED for what must not or can't be fetched. */
function described(info: Fields | undefined, apiUrl: string): { url: string; mimeType: string | undefined } {
  const url = textOf(info?.["url"]);
  if (info === undefined || url === undefined)
    throw refused("The file is gone; the platform keeps one for seven days.");
  const size = Number(info["file_size"] ?? 0);
  if (size > MAX_MEDIA_BYTES) throw tooLarge();
  if (!isPlatforms(url, apiUrl)) throw refused("The platform points at a host that is not its own.");
  return { url, mimeType: typeOf(info["mime_type"]) };
}

/** The token goes along: nobody else may be asked. Exempt is the API itself, which may be a proxy. */
function isPlatforms(text: string, apiUrl: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (url.origin === new URL(apiUrl).origin) return true;
  return url.protocol === "https:" && url.port === "" && PLATFORM_HOST.test(url.hostname);
}

/** It names lookaside.fbsbx.com today. */
const PLATFORM_HOST = /(?:^|\.)(?:fbsbx\.com|fbcdn\.net|whatsapp\.net)$/;

function checkAnswer({ status, headers, truncated }: FetchResult, mimeType: string | undefined): void {
  if (status === 404 || status === 410) throw refused("The file is gone; the platform keeps one for seven days.");
  if (status === 401 || status === 403) throw new SvcError("CHANNEL_UNAUTHORIZED");
  if (status < 200 || status > 299) {
    throw new SvcError("REMOTE_UNREACHABLE", `The platform answered with status ${status} when asked for a file.`);
  }
  if (truncated) throw tooLarge();
  // An error page that comes with 200 would be saved as somebody's picture.
  const isPage = typeOf(headers["content-type"]) === "text/html" && mimeType !== "text/html";
  if (isPage) throw new SvcError("REMOTE_UNREACHABLE", "The platform answered with a page when asked for a file.");
}

/** Errors of sending and of the client, as those of fetching a file. */
function asMediaError(error: unknown): never {
  if (!(error instanceof SvcError)) throw error;
  const { code, message, retryAfterMs } = error;
  if (code === "DELIVERY_REFUSED" || code === "ADDRESS_REFUSED") throw refused(message, error);
  if (code !== "DELIVERY_FAILED") throw error;
  throw new SvcError("REMOTE_UNREACHABLE", message, {
    cause: error,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

const refused = (message: string, cause?: unknown): SvcError => new SvcError("MEDIA_REFUSED", message, { cause });
const tooLarge = (): SvcError => refused(`The file is larger than ${MAX_MEDIA_BYTES / 1_048_576} MiB.`);

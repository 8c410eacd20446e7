/**
 * Files that people send, in two steps: the id is looked up, and what it leads to is fetched. The URL of a file has the token
 * in it: it is in no error and no line of the log.
 * https://core.telegram.org/bots/api#getfile
 */
import { type FeatureContext, type Media, SvcError } from "@svc/contract";
import { downloadMedia, pathPart } from "@svc/kit";
import type { BotApi } from "../api/bot-api.ts";
import type { Config } from "../config.ts";
import { fieldsOf, textOf } from "../fields.ts";
import { MAX_FILE_BYTES } from "../outgoing/files.ts";

export function mediaFetch(
  api: BotApi,
  { config, fetch, clock }: Pick<FeatureContext<Config>, "config" | "fetch" | "clock">,
): Media["fetch"] {
  return async ({ ref }, write, signal) => {
    if (!/^[\w-]{1,512}$/.test(ref)) throw refused("The file's id is none of the platform's.");
    const file = fieldsOf(await api.call((raw, s) => raw.getFile({ file_id: ref }, s), signal).catch(asMediaError));
    const { mimeType } = await downloadMedia(fetch, {
      url: `${config.api_url}/file/bot${config.bot_token}/${pathOf(textOf(file["file_path"]))}`,
      maxBytes: MAX_FILE_BYTES,
      redirects: "same-host",
      write,
      signal,
      nowMs: clock.now(),
    });
    // The platform says this of every file; what the message said of it is better.
    return mimeType === undefined || mimeType === "application/octet-stream" ? {} : { mimeType };
  };
}

/** Below the platform's own folder. A server of one's own that keeps files to itself names a path of its machine. */
function pathOf(path: string | undefined): string {
  if (path === undefined) throw new SvcError("REMOTE_UNREACHABLE", "The platform does not say where the file is.");
  if (path.startsWith("/")) {
    throw refused("The server keeps files to itself.", "Run your Bot API server without --local.");
  }
  return path
    .split("/")
    .map((part) => pathPart(part, "MEDIA_REFUSED"))
    .join("/");
}

/** Errors of sending, as those of fetching a file. */
function asMediaError(error: unknown): never {
  if (!(error instanceof SvcError)) throw error;
  const { code, message, hint, retryAfterMs } = error;
  // The API redirects to somewhere else.
  if (code === "DELIVERY_REFUSED" || code === "ADDRESS_REFUSED") throw refused(message, hint);
  if (code !== "DELIVERY_FAILED") throw error;
  throw new SvcError("REMOTE_UNREACHABLE", message, { ...(retryAfterMs !== undefined && { retryAfterMs }) });
}

const refused = (message: string, hint?: string): SvcError =>
  new SvcError("MEDIA_REFUSED", message, { ...(hint !== undefined && { hint }) });

/**
 * Files that people send: looked up by their id, and fetched from where the platform says, with the bot's token.
 * https://docs.slack.dev/reference/methods/files.info
 */
import { type FeatureContext, type Media, SvcError } from "@svc/contract";
import { downloadMedia } from "@svc/kit";
import type { WebApi } from "./api/web-api.ts";
import type { Config } from "./config.ts";
import { type Fields, fieldsOf, textOf } from "./fields.ts";
import { fileId } from "./ids.ts";
import { mimeTypeOf } from "./inbound/files.ts";
import { MAX_MEDIA_BYTES } from "./outbound/uploads.ts";
import { isPlatforms } from "./platform-host.ts";

type Surroundings = Pick<FeatureContext, "clock" | "fetch">;

export function mediaFetcher(
  api: WebApi,
  { api_url: apiUrl, bot_token: token }: Pick<Config, "api_url" | "bot_token">,
  { clock, fetch }: Surroundings,
): Media["fetch"] {
  return async ({ ref }, write, signal) => {
    const file = fileId(ref);
    if (file === undefined) throw refused("The file's id is none of Slack's.");
    const answer = await api.call("files.info", { file }, signal).catch(asMediaError);
    const { url, mimeType } = described(fieldsOf(answer["file"]), apiUrl);
    const fetched = await downloadMedia(fetch, {
      url,
      headers: { authorization: `Bearer ${token}` },
      maxBytes: MAX_MEDIA_BYTES,
      redirects: "same-host",
      write,
      signal,
      nowMs: clock.now(),
    });
    // Who may not read files is sent to a page, which would be saved as somebody's picture.
    if (fetched.mimeType === "text/html" && mimeType !== "text/html") {
      throw new SvcError("REMOTE_UNREACHABLE", "Slack answered with a page when asked for a file.", {
        hint: "Does the app have the scope files:read?",
      });
    }
    return mimeType === undefined ? fetched : { mimeType };
  };
}

/** Throws MEDIA_REFUSED for what must not or can't be fetched. */
function described(file: Fields, apiUrl: string): { url: string; mimeType: string | undefined } {
  const { size, mimetype } = file;
  const url = textOf(file["url_private_download"]) ?? textOf(file["url_private"]);
  if (url === undefined) throw refused("The file is gone.");
  if (typeof size === "number" && size > MAX_MEDIA_BYTES) {
    throw refused(`The file is larger than ${MAX_MEDIA_BYTES / 1_048_576} MiB.`);
  }
  // The token goes along: nobody else may be asked.
  if (!isPlatforms(url, apiUrl)) throw refused("Slack points at a host that is not its own.");
  return { url, mimeType: mimeTypeOf(mimetype) };
}

/** Errors of sending, as those of fetching a file. */
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

const refused = (message: string, cause?: unknown): SvcError =>
  new SvcError("MEDIA_REFUSED", message, cause === undefined ? {} : { cause });

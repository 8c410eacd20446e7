/** Files that people send, and files on their way out. */
import { type FeatureContext, type Media, type OutgoingFile, SvcError } from "@svc/contract";
import { downloadMedia, retryAfterMs } from "@svc/kit";
import type { Config } from "./config.ts";
import { mimeTypeOf } from "./events.ts";
import { type Fields, fieldsOf, fileId, textOf } from "./protocol.ts";
import type { WebApi } from "./web-api.ts";

// Outgoing files: request an upload URL, upload each file, then share all of them at once.
// https://docs.slack.dev/messaging/working-with-files#uploading_files

/** The platform takes a gigabyte; here they are whole in memory. */
export const MAX_MEDIA_BYTES = 26_214_400;
const TIME_LIMIT_MS = 120_000;

export interface Uploaded {
  readonly id: string;
  readonly title: string;
}

export interface Uploads {
  /** No one sees them yet. `refusal`: why one of them can't be sent. */
  upload(
    files: readonly OutgoingFile[],
    signal: AbortSignal,
  ): Promise<{ readonly uploaded: readonly Uploaded[]; readonly refusal: SvcError | undefined }>;
  share(
    files: readonly Uploaded[],
    where: { readonly place: string; readonly thread: string | undefined },
    signal: AbortSignal,
  ): Promise<void>;
}

type UploadDeps = Pick<FeatureContext, "fetch" | "clock">;

export function uploadsOf(api: WebApi, apiUrl: string, context: UploadDeps): Uploads {
  return {
    async upload(files, signal) {
      const uploaded: Uploaded[] = [];
      let refusal: SvcError | undefined;
      for (const file of files) {
        try {
          uploaded.push(await uploadFile(api, apiUrl, context, file, signal));
        } catch (error) {
          if (!(error instanceof SvcError) || error.code !== "DELIVERY_REFUSED") throw error;
          refusal ??= error;
        }
      }
      return { uploaded, refusal };
    },
    async share(files, { place, thread }, signal) {
      const list = files.map(({ id, title }) => ({ id, title }));
      const where = { channel_id: place, ...(thread !== undefined && { thread_ts: thread }) };
      await api.call("files.completeUploadExternal", { files: list, ...where }, signal);
    },
  };
}

async function uploadFile(
  api: WebApi,
  apiUrl: string,
  { fetch, clock }: UploadDeps,
  { name, read }: OutgoingFile,
  signal: AbortSignal,
): Promise<Uploaded> {
  const bytes = await read();
  if (bytes.byteLength > MAX_MEDIA_BYTES) throw refused("The file is larger than 25 MiB.");
  if (bytes.byteLength === 0) throw refused("The file is empty, and Slack takes no empty file.");
  const title = name.trim() === "" ? "file" : name;
  const place = await api.call("files.getUploadURLExternal", { filename: title, length: bytes.byteLength }, signal);
  const url = textOf(place["upload_url"]);
  const id = fileId(place["file_id"]);
  if (url === undefined || id === undefined || !isPlatforms(url, apiUrl)) {
    throw new SvcError("DELIVERY_FAILED", "Slack returned no upload URL on its own hosts.");
  }
  // The link is the permission: a token along with it would be one server more that has it.
  const { status, headers } = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/octet-stream" },
    body: bytes,
    redirects: "same-host",
    timeoutMs: TIME_LIMIT_MS,
    signal,
  });
  if (status !== 200) throw uploadError(status, retryAfterMs(headers["retry-after"], clock.now()));
  return { id, title };
}

function uploadError(status: number, waitMs: number | undefined): SvcError {
  if (status === 401 || status === 403) {
    return new SvcError("CHANNEL_UNAUTHORIZED", `Slack answered with status ${status} to a file.`);
  }
  const isFinal = status >= 400 && status <= 499 && ![408, 425, 429].includes(status);
  return new SvcError(
    isFinal ? "DELIVERY_REFUSED" : "DELIVERY_FAILED",
    `Slack answered with status ${status} to a file.`,
    {
      ...(waitMs !== undefined && !isFinal && { retryAfterMs: waitMs }),
    },
  );
}

const refused = (message: string): SvcError => new SvcError("DELIVERY_REFUSED", message);

/**
 * Files that people send: looked up by their id, and fetched from where the platform says, with the bot's token.
 * https://docs.slack.dev/reference/methods/files.info
 */
type FetchDeps = Pick<FeatureContext, "clock" | "fetch">;

export function mediaFetcher(
  api: WebApi,
  { api_url: apiUrl, bot_token: token }: Pick<Config, "api_url" | "bot_token">,
  { clock, fetch }: FetchDeps,
): Media["fetch"] {
  return async ({ ref }, write, signal) => {
    const file = fileId(ref);
    if (file === undefined) throw unfetchable("The file's id is not a Slack id.");
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
    // Who may not read files is sent to a page, which would be saved as someone's picture.
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
  if (url === undefined) throw unfetchable("The file is gone.");
  if (typeof size === "number" && size > MAX_MEDIA_BYTES) {
    throw unfetchable(`The file is larger than ${MAX_MEDIA_BYTES / 1_048_576} MiB.`);
  }
  // The token goes along: no one else may be asked.
  if (!isPlatforms(url, apiUrl)) throw unfetchable("Slack points at a host that is not its own.");
  return { url, mimeType: mimeTypeOf(mimetype) };
}

/** Errors of sending, as those of fetching a file. */
function asMediaError(error: unknown): never {
  if (!(error instanceof SvcError)) throw error;
  const { code, message, retryAfterMs } = error;
  if (code === "DELIVERY_REFUSED" || code === "ADDRESS_REFUSED") throw unfetchable(message, error);
  if (code !== "DELIVERY_FAILED") throw error;
  throw new SvcError("REMOTE_UNREACHABLE", message, {
    cause: error,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

const unfetchable = (message: string, cause?: unknown): SvcError =>
  new SvcError("MEDIA_REFUSED", message, cause === undefined ? {} : { cause });

/**
 * Whether a link that the platform hands out leads to the platform: to its host of files, or to where its API is, which may be a
 * proxy.
 */
function isPlatforms(text: string, apiUrl: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") return false;
  return url.origin === new URL(apiUrl).origin || (url.origin === `https://${FILES_HOST}` && url.port === "");
}

const FILES_HOST = "files.slack.com";

/**
 * Files on their way out: a link is asked for, the file goes there, and all of them are shared at once.
 * https://docs.slack.dev/messaging/working-with-files#uploading_files
 */
import { type FeatureContext, type OutgoingFile, SvcError } from "@svc/contract";
import { retryAfterMs } from "@svc/kit";
import type { WebApi } from "../api/web-api.ts";
import { textOf } from "../fields.ts";
import { fileId } from "../ids.ts";
import { isPlatforms } from "../platform-host.ts";

/** The platform takes a gigabyte; here they are whole in memory. */
export const MAX_MEDIA_BYTES = 26_214_400;
const TIME_LIMIT_MS = 120_000;

export interface Uploaded {
  readonly id: string;
  readonly title: string;
}

export interface Uploads {
  /** Nobody sees them yet. `refusal`: why one of them can't be sent. */
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

type Surroundings = Pick<FeatureContext, "fetch" | "clock">;

export function uploadsOf(api: WebApi, apiUrl: string, context: Surroundings): Uploads {
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
  { fetch, clock }: Surroundings,
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
    throw new SvcError("DELIVERY_FAILED", "Slack told no place of its own to put a file.");
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

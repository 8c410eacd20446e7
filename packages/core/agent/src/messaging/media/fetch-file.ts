/** One file that came with a message, from the platform into the workspace: piece by piece, and no larger than allowed. */
import { type Clock, type InboundMedia, type Media, SvcError, type Workspace } from "@svc/contract";
import { within } from "../within.ts";

export interface FileFetch {
  readonly media: Media;
  readonly file: InboundMedia;
  readonly workspace: Workspace;
  /** Below the workspace. */
  readonly path: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const TRIES = 3;
const FIRST_REST_MS = 1_000;
/** Who asks for more is not waited for: somebody waits for an answer. */
const LONGEST_REST_MS = 15_000;
/** Of one try. */
const LIMIT_MS = 180_000;

/** Throws MEDIA_REFUSED, CHANNEL_UNAUTHORIZED, REMOTE_*, or what the workspace throws; an abort with the signal's reason. */
export async function fetchFile(fetch: FileFetch): Promise<void> {
  const { clock, signal } = fetch;
  for (let tries = 1; ; tries += 1) {
    try {
      return await fetchOnce(fetch);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof SvcError) || !mayPass(error) || tries === TRIES) throw error;
      await clock.sleep(Math.min(LONGEST_REST_MS, error.retryAfterMs ?? FIRST_REST_MS * 2 ** (tries - 1)), signal);
    }
  }
}

const mayPass = ({ code }: SvcError): boolean => code.startsWith("REMOTE_") || code === "DELIVERY_FAILED";

async function fetchOnce({ media, file, workspace, path, clock, signal }: FileFetch): Promise<void> {
  const limit = new AbortController();
  const cancel = clock.after(LIMIT_MS, () => limit.abort(new SvcError("REMOTE_TIMEOUT")));
  const until = AbortSignal.any([signal, limit.signal]);
  let size = 0;
  const fill = (write: (chunk: Uint8Array) => Promise<void>): Promise<unknown> => {
    const capped = async (chunk: Uint8Array): Promise<void> => {
      size += chunk.byteLength;
      if (size > media.maxBytes) throw new SvcError("MEDIA_REFUSED", "The file is larger than the channel's limit.");
      await write(chunk);
    };
    return within(until, () => media.fetch(file, capped, until));
  };
  try {
    await workspace.write(path, fill, "replace");
  } catch (error) {
    if (until.aborted) throw until.reason;
    throw error;
  } finally {
    cancel();
  }
}

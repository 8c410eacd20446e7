/** The files of a message, each as a text for the model: where it is stored, what is said in it, or that it could not be fetched. */
import {
  type Channel,
  type Clock,
  type FetchOptions,
  type FetchResult,
  type InboundMedia,
  type Logger,
  type Media,
  SvcError,
  type Workspace,
} from "@svc/contract";
import { retryDelayMs, unlessAborted, withDeadline } from "@svc/kit/async";
import { type WhileReleased, incomingId } from "../attempt.ts";
import type { TranscriptionSettings } from "../types.ts";
import type { SpeechPermits } from "../speech/speech.ts";
import type { RunProgram } from "../speech/backends.ts";
import { tooLarge, transcribe } from "../speech/transcribe.ts";
import { NOT_TRANSCRIBED, mediaPath, transcriptText } from "@svc/agent";

export interface IncomingFilesDeps {
  readonly transcriber: SpeechPermits;
  /** The HTTP client for the service that transcribes. */
  readonly fetch: (url: string, options?: FetchOptions) => Promise<FetchResult>;
  readonly runProgram: RunProgram;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface FilesRequest {
  readonly channel: Channel;
  readonly workspace: Workspace | undefined;
  readonly transcription: TranscriptionSettings | undefined;
  readonly signal: AbortSignal;
  readonly whileReleased: WhileReleased;
  /** Of the message. */
  readonly n: number;
  readonly receivedAtMs: number;
  /** An earlier attempt may have fetched some of them. */
  readonly isAgain: boolean;
}

export interface Placed {
  readonly placeholder: string;
  /** What comes in its place. */
  readonly text: string;
}

/** Of all files of a message, their transcription included: a hundred, each fetched three times in vain, would take a day. */
const ALL_LIMIT_MS = 600_000;

/** One after the other. Rejects only with the signal's reason: a message is answered without a file that can't be had. */
export async function incomingFiles(
  deps: IncomingFilesDeps,
  request: FilesRequest,
  media: readonly InboundMedia[],
): Promise<Placed[]> {
  const limit = { clock: deps.clock, timeoutMs: ALL_LIMIT_MS, signal: request.signal, error: tooLate };
  return withDeadline(limit, async (until) => {
    const placed: Placed[] = [];
    for (const [place, file] of media.entries()) {
      placed.push({ placeholder: file.placeholder, text: await textOf(deps, { ...request, until }, file, place) });
    }
    return placed;
  });
}

const tooLate = (): SvcError => new SvcError("REMOTE_TIMEOUT");

interface Fetching extends FilesRequest {
  readonly until: AbortSignal;
}

async function textOf(deps: IncomingFilesDeps, request: Fetching, file: InboundMedia, place: number): Promise<string> {
  const label = file.kind.toUpperCase();
  const path = await fetched(deps, request, file, place);
  if (path === undefined) return `[${label}: could not be fetched]`;
  const marker = `[${label}:${path}]`;
  const { transcription } = request;
  return file.kind === "audio" && transcription
    ? `${marker}\n${await transcribed(deps, request, transcription, file, path)}`
    : marker;
}

/** Where it is now; undefined: nowhere. */
async function fetched(
  deps: IncomingFilesDeps,
  request: Fetching,
  file: InboundMedia,
  place: number,
): Promise<string | undefined> {
  const { channel, workspace, signal, whileReleased, until, n, receivedAtMs, isAgain } = request;
  try {
    const { media } = channel;
    if (!media) throw new SvcError("CHANNEL_CANNOT", "This channel can't fetch files.");
    if (!workspace) throw new SvcError("AGENT_UNKNOWN");
    const path = await mediaPath(file, n, place, receivedAtMs);
    if (isAgain && (await isThere(workspace, path))) return path;
    await whileReleased(() => fetchFile({ media, file, workspace, path, clock: deps.clock, signal: until }));
    return path;
  } catch (error) {
    signal.throwIfAborted();
    note(deps, n, "a file that came with a message could not be fetched", error);
    return undefined;
  }
}

const isThere = (workspace: Workspace, path: string): Promise<boolean> =>
  workspace.read(path, 0).then(
    () => true,
    () => false,
  );

async function transcribed(
  { fetch, runProgram, clock, transcriber, log }: IncomingFilesDeps,
  { workspace, signal, until, whileReleased, n }: Fetching,
  settings: TranscriptionSettings,
  file: InboundMedia,
  path: string,
): Promise<string> {
  const work = async (): Promise<string> => {
    const { bytes, truncated } = await workspace!.read(path, settings.maxBytes);
    if (truncated) throw tooLarge();
    const name = path.slice(path.lastIndexOf("/") + 1);
    const mimeType = file.mimeType?.split(";")[0]!.trim() || (await mediaTypeOf(path));
    return transcribe({ fetch, runProgram, clock, signal: until }, settings, { name, mimeType, bytes });
  };
  try {
    return transcriptText(await whileReleased(() => transcriber.whenFree(work, until)));
  } catch (error) {
    signal.throwIfAborted();
    note({ log }, n, "a recording could not be transcribed", error);
    return NOT_TRANSCRIBED;
  }
}

/** Only an SvcError's message: any other may quote the platform. */
function note({ log }: Pick<IncomingFilesDeps, "log">, n: number, message: string, error: unknown): void {
  const known = error instanceof SvcError;
  const reason = known ? error.message : error instanceof Error ? error.name : typeof error;
  log.warn(message, { messageId: incomingId(n), code: known ? error.code : undefined, reason });
}

interface FileFetch {
  readonly media: Media;
  readonly file: InboundMedia;
  readonly workspace: Workspace;
  /** Below the workspace. */
  readonly path: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const TRIES = 3;
/** A platform that asks for a longer delay is not waited for: the sender waits for an answer. */
const BACKOFF = { firstMs: 1_000, longestMs: 15_000 } as const;
/** Of one try. */
const TRY_LIMIT_MS = 180_000;

/** Throws MEDIA_REFUSED, CHANNEL_UNAUTHORIZED, REMOTE_*, or what the workspace throws; an abort with the signal's reason. */
async function fetchFile(fetch: FileFetch): Promise<void> {
  const { clock, signal } = fetch;
  for (let tries = 1; ; tries += 1) {
    try {
      return await fetchOnce(fetch);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof SvcError) || !mayPass(error) || tries === TRIES) throw error;
      const askedMs = Math.min(error.retryAfterMs ?? 0, BACKOFF.longestMs);
      await clock.sleep(retryDelayMs(tries, BACKOFF, { askedMs }), signal);
    }
  }
}

const mayPass = ({ code }: SvcError): boolean => code.startsWith("REMOTE_") || code === "DELIVERY_FAILED";

async function fetchOnce({ media, file, workspace, path, clock, signal }: FileFetch): Promise<void> {
  let size = 0;
  await withDeadline({ clock, timeoutMs: TRY_LIMIT_MS, signal, error: tooLate }, async (until) => {
    const fill = (write: (chunk: Uint8Array) => Promise<void>): Promise<unknown> => {
      const capped = async (chunk: Uint8Array): Promise<void> => {
        size += chunk.byteLength;
        if (size > media.maxBytes) throw new SvcError("MEDIA_REFUSED", "The file is larger than the channel's limit.");
        await write(chunk);
      };
      return unlessAborted(() => media.fetch(file, capped, until), until);
    };
    await workspace.write(path, fill, "replace");
  });
}

/** The text with its files in place of their placeholders. One after the other, so that what was put in is not looked at again; what has no place in the text comes behind it. */
export function withMedia(text: string, media: readonly Placed[]): string {
  let done = "";
  let rest = text;
  const behind: string[] = [];
  for (const { placeholder, text: placed } of media) {
    const at = placeholder === "" ? -1 : rest.indexOf(placeholder);
    if (at === -1) {
      behind.push(placed);
      continue;
    }
    done += rest.slice(0, at) + placed;
    rest = rest.slice(at + placeholder.length);
  }
  return [done + rest, ...behind].filter((part) => part.trim() !== "").join("\n");
}

/** The library's tables take 16 ms to evaluate: only a service that sends files pays for them. */
export async function mediaTypeOf(fileName: string): Promise<string> {
  const { default: mime } = await import("mime");
  return mime.getType(fileName) ?? "application/octet-stream";
}

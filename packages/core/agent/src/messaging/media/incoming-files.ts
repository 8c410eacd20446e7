/** The files of a message, each as the model is told of it: where it is kept, what was said in it, or that it is not there. */
import type { Channel, Clock, FetchOptions, FetchResult, InboundMedia, Logger, Workspace } from "@svc/contract";
import { SvcError } from "@svc/contract";
import type { Aside } from "../inbox/asides.ts";
import { mediaTypeOf } from "../media-type.ts";
import type { SpeechPlaces } from "../speech/places.ts";
import type { RunProgram } from "../speech/program.ts";
import { NOT_TRANSCRIBED, tooLarge, transcribe, transcriptText } from "../speech/transcribe.ts";
import type { TranscriptionSettings } from "../types.ts";
import { fetchFile } from "./fetch-file.ts";
import { mediaPath } from "./file-name.ts";
import type { Placed } from "./placeholders.ts";

export interface IncomingFiles {
  readonly channel: Channel;
  readonly workspace: Workspace | undefined;
  readonly transcription: TranscriptionSettings | undefined;
  readonly transcriber: SpeechPlaces;
  /** The way out to the service that transcribes. */
  readonly fetch: (url: string, options?: FetchOptions) => Promise<FetchResult>;
  readonly runProgram: RunProgram;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Waits for others' servers without holding up anybody's turn. */
  readonly aside: Aside;
  /** Of the message. */
  readonly n: number;
  readonly receivedAtMs: number;
  /** An earlier attempt may have fetched some of them. */
  readonly isAgain: boolean;
}

/** One after the other. Rejects only with the signal's reason: a message is answered without a file that can't be had. */
export async function incomingFiles(parts: IncomingFiles, media: readonly InboundMedia[]): Promise<Placed[]> {
  const limit = new AbortController();
  const cancel = parts.clock.after(LIMIT_MS, () => limit.abort(new SvcError("REMOTE_TIMEOUT")));
  const until = AbortSignal.any([parts.signal, limit.signal]);
  try {
    const placed: Placed[] = [];
    for (const [place, file] of media.entries()) {
      placed.push({ placeholder: file.placeholder, text: await told({ ...parts, until }, file, place) });
    }
    return placed;
  } finally {
    cancel();
  }
}

/** Of all files of a message, what is said in them included. A hundred, each fetched three times in vain, would take until tomorrow. */
const LIMIT_MS = 600_000;

interface Files extends IncomingFiles {
  readonly until: AbortSignal;
}

async function told(parts: Files, file: InboundMedia, place: number): Promise<string> {
  const label = file.kind.toUpperCase();
  const path = await fetched(parts, file, place);
  if (path === undefined) return `[${label}: could not be fetched]`;
  const marker = `[${label}:${path}]`;
  const { transcription } = parts;
  return file.kind === "audio" && transcription
    ? `${marker}\n${await heard(parts, transcription, file, path)}`
    : marker;
}

/** Where it is now; undefined: nowhere. */
async function fetched(parts: Files, file: InboundMedia, place: number): Promise<string | undefined> {
  const { channel, workspace, clock, signal, aside, until, n, receivedAtMs, isAgain } = parts;
  try {
    const { media } = channel;
    if (!media) throw new SvcError("CHANNEL_CANNOT", "This channel can't fetch files.");
    if (!workspace) throw new SvcError("AGENT_UNKNOWN");
    const path = await mediaPath(file, n, place, receivedAtMs);
    if (isAgain && (await isThere(workspace, path))) return path;
    await aside(() => fetchFile({ media, file, workspace, path, clock, signal: until }));
    return path;
  } catch (error) {
    signal.throwIfAborted();
    note(parts, "a file that came with a message could not be fetched", error);
    return undefined;
  }
}

const isThere = (workspace: Workspace, path: string): Promise<boolean> =>
  workspace.read(path, 0).then(
    () => true,
    () => false,
  );

async function heard(parts: Files, settings: TranscriptionSettings, file: InboundMedia, path: string): Promise<string> {
  const { fetch, runProgram, clock, signal, until, aside, transcriber } = parts;
  const transcribed = async (): Promise<string> => {
    const { bytes, truncated } = await parts.workspace!.read(path, settings.maxBytes);
    if (truncated) throw tooLarge();
    const name = path.slice(path.lastIndexOf("/") + 1);
    const mimeType = file.mimeType?.split(";")[0]!.trim() || (await mediaTypeOf(path));
    return transcribe({ fetch, runProgram, clock, signal: until }, settings, { name, mimeType, bytes });
  };
  try {
    return transcriptText(await aside(() => transcriber.whenFree(transcribed, until)));
  } catch (error) {
    signal.throwIfAborted();
    note(parts, "a recording could not be transcribed", error);
    return NOT_TRANSCRIBED;
  }
}

/** An error that is none of ours may quote the platform. */
function note({ log, n }: IncomingFiles, message: string, error: unknown): void {
  const known = error instanceof SvcError;
  const reason = known ? error.message : error instanceof Error ? error.name : typeof error;
  log.warn(message, { messageId: `in-${n}`, code: known ? error.code : undefined, reason });
}

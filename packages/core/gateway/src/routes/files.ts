/** Files that come with messages, and recordings to transcribe. Nothing that a client says of a file is believed. */
import {
  type Attachments,
  isRasterImage,
  MAX_FILE_BYTES,
  MAX_UNSENT,
  RASTER_TYPES,
  type SessionInfo,
  sniffType,
} from "@svc/agent";
import { FileDeleted, FileHeaders, FileInfo, name, Transcript } from "@svc/api";
import { type Speech, SvcError } from "@svc/contract";
import * as v from "valibot";
import { MEMORY_FULL, type MemoryBudget, readBody, streamBody } from "../http/request.ts";
import { errorReply, Reply } from "../http/reply.ts";
import { type ApiRequest, apiRoute, type ApiRoute, type ApiSpec, respond } from "./route.ts";

const MIB = 1_048_576;

const UPLOAD = {
  method: "POST",
  path: "/api/files",
  access: "operate",
  summary: "Uploads a file, to be sent with a message.",
  bytes: "The file, with any content type.",
  details: `A file has at most ${MAX_FILE_BYTES / MIB} MiB. A client may have ${MAX_UNSENT} files that are not sent; they expire after a day.`,
  headers: FileHeaders,
  answers: { 201: { description: "The file is on disk.", body: FileInfo } },
  errors: ["TOO_LARGE", "FILE_LIMIT", "BUSY", "STORE_FULL", "STORE_FAILED"],
} satisfies ApiSpec;

const DISCARD = {
  method: "DELETE",
  path: "/api/files/{id}",
  access: "operate",
  summary: "Removes an uploaded file that was not sent.",
  params: { id: name("The file's id.") },
  answers: { 200: { description: "It is gone.", body: FileDeleted } },
  errors: ["FILE_UNKNOWN", "STORE_FULL", "STORE_FAILED"],
} satisfies ApiSpec;

const OPEN = {
  method: "GET",
  path: "/api/sessions/{id}/files/{file}",
  access: "read",
  summary: "Answers a file that came with a message of a conversation.",
  details: "Pictures without scripts in them may be shown; everything else is a file to save.",
  params: { id: name("The conversation's id."), file: name("The file's id.") },
  answers: {
    200: {
      description: "The file as it is in the workspace now.",
      type: "application/octet-stream",
      moreTypes: RASTER_TYPES,
      body: v.string(),
      headers: { "Content-Disposition": v.pipe(v.string(), v.description("With the name of the file.")) },
    },
  },
  errors: ["SESSION_UNKNOWN", "FILE_UNKNOWN", "TOOL_FAILED"],
} satisfies ApiSpec;

const TRANSCRIBE = {
  method: "POST",
  path: "/api/transcriptions",
  access: "operate",
  summary: "Transcribes a recording with the service of [transcription].",
  bytes: "The recording, with any content type.",
  details: `The limit is transcription.max_bytes, at most ${MAX_FILE_BYTES / MIB} MiB. Audio and video are accepted. The recording is not stored.`,
  answers: {
    200: { description: "The text; blank for a recording without speech.", body: Transcript },
  },
  errors: ["TOO_LARGE", "BUSY", "TRANSCRIPTION_OFF", "TRANSCRIPTION_FAILED"],
} satisfies ApiSpec;

export const FILE_SPECS = [UPLOAD, DISCARD, OPEN, TRANSCRIBE];

export interface FileRouteDeps {
  readonly attachments: Pick<Attachments, "receive" | "discard" | "read" | "sweep">;
  readonly speech: Pick<Speech, "canTranscribe" | "transcribe">;
  /** Recordings come in here. */
  readonly bodies: { readonly memory: MemoryBudget };
}

/** `find`: throws SESSION_UNKNOWN. */
export function fileRoutes(deps: FileRouteDeps, find: (request: ApiRequest) => SessionInfo): ApiRoute[] {
  const { attachments } = deps;
  return [
    apiRoute(UPLOAD, (request) => upload(deps, request)),
    apiRoute(DISCARD, async ({ device, params }) => {
      const id = params["id"] ?? "";
      if (!(await attachments.discard(device.clientId, id))) throw new SvcError("FILE_UNKNOWN");
      return respond(DISCARD, 200, { id, deleted: true });
    }),
    apiRoute(OPEN, async (request) => {
      const { clientId, name } = find(request);
      return fileReply(await attachments.read(request.params["file"] ?? "", clientId, name));
    }),
    apiRoute(TRANSCRIBE, (request) => transcribe(deps, request)),
  ];
}

async function upload({ attachments }: FileRouteDeps, { device, env }: ApiRequest): Promise<Reply> {
  const { incoming, outgoing } = env;
  const name = nameIn(incoming.headers["x-file-name"]);
  const file = await attachments.receive(device.clientId, name, (write) =>
    streamBody(incoming, outgoing, MAX_FILE_BYTES, write),
  );
  const { id, name: shown, type, size } = file;
  return respond(UPLOAD, 201, { id, name: shown, type, size });
}

function nameIn(header: string | string[] | undefined): string {
  if (typeof header !== "string") return "";
  try {
    return decodeURIComponent(header).toWellFormed();
  } catch {
    throw new SvcError("BAD_REQUEST", "X-File-Name must be percent-encoded UTF-8.");
  }
}

/** A file opened as a page runs no script in our origin, and no other site can read it. */
const ISOLATED: readonly string[] = [
  "content-security-policy",
  "default-src 'none'; sandbox; frame-ancestors 'none'",
  "cross-origin-resource-policy",
  "same-origin",
  "referrer-policy",
  "no-referrer",
];

function fileReply({ name, type, bytes }: { name: string; type: string; bytes: Uint8Array }): Reply {
  const isShown = isRasterImage(type);
  const plain = name.replaceAll(/[^A-Za-z0-9._ -]/g, "_");
  const named = `filename="${plain}"; filename*=UTF-8''${encodeURIComponent(name).replaceAll(/['()*]/g, escaped)}`;
  const disposition = `${isShown ? "inline" : "attachment"}; ${named}`;
  const shownType = isShown ? type : "application/octet-stream";
  return new Reply(200, shownType, bytes, ["content-disposition", disposition, ...ISOLATED]);
}

const escaped = (char: string): string => `%${char.charCodeAt(0).toString(16).toUpperCase()}`;

async function transcribe({ speech, bodies }: FileRouteDeps, { env }: ApiRequest): Promise<Reply> {
  if (!speech.canTranscribe) throw new SvcError("TRANSCRIPTION_OFF");
  const { incoming, outgoing } = env;
  const body = await readBody(incoming, outgoing, MAX_FILE_BYTES, bodies.memory);
  if (body === "too-large") return errorReply("TOO_LARGE");
  if (body === "memory-full") return MEMORY_FULL;
  if (body === "gone") return errorReply("BAD_REQUEST");
  if (outgoing.headersSent) return errorReply("UNAUTHORIZED");
  const mimeType = sniffType(body);
  // Browsers name no codec in it; what holds sound and film alike is taken, since the service looks for the sound.
  if (!/^(?:audio|video)\//.test(mimeType)) throw new SvcError("BAD_REQUEST", "The body is not a recording.");
  const gone = new AbortController();
  const hangUp = (): void => gone.abort(new SvcError("TRANSCRIPTION_FAILED"));
  outgoing.once("close", hangUp);
  try {
    const name = `recording.${mimeType.slice(mimeType.indexOf("/") + 1)}`;
    return respond(TRANSCRIBE, 200, { text: await speech.transcribe({ name, mimeType, bytes: body }, gone.signal) });
  } finally {
    outgoing.off("close", hangUp);
  }
}

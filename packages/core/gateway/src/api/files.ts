/** Files that come with messages, and recordings to be written down. Nothing that a client says of a file is believed. */
import { type Attachments, isRasterImage, MAX_FILE_BYTES, type SessionInfo, sniffType } from "@svc/agent";
import { type Speech, SvcError } from "@svc/contract";
import { readBody } from "../http/body.ts";
import type { MemoryRoom } from "../http/memory-room.ts";
import { errorReply, jsonReply, Reply } from "../http/reply.ts";
import { streamBody } from "../http/stream-body.ts";
import { NO_ROOM } from "../http/with-body.ts";
import type { ApiRequest, ApiRoute } from "./app.ts";
import * as spec from "./file-specs.ts";

export interface FileRouteDeps {
  readonly attachments: Pick<Attachments, "receive" | "discard" | "read" | "sweep">;
  readonly speech: Pick<Speech, "canTranscribe" | "transcribe">;
  /** Recordings come in here. */
  readonly bodies: { readonly room: MemoryRoom };
}

/** `find`: throws SESSION_UNKNOWN. */
export function fileRoutes(deps: FileRouteDeps, find: (request: ApiRequest) => SessionInfo): ApiRoute[] {
  const { attachments } = deps;
  return [
    { ...spec.UPLOAD, handle: (request) => upload(deps, request) },
    {
      ...spec.DISCARD,
      async handle({ device, params }) {
        const id = params["id"] ?? "";
        if (!(await attachments.discard(device.clientId, id))) throw new SvcError("FILE_UNKNOWN");
        return jsonReply(200, { id, deleted: true });
      },
    },
    {
      ...spec.OPEN,
      async handle(request) {
        const { clientId, name } = find(request);
        return fileReply(await attachments.read(request.params["file"] ?? "", clientId, name));
      },
    },
    { ...spec.TRANSCRIBE, handle: (request) => transcribe(deps, request) },
  ];
}

async function upload({ attachments }: FileRouteDeps, { device, env }: ApiRequest): Promise<Reply> {
  const { incoming, outgoing } = env;
  const name = nameIn(incoming.headers["x-file-name"]);
  const file = await attachments.receive(device.clientId, name, (write) =>
    streamBody(incoming, outgoing, MAX_FILE_BYTES, write),
  );
  const { id, name: shown, type, size } = file;
  return jsonReply(201, { id, name: shown, type, size });
}

function nameIn(header: string | string[] | undefined): string {
  if (typeof header !== "string") return "";
  try {
    return decodeURIComponent(header).toWellFormed();
  } catch {
    throw new SvcError("BAD_REQUEST", "X-File-Name must be percent-encoded UTF-8.");
  }
}

/** No script of such a file runs in our origin, and no other site gets to read it, even where somebody opens it as a page. */
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
  const body = await readBody(incoming, outgoing, MAX_FILE_BYTES, bodies.room);
  if (body === "too-large") return errorReply("TOO_LARGE");
  if (body === "no-room") return NO_ROOM;
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
    return jsonReply(200, { text: await speech.transcribe({ name, mimeType, bytes: body }, gone.signal) });
  } finally {
    outgoing.off("close", hangUp);
  }
}

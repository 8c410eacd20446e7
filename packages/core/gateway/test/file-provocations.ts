/** How the routes of files and of speech come to answer what the document says. */
import { type ErrorCode, SvcError } from "@svc/contract";
import { asked, type Provocation, type World } from "./world.ts";

export const FILE_ID = "00000000000000aa";
/** The head of a recording as a browser makes it. */
export const RECORDING = Buffer.from("OggS\0\x02 OpusHead", "latin1");
const TOO_MANY_BYTES = String(26 * 1_048_576);

export const FILE_REFUSALS: Readonly<Record<string, Partial<Record<ErrorCode, Provocation>>>> = {
  "POST /api/files": {
    TOO_LARGE: asked({ headers: { "content-length": TOO_MANY_BYTES } }),
    FILE_LIMIT: failing("FILE_LIMIT"),
    BUSY: failing("BUSY"),
    STORE_FULL: failing("STORE_FULL"),
    STORE_FAILED: failing("STORE_FAILED"),
  },
  "DELETE /api/files/{id}": {
    FILE_UNKNOWN: asked(),
    STORE_FULL: failing("STORE_FULL"),
    STORE_FAILED: failing("STORE_FAILED"),
  },
  "GET /api/sessions/{id}/files/{file}": { FILE_UNKNOWN: asked(), TOOL_FAILED: failing("TOOL_FAILED") },
  "POST /api/transcriptions": {
    TOO_LARGE: asked({ headers: { "content-length": TOO_MANY_BYTES } }),
    BUSY: asRecording((world) => (world.speech.fails = new SvcError("BUSY"))),
    TRANSCRIPTION_OFF: asRecording((world) => (world.speech.canTranscribe = false)),
    TRANSCRIPTION_FAILED: asRecording((world) => (world.speech.fails = new SvcError("TRANSCRIPTION_FAILED"))),
  },
};

export const FILE_SUCCESSES: Readonly<Record<string, Provocation>> = {
  "POST /api/files": asked({ body: "hello", headers: { "x-file-name": "a%20b.txt" } }),
  "DELETE /api/files/{id}": async (world) => {
    await world.start();
    const bytes = Buffer.from("x");
    const owner = "client-operator" as never;
    const upload = { id: FILE_ID, owner, name: "a", type: "text/plain", size: 1, at: 0, bytes };
    world.attachments.uploads.set(FILE_ID, upload);
    return world.ask({ path: `/api/files/${FILE_ID}` });
  },
  "GET /api/sessions/{id}/files/{file}": async (world) => {
    world.attachments.files.set(FILE_ID, { name: "a.txt", type: "text/plain", bytes: Buffer.from("hello") });
    return (await world.start()).ask({ path: `/api/sessions/mine/files/${FILE_ID}` });
  },
  "POST /api/transcriptions": asRecording(),
};

function failing(code: ErrorCode): Provocation {
  return async (world) => {
    world.attachments.fails = new SvcError(code);
    return (await world.start()).ask({ body: world.spec.method === "POST" ? "hello" : "" });
  };
}

function asRecording(prepare: (world: World) => void = () => {}): Provocation {
  return async (world) => {
    prepare(world);
    return (await world.start()).ask({ body: RECORDING });
  };
}

/** The routes of files that come with messages, and of speech, as data. */
import { MAX_FILE_BYTES, MAX_FILES, MAX_UNSENT, RASTER_TYPES } from "@svc/agent";
import { integer } from "@svc/contract";
import * as v from "valibot";
import type { ApiRoute } from "./app.ts";
import { name } from "./fields.ts";

type Spec = Omit<ApiRoute, "handle">;

const MIB = 1_048_576;

const FILE_ID = v.pipe(v.string(), v.regex(/^[0-9a-f]{16}$/));

/** Of a message: what comes with it. */
export const FILE_IDS = v.optional(
  v.pipe(
    v.array(FILE_ID),
    v.maxLength(MAX_FILES),
    v.description(
      `Ids of files that this client has uploaded, ${MAX_FILES} at most; with them the message may be blank.`,
    ),
  ),
);

/** Of a file that is shown with a message. */
export const FILE_ENTRIES = {
  id: v.string(),
  name: name("Without folders."),
  type: name("As the file's first bytes say, whatever its name or its sender says."),
  size: v.pipe(integer(0), v.description("Bytes.")),
};

const FILE = v.object(FILE_ENTRIES);

export const UPLOAD: Spec = {
  method: "POST",
  path: "/api/files",
  access: "operate",
  summary: "Uploads a file, to be sent with a message.",
  bytes: "The file, with any content type.",
  details: `A file has at most ${MAX_FILE_BYTES / MIB} MiB. A client may have ${MAX_UNSENT} files that are not sent; they expire after a day.`,
  headers: {
    "X-File-Name": v.optional(
      v.pipe(v.string(), v.description("Percent-encoded UTF-8. Only the part behind the last slash counts.")),
    ),
  },
  answers: { 201: { description: "The file is on disk.", body: FILE } },
  errors: ["TOO_LARGE", "FILE_LIMIT", "BUSY", "STORE_FULL", "STORE_FAILED"],
};

export const DISCARD: Spec = {
  method: "DELETE",
  path: "/api/files/{id}",
  access: "operate",
  summary: "Removes an uploaded file that was not sent.",
  params: { id: name("The file's id.") },
  answers: { 200: { description: "It is gone.", body: v.object({ id: v.string(), deleted: v.literal(true) }) } },
  errors: ["FILE_UNKNOWN", "STORE_FULL", "STORE_FAILED"],
};

export const OPEN: Spec = {
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
};

export const TRANSCRIBE: Spec = {
  method: "POST",
  path: "/api/transcriptions",
  access: "operate",
  summary: "Answers what is said in a recording, by the service of [transcription].",
  bytes: "The recording, with any content type.",
  details: `A recording has at most transcription.max_bytes and ${MAX_FILE_BYTES / MIB} MiB, and is sound or film. Nothing of it is kept.`,
  answers: { 200: { description: "Blank when nothing is said in it.", body: v.object({ text: v.string() }) } },
  errors: ["TOO_LARGE", "BUSY", "TRANSCRIPTION_OFF", "TRANSCRIPTION_FAILED"],
};

export const FILE_SPECS = [UPLOAD, DISCARD, OPEN, TRANSCRIBE];

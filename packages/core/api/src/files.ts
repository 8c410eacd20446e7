/** Files that come with messages, and recordings. */
import { integer } from "@svc/contract";
import * as v from "valibot";
import { name, type Output } from "./schema.ts";

/** Of one message. */
export const MAX_FILES = 20;

export const FileInfo = v.object({
  id: v.string(),
  name: name("Without folders."),
  type: name("Detected from the file's first bytes; its name and its sender's claim don't count."),
  size: v.pipe(integer(0), v.description("Bytes.")),
});
export type FileInfo = Output<typeof FileInfo>;

/** The attachments of a message. */
export const FileIds = v.exactOptional(
  v.pipe(
    v.array(v.pipe(v.string(), v.regex(/^[0-9a-f]{16}$/))),
    v.maxLength(MAX_FILES),
    v.description(
      `Ids of files that this client has uploaded, ${MAX_FILES} at most; with them the message may be blank.`,
    ),
  ),
);

export const FileHeaders = {
  "X-File-Name": v.optional(
    v.pipe(v.string(), v.description("Percent-encoded UTF-8. Only the part behind the last slash counts.")),
  ),
};

export const FileDeleted = v.object({ id: v.string(), deleted: v.literal(true) });
export type FileDeleted = Output<typeof FileDeleted>;

/** The text of a recording. */
export const Transcript = v.object({ text: v.string() });
export type Transcript = Output<typeof Transcript>;

/** `file_read`, `file_write`, `file_list`. The workspace keeps paths inside and off what the policy forbids. */
import { isUtf8 } from "node:buffer";
import {
  type Build,
  type Contributions,
  type FeatureContext,
  type FileChange,
  type Json,
  SvcError,
  type ToolContext,
  type Workspace,
  buildCommand,
  defineTool,
} from "@svc/contract";
import * as v from "valibot";

// A turn cuts results beyond 64 Ki characters of JSON, and with them the note about how to go on.
const DEFAULT_READ_BYTES = 32_768;
const MAX_READ_BYTES = 49_152;
const MAX_WRITE_CHARS = 1_048_576;
const DEFAULT_ENTRIES = 200;
const MAX_ENTRIES = 500;

const path = (description: string) =>
  v.pipe(v.string(), v.nonEmpty(), v.maxLength(4096), v.description(`${description} ".." is not allowed.`));
const count = (min: number, max: number, description: string) =>
  v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max), v.description(description));

/** `build`: named to a model that meets a file of a kind that this build can't read. */
export const fileRead = (build: Pick<Build, "recipe">) =>
  defineTool({
    name: "file_read",
    description:
      "Reads a text file (UTF-8) of the workspace. Returns its text and, when there is more than max_bytes, " +
      "truncated = true and next_offset, from which to go on. Of a PDF it returns the text of its pages. For another binary " +
      "file only a note is returned.",
    input: v.strictObject({
      path: path("Path of the file, relative to the workspace."),
      offset: v.optional(count(0, Number.MAX_SAFE_INTEGER, "Byte to start at. Default 0."), 0),
      max_bytes: v.optional(
        count(1, MAX_READ_BYTES, `Most bytes to read. Default ${DEFAULT_READ_BYTES}, at most ${MAX_READ_BYTES}.`),
        DEFAULT_READ_BYTES,
      ),
    }),
    approval: "auto",
    async run(input, context) {
      const { workspace, signal } = context;
      signal.throwIfAborted();
      const type = await documentType(input.path, workspace);
      if (type !== undefined) return readDocument(type, input, context, build);
      const { bytes, truncated } = await workspace.read(input.path, input.max_bytes, input.offset);
      const { text, usedBytes } = textOf(bytes, truncated);
      if (text === undefined)
        return { note: "This is a binary file; its content is not shown.", bytes: bytes.byteLength };
      return { text, truncated, ...(truncated && { next_offset: input.offset + usedBytes }) };
    },
  });

export const fileWrite = defineTool({
  name: "file_write",
  description:
    "Writes a text file (UTF-8) in the workspace and creates missing folders. mode replace (the default) puts content in " +
    `place of the whole file, append adds it at the end. content has at most ${MAX_WRITE_CHARS} characters.`,
  input: v.strictObject({
    path: path("Path of the file, relative to the workspace."),
    content: v.pipe(v.string(), v.maxLength(MAX_WRITE_CHARS), v.description("The text to write, exactly.")),
    mode: v.optional(v.pipe(v.picklist(["replace", "append"]), v.description("replace or append.")), "replace"),
  }),
  approval: "ask",
  lasting: Object.freeze({ free: Object.freeze(["content"]) }),
  preview: async ({ path, mode, content }, { workspace, signal }) => {
    signal.throwIfAborted();
    return { path, mode, before: await fileBefore(path, workspace), written: content };
  },
  async run(input, { workspace, signal }) {
    signal.throwIfAborted();
    const bytes = new TextEncoder().encode(input.content);
    await workspace.write(input.path, bytes, input.mode);
    return { written_bytes: bytes.byteLength, mode: input.mode };
  },
});

/** For a larger file the approver sees only the written text. */
const MAX_PREVIEW_BYTES = 65_536;

async function fileBefore(path: string, workspace: Workspace): Promise<FileChange["before"]> {
  try {
    const { bytes, truncated } = await workspace.read(path, MAX_PREVIEW_BYTES);
    if (truncated) return { kind: "large" };
    if (bytes.includes(0) || !isUtf8(bytes)) return { kind: "binary" };
    return { kind: "text", text: new TextDecoder().decode(bytes) };
  } catch (error) {
    return { kind: error instanceof SvcError && error.cause === "ENOENT" ? "missing" : "unreadable" };
  }
}

export const fileList = defineTool({
  name: "file_list",
  description:
    "Lists one folder of the workspace, not the folders below it: name, kind (file, directory, symlink, other) and size in " +
    "bytes, sorted by name. truncated = true means that there are more entries than limit.",
  input: v.strictObject({
    path: v.optional(path("Path of the folder, relative to the workspace. Default: the workspace itself."), "."),
    limit: v.optional(
      count(1, MAX_ENTRIES, `Most entries. Default ${DEFAULT_ENTRIES}, at most ${MAX_ENTRIES}.`),
      DEFAULT_ENTRIES,
    ),
  }),
  approval: "auto",
  async run(input, { workspace, signal }) {
    signal.throwIfAborted();
    const { entries, truncated } = await workspace.list(input.path, input.limit);
    return { entries: entries.map(({ name, kind, size }) => ({ name, kind, size })), truncated };
  },
});

export const create = ({ build }: Pick<FeatureContext, "build">): Contributions => ({
  tools: [fileRead(build), fileWrite, fileList],
});

interface DecodedText {
  /** undefined: the bytes are no text. */
  readonly text: string | undefined;
  /** Bytes the text is made of. */
  readonly usedBytes: number;
}

/**
 * Bytes as UTF-8 text. When there is more after them, a character that the cut went through is left for the next read, so
 * that reading on from there loses nothing.
 */
function textOf(bytes: Uint8Array, moreFollows: boolean): DecodedText {
  if (bytes.includes(0)) return { text: undefined, usedBytes: bytes.byteLength };
  const usedBytes = bytes.byteLength - (moreFollows ? cutBytes(bytes) : 0);
  return { text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, usedBytes)), usedBytes };
}

/** Length of the unfinished character at the end, 0 when it is whole (or when it would be all there is). */
function cutBytes(bytes: Uint8Array): number {
  for (let length = 1; length <= Math.min(3, bytes.byteLength - 1); length += 1) {
    const byte = bytes[bytes.byteLength - length] as number;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return length < sequenceLength(byte) ? length : 0;
  }
  return 0;
}

const sequenceLength = (first: number): number => (first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2);

/** Files that hold text in a form of their own. Another feature makes text of them, where it is in the build. */
interface Kind {
  readonly type: string;
  readonly name: string;
  /** Id of the feature that reads them. */
  readonly feature: string;
}

const PDF: Kind = { type: "application/pdf", name: "a PDF", feature: "rag-pdf" };
/** Readers take a header that comes after something else, in so many bytes (ISO 32000-1, annex H, note 13). */
const HEAD_BYTES = 1024;
const HEADER = "%PDF-";

/** What the file is by its first bytes; undefined: nothing that is known here. */
async function documentType(path: string, workspace: ToolContext["workspace"]): Promise<Kind | undefined> {
  const { bytes } = await workspace.read(path, HEAD_BYTES);
  const head = new TextDecoder("latin1").decode(bytes);
  // A text that speaks of PDFs is a text: by the header alone only where it comes first.
  return head.startsWith(HEADER) || (/\.pdf$/i.test(path) && head.includes(HEADER)) ? PDF : undefined;
}

interface DocumentRequest {
  readonly path: string;
  readonly offset: number;
  readonly max_bytes: number;
}

async function readDocument(
  { type, name, feature }: Kind,
  { path, offset, max_bytes: maxBytes }: DocumentRequest,
  context: ToolContext,
  { recipe }: Pick<Build, "recipe">,
): Promise<Json> {
  const reader = context.reader(type);
  if (reader === undefined) {
    return {
      note:
        `This is ${name}; its text is not shown: the feature ${feature}, which reads it, is not in this build. ` +
        `Build it in: ${buildCommand(recipe, feature)}`,
    };
  }
  const { text, nextOffset, notes } = await reader.read(path, { offset, maxBytes }, context);
  const isTruncated = nextOffset !== undefined;
  // One that gets nowhere would be asked for again and again.
  if (isTruncated && nextOffset <= offset) throw new SvcError("TOOL_FAILED", "The reader of this file gets nowhere.");
  return {
    text,
    truncated: isTruncated,
    ...(isTruncated && { next_offset: nextOffset }),
    ...(notes.length > 0 && { notes: [...notes] }),
  };
}

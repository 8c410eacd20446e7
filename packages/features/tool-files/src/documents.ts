/** Files that hold text in a form of their own. Another feature makes text of them, where it is in the build. */
import { type Build, buildCommand, type Json, SvcError, type ToolContext } from "@svc/contract";

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
export async function documentType(path: string, workspace: ToolContext["workspace"]): Promise<Kind | undefined> {
  const { bytes } = await workspace.read(path, HEAD_BYTES);
  const head = new TextDecoder("latin1").decode(bytes);
  // A text that speaks of PDFs is a text: by the header alone only where it comes first.
  return head.startsWith(HEADER) || (/\.pdf$/i.test(path) && head.includes(HEADER)) ? PDF : undefined;
}

export interface DocumentRequest {
  readonly path: string;
  readonly offset: number;
  readonly max_bytes: number;
}

export async function readDocument(
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

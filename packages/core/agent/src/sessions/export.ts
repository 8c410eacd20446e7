/** A whole conversation as a file for a person or a program. */
import { setImmediate } from "node:timers/promises";
import { EXPORT_FORMATS } from "@svc/api";
import { type Json, SvcError } from "@svc/contract";
import { shortened } from "@svc/store";
import { messageJson, sessionJson, shownTitle, type SessionOwner } from "./session-json.ts";
import type { SessionInfo, SessionMessage, SessionService } from "./types.ts";

export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export interface ExportedSession {
  readonly text: string;
  /** Letters, digits, `-` and `.` only, whatever the conversation is called. */
  readonly fileName: string;
}

const PAGE = 200;
/** Characters. A file beyond is read in pages. */
const MOST_CHARS = 64 * 1_048_576;

/** Rejects with SESSION_UNKNOWN, TOO_LARGE. */
export async function exportSession(
  sessions: Pick<SessionService, "messages">,
  session: SessionInfo,
  owner: SessionOwner,
  format: ExportFormat,
): Promise<ExportedSession> {
  const pages: string[][] = [];
  let chars = 0;
  let before: string | undefined;
  do {
    const page = sessions.messages(session.id, { limit: PAGE, ...(before !== undefined && { before }) });
    const texts = page.messages.map((message) => (format === "json" ? jsonText(message) : markdownText(message)));
    for (const text of texts) chars += text.length;
    if (chars > MOST_CHARS)
      throw new SvcError("TOO_LARGE", "The conversation is too large for one file; read it in pages.");
    pages.push(texts);
    before = page.before;
    // Others are served between two pages.
    await setImmediate();
  } while (before !== undefined);
  const texts = pages.reverse().flat();
  const about = sessionJson(session, owner);
  return format === "json"
    ? {
        text: `{"session":${JSON.stringify(about)},"messages":[\n${texts.join(",\n")}\n]}\n`,
        fileName: `${fileNameOf(session)}.json`,
      }
    : { text: `# ${lineOf(nameOf(session))}\n\n${texts.join("\n")}`, fileName: `${fileNameOf(session)}.md` };
}

const jsonText = (message: SessionMessage): string => JSON.stringify(messageJson(message, false));

function markdownText({ at, role, text, files, calls }: SessionMessage): string {
  const head = `## ${role === "user" ? "Person" : "Agent"}, ${new Date(at).toISOString()}`;
  const tools = calls.map(({ tool, input, ok }) => `Tool ${ok ? "done" : "failed"}:\n\n${fenced({ tool, input })}\n`);
  const names = files.map(({ name, type, size }) => `File: ${lineOf(name)} (${type}, ${size} bytes)\n`);
  return [head, "", ...names, ...tools, ...(text === "" ? [] : [text, ""])].join("\n");
}

/** JSON has no line of backticks alone. */
const fenced = (value: Json): string => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;

const nameOf = (session: SessionInfo): string => shownTitle(session) ?? session.name;
const lineOf = (text: string): string => shortened(text, 200);

function fileNameOf(session: SessionInfo): string {
  const words =
    nameOf(session)
      .normalize("NFKD")
      .replaceAll(/\p{M}/gu, "")
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  const name = words.join("-").slice(0, 60).replace(/-$/, "");
  const day = new Date(session.updatedAt).toISOString().slice(0, 10);
  return `${name === "" ? "conversation" : name}-${day}`;
}

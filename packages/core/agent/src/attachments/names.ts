/** Names of files that came with messages: the one that people read, and the path in the workspace. Both are a stranger's words. */
import { mediaKindOf } from "@svc/kit";
import { mediaPathOf } from "../workspace/media-path.ts";

const MAX_CHARS = 120;

/** One line without a folder and without characters that are not seen, or that turn what follows around. */
export function shownName(name: string): string {
  const last = name.normalize("NFC").split(/[\\/]/).at(-1)!;
  const line = last.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, "").trim();
  return /^\.*$/.test(line) ? "file" : [...line].slice(0, MAX_CHARS).join("");
}

/** `media/<day>/<id>-<name>` below the workspace: the same whenever it is asked. */
export const uploadPath = ({ id, name, type, at }: { id: string; name: string; type: string; at: number }) =>
  mediaPathOf({ kind: mediaKindOf(type), fileName: name, mimeType: type }, id, at);

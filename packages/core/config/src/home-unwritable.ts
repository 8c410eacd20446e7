/** A home that can't be written: said in words, with what can be done about it. */
import { SvcError } from "@svc/contract";

export function homeUnwritable(root: string, cause: unknown): SvcError {
  const isFull = NO_SPACE.has((cause as NodeJS.ErrnoException).code ?? "");
  return new SvcError("HOME_UNWRITABLE", `${root} can't be written${isFull ? ": the disk is full" : ""}.`, {
    hint: `${isFull ? "Free some space" : "Make it writable for this user"}, or name another with SVC_HOME.`,
    cause,
  });
}

const NO_SPACE: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT"]);

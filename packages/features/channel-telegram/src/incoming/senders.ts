/** Who may write: by id, which stays, or by @username, which its owner may give away. In groups it is the person that counts. */
import type { Logger } from "@svc/contract";
import { isAllowed, senderGate } from "@svc/kit";
import { type Fields, fieldsOf, idOf, wordOf } from "../fields.ts";
import { CHANNEL } from "../names.ts";

export interface Sender {
  /** Their id; for who is an approver by @username that entry, since the core compares letter by letter. */
  readonly sender: string;
  readonly senderName?: string;
}

/** Undefined for a bot, for who is not on the list, and for who can't be told. */
export type SenderReader = (message: Fields) => Sender | undefined;

export interface SenderLists {
  readonly allowed: readonly string[];
  readonly approvers: readonly string[];
  readonly log: Logger;
}

/** `message`: of whatever has a sender in `from`, or in `user`. */
export function senderReader({ allowed, approvers, log }: SenderLists): SenderReader {
  const entries = allowed.map(withoutAt);
  // Only asked about those who are turned away: it tells the log of each once.
  const turnAway = senderGate({ allowed: [], mode: "exact", log, channel: CHANNEL });
  return (message) => {
    // Anonymous administrators and channels speak as a group: nobody knows who it is.
    if (message["sender_chat"] !== undefined) {
      turnAway("somebody anonymous, in the name of a group or channel");
      return undefined;
    }
    const user = fieldsOf(message["from"] ?? message["user"]);
    const id = idOf(user["id"]);
    if (id === undefined || id < 0 || user["is_bot"] !== false) return undefined;
    const username = usernameOf(user);
    const isOnList =
      isAllowed(entries, String(id), "exact") ||
      (username !== undefined && isAllowed(entries, username, "case_insensitive"));
    if (!isOnList) {
      turnAway(username === undefined ? String(id) : `${id} (@${username})`);
      return undefined;
    }
    const approver = approvers.find((entry) => isNamed(entry, username));
    const name = [user["first_name"], user["last_name"]].map(wordOf).filter((word) => word !== undefined);
    return {
      sender: approver?.trim() ?? String(id),
      ...(name.length > 0 && { senderName: name.join(" ").slice(0, MAX_NAME_CHARS) }),
    };
  };
}

const MAX_NAME_CHARS = 200;

const withoutAt = (entry: string): string => entry.trim().replace(/^@/, "");

/** Letters first, so that none can be taken for an id. https://telegram.org/faq#usernames */
function usernameOf(user: Fields): string | undefined {
  const name = wordOf(user["username"]);
  return name !== undefined && /^[A-Za-z]\w*$/.test(name) ? name : undefined;
}

const isNamed = (entry: string, username: string | undefined): boolean =>
  username !== undefined && entry.trim() !== "*" && isAllowed([withoutAt(entry)], username, "case_insensitive");

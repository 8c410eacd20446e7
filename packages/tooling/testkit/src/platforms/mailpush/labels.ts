/** Labels of the mailbox: those that every one has, and those that people made. */
import type { Json } from "@svc/contract";

export interface Labels {
  /** `users.labels.list`: without counts. */
  list(): Json;
  /** The first that is not there. */
  unknown(ids: readonly string[]): string | undefined;
}

/** https://developers.google.com/workspace/gmail/api/guides/labels */
const SHOWN = ["SENT", "INBOX", "DRAFT", "STARRED", "UNREAD"];
const CATEGORIES = ["FORUMS", "UPDATES", "PERSONAL", "PROMOTIONS", "SOCIAL"].map((name) => `CATEGORY_${name}`);
const HIDDEN = ["CHAT", "IMPORTANT", "TRASH", "SPAM", ...CATEGORIES];

/** `own`: names by id. */
export function createLabels(own: Readonly<Record<string, string>>): Labels {
  const known = new Set([...SHOWN, ...HIDDEN, ...Object.keys(own)]);
  const system = { type: "system" };
  const hidden = { messageListVisibility: "hide", labelListVisibility: "labelHide", ...system };
  const user = { messageListVisibility: "show", labelListVisibility: "labelShow", type: "user" };
  return {
    list: () => ({
      labels: [
        ...HIDDEN.map((id) => ({ id, name: id, ...hidden })),
        ...SHOWN.map((id) => ({ id, name: id, ...system })),
        ...Object.entries(own).map(([id, name]) => ({ id, name, ...user })),
      ],
    }),
    unknown: (ids) => ids.find((id) => !known.has(id)),
  };
}

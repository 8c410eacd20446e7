/** Labels of the config as the ids that the platform takes. People know names; only the built-in ones are their own ids. */
import { SvcError } from "@svc/contract";
import * as v from "valibot";
import type { MailApi } from "../api/mail-api.ts";

export interface Labels {
  /** Throws CHANNEL_CANNOT for one that the mailbox does not have. */
  ids(signal: AbortSignal): Promise<readonly string[]>;
}

const BUILT_IN =
  /^(?:INBOX|STARRED|UNREAD|IMPORTANT|SENT|DRAFT|SPAM|TRASH|CHAT|CATEGORY_(?:PERSONAL|SOCIAL|PROMOTIONS|UPDATES|FORUMS))$/;

const list = v.object({ labels: v.fallback(v.array(v.object({ id: v.string(), name: v.string() })), []) });

export function createLabels(api: MailApi, wanted: readonly string[]): Labels {
  let known: readonly string[] | undefined = wanted.every((label) => BUILT_IN.test(label)) ? wanted : undefined;
  return {
    async ids(signal) {
      if (known !== undefined) return known;
      const { json } = await api.call({ path: "labels" }, signal);
      const answer = v.safeParse(list, json);
      const labels = answer.success ? answer.output.labels : [];
      return (known = wanted.map((label) => {
        const isIt = ({ id, name }: { id: string; name: string }) => id === label || name === label;
        const found = BUILT_IN.test(label) ? label : labels.find(isIt)?.id;
        if (found !== undefined) return found;
        throw new SvcError("CHANNEL_CANNOT", "The mailbox has no label of a name that label_filter asks for.", {
          hint: "Write labels as the mailbox shows them, with the labels above: Parent/Child.",
        });
      }));
    },
  };
}

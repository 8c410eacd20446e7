/** Where the browser is after an action, and what happened meanwhile. */
import { fieldsOf, listOf } from "@svc/kit";
import type { DriverDialog, DriverResult, DriverTab } from "@svc/kit/browser";
import type { BatchOptions, Command, Program } from "../program/batch.ts";
import { failureOf } from "../program/failures.ts";
import type { Row } from "../program/rows.ts";

export interface Page {
  /** Puts away dialogs, which would stop everything else, and tells where the browser is now. */
  look(options: BatchOptions): Promise<Look>;
  /** The program's id of a tab, by its place in the last list. */
  tabId(place: number): string | undefined;
}

export type Look = Pick<DriverResult, "url" | "title" | "dialogs" | "notes"> & { readonly tabs: readonly DriverTab[] };

export function pageOf(its: Program): Page {
  let ids: readonly string[] = [];
  return {
    async look(options) {
      const dialogs = await putAway(its, options);
      const rows = await its.batch(LOOK, { ...options, bail: false });
      const failed = rows.find(({ success }) => !success);
      if (failed !== undefined) throw failureOf(failed);
      const [list, url, title] = rows;
      const tabs = listOf(list?.result["tabs"]).map((tab) => tabOf(fieldsOf(tab)));
      const before = new Set(ids);
      const opened = before.size === 0 ? 0 : tabs.filter(({ id }) => !before.has(id)).length;
      ids = tabs.map(({ id }) => id);
      return {
        url: textIn(url, "url"),
        title: textIn(title, "title"),
        tabs: tabs.map(({ tab }) => tab),
        dialogs,
        notes: opened > 0 ? [NEW_TAB] : [],
      };
    },
    tabId: (place) => ids[place],
  };
}

const LOOK: readonly Command[] = [
  ["tab", "list"],
  ["get", "url"],
  ["get", "title"],
];

const NEW_TAB = "A new tab was opened; it is the current one. See tabs.";

/** A page can ask again as soon as it is answered: after so many it is left to its question. */
const MAX_DIALOGS = 5;

async function putAway(its: Program, options: BatchOptions): Promise<DriverDialog[]> {
  const dialogs: DriverDialog[] = [];
  while (dialogs.length < MAX_DIALOGS) {
    const [status] = await its.batch([["dialog", "status"]], options);
    if (status?.result["hasDialog"] !== true) break;
    const { type, message } = status.result;
    const kind = KINDS.find((known) => known === type) ?? "confirm";
    dialogs.push({ kind, message: typeof message === "string" ? message : "" });
    await its.batch([["dialog", "dismiss"]], options);
  }
  return dialogs;
}

const KINDS = ["alert", "confirm", "prompt", "beforeunload"] as const;

function tabOf({ tabId, url, title, active }: ReturnType<typeof fieldsOf>): { id: string; tab: DriverTab } {
  const [address, name] = [url, title].map((text) => (typeof text === "string" ? text : ""));
  return { id: String(tabId), tab: { url: address ?? "", title: name ?? "", current: active === true } };
}

const textIn = (row: Row | undefined, name: string): string => {
  const text = row?.result[name];
  return typeof text === "string" ? text : "";
};

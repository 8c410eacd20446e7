/** Where the browser is after an action, and what happened meanwhile. */
import { fieldsOf, listOf } from "@svc/kit";
import type { DriverDialog, DriverResult, DriverTab } from "@svc/kit/browser";
import { type BatchOptions, type Command, failureOf, type Program, type Row } from "./program.ts";

/** What was said since it was last asked. */
const SAID: Command = ["eval", "typeof __dialogs === 'function' ? __dialogs() : []"];

export interface Page {
  /**
   * Puts away dialogs, which would stop everything else, and tells where the browser is now. `status`: what DIALOG_STATUS told just
   * before.
   */
  look(options: BatchOptions, status?: Row): Promise<Look>;
  /** The program's id of a tab, by its place in the last list. */
  tabId(place: number): string | undefined;
}

export type Look = Pick<DriverResult, "url" | "title" | "dialogs" | "notes"> & { readonly tabs: readonly DriverTab[] };

export const DIALOG_STATUS: Command = ["dialog", "status"];

export function pageOf(its: Program): Page {
  let ids: readonly string[] = [];
  let current: string | undefined;

  const seen = async (options: BatchOptions) => {
    const rows = await its.batch(LOOK, { ...options, bail: false });
    const failed = rows.find(({ success, index }) => !success && index < 3);
    if (failed !== undefined) throw failureOf(failed);
    const [list, url, title, said] = rows;
    return { url, title, said: dialogsIn(said), tabs: listOf(list?.result["tabs"]).map((tab) => tabOf(fieldsOf(tab))) };
  };

  return {
    async look(options, status) {
      const dialogs = await putAway(its, options, status);
      let now = await seen(options);
      const { said } = now;
      const tooMany = now.tabs.slice(MAX_TABS).map(({ id }) => id);
      if (tooMany.length > 0) {
        // The program lets pages open as many windows as they like, and follows them.
        const back = now.tabs.slice(0, MAX_TABS).find(({ id }) => id === current) ?? now.tabs[0];
        const closing = tooMany.map((id) => ["tab", "close", id] as const);
        await its.batch([...closing, ["tab", String(back?.id)]], { ...options, bail: false });
        now = await seen(options);
      }
      const { url, title, tabs } = now;
      const before = new Set(ids);
      const opened = before.size > 0 && tabs.some(({ id }) => !before.has(id));
      ids = tabs.map(({ id }) => id);
      current = tabs.find(({ tab }) => tab.current)?.id;
      return {
        url: textIn(url, "url"),
        title: textIn(title, "title"),
        tabs: tabs.map(({ tab }) => tab),
        dialogs: [...dialogs, ...said],
        notes: [...(opened ? [NEW_TAB] : []), ...(tooMany.length > 0 ? [CLOSED_TABS] : [])],
      };
    },
    tabId: (place) => ids[place],
  };
}

const LOOK: readonly Command[] = [["tab", "list"], ["get", "url"], ["get", "title"], SAID];

const NEW_TAB = "A new tab was opened. See tabs.";

/** Windows that pages may have open together. */
const MAX_TABS = 10;
const CLOSED_TABS = `More than ${MAX_TABS} tabs were open: the newest were closed.`;

/** A page can ask again as soon as it is answered: after so many it is left to its question. */
const MAX_DIALOGS = 5;

async function putAway(its: Program, options: BatchOptions, known?: Row): Promise<DriverDialog[]> {
  const dialogs: DriverDialog[] = [];
  let status = known ?? (await its.batch([DIALOG_STATUS], options))[0];
  while (status?.result["hasDialog"] === true && dialogs.length < MAX_DIALOGS) {
    const { type, message } = status.result;
    const kind = KINDS.find((one) => one === type) ?? "confirm";
    dialogs.push({ kind, message: typeof message === "string" ? message : "" });
    const rows = await its.batch([["dialog", "dismiss"], DIALOG_STATUS], { ...options, bail: false });
    status = rows[1];
  }
  return dialogs;
}

function tabOf({ tabId, url, title, active }: ReturnType<typeof fieldsOf>): { id: string; tab: DriverTab } {
  const [address, name] = [url, title].map((text) => (typeof text === "string" ? text : ""));
  return { id: String(tabId), tab: { url: address ?? "", title: name ?? "", current: active === true } };
}

const textIn = (row: Row | undefined, name: string): string => {
  const text = row?.result[name];
  return typeof text === "string" ? text : "";
};

// Dialogs of pages. One that shows stops the program, for up to a minute while a page loads: so pages have functions of ours in the
// place of the browser's, which answer as a person does who dismisses each, and keep what was said.

/** Runs in every document before its own scripts. One that asks without end is stopped by an error. */
export const DIALOGS_SCRIPT = `(() => {
  const { push, splice } = Array.prototype;
  const said = [];
  let left = 100;
  const dismissed = (kind, answer) => function (message = "") {
    if (left <= 0) throw new Error("too many dialogs");
    left -= 1;
    if (said.length < 5) push.call(said, { kind, message: String(message).slice(0, 300) });
    return answer;
  };
  const own = { alert: dismissed("alert", undefined), confirm: dismissed("confirm", false), prompt: dismissed("prompt", null) };
  for (const name of Object.keys(own)) Object.defineProperty(window, name, { value: own[name], writable: true, configurable: true });
  Object.defineProperty(window, "__dialogs", { value: () => splice.call(said, 0) });
})();
`;

function dialogsIn(row: Row | undefined): DriverDialog[] {
  return listOf(row?.result["result"]).flatMap((one) => {
    const { kind, message } = fieldsOf(one);
    const known = KINDS.find((name) => name === kind);
    return known === undefined ? [] : [{ kind: known, message: typeof message === "string" ? message : "" }];
  });
}

const KINDS = ["alert", "confirm", "prompt", "beforeunload"] as const;

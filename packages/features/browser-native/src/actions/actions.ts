/** What each action does on a page. */
import type { BrowserAction, BrowserActionName, DriverCall, DriverResult } from "@svc/kit/browser";
import type { NativeSession } from "../session/native-session.ts";
import type { Tab } from "../session/tab.ts";
import { click, fill, hover, press, scroll, select, type, wait } from "./act.ts";
import { download, pdf, screenshot, upload } from "./files.ts";
import { open, tabs } from "./navigate.ts";
import { find, getText, nothing, snapshot } from "./read.ts";

/** Where an action works. */
export interface Place {
  readonly session: NativeSession;
  readonly tab: Tab;
  readonly call: DriverCall;
}

export interface Told {
  /** The page that counts afterwards, where it is another one. */
  readonly tab?: Tab;
  readonly result: Partial<DriverResult>;
}

export type ActionOf<Name extends BrowserActionName> = Extract<BrowserAction, { action: Name }>;

type Doing = { readonly [Name in BrowserActionName]: (action: ActionOf<Name>, place: Place) => Promise<Told> };

const DOING: Doing = {
  open,
  snapshot,
  click,
  fill,
  type,
  press,
  hover,
  scroll,
  select,
  wait,
  get_text: getText,
  // The tool tells both of every page.
  get_title: nothing,
  get_url: nothing,
  find,
  screenshot,
  upload,
  download,
  pdf,
  tabs,
  // The tool ends the whole session.
  close: nothing,
};

export const doAction = (action: BrowserAction, place: Place): Promise<Told> =>
  (DOING[action.action] as (action: BrowserAction, place: Place) => Promise<Told>)(action, place);

/** Each action of the tool, as commands of the program. */
import type { Clock } from "@svc/contract";
import type { BrowserAction, DriverCall, DriverResult } from "@svc/kit/browser";
import type { BatchOptions, Command, Program } from "../program/batch.ts";
import { failureOf } from "../program/failures.ts";
import type { Row } from "../program/rows.ts";
import { DIALOG_STATUS, type Page } from "../session/page.ts";
import type { SessionFolder } from "../session/session-folder.ts";
import { commandsOf } from "./commands.ts";
import { download } from "./download.ts";
import { pdf, screenshot } from "./files.ts";
import { find, getText, snapshot } from "./read.ts";
import { open, tabs } from "./tabs.ts";
import { upload } from "./upload.ts";
import { wait } from "./wait.ts";

export interface ActionParts {
  readonly its: Program;
  readonly page: Page;
  readonly folder: SessionFolder;
  readonly clock: Clock;
  /** Ends the browser at once. */
  kill(): Promise<void>;
}

/** What an action adds to where the browser is. */
export type Outcome = Pick<DriverResult, "content" | "file" | "notes">;

export interface Running extends ActionParts {
  readonly call: DriverCall;
  readonly options: BatchOptions;
  /** Runs commands of which none may fail. */
  run(...commands: Command[]): Promise<readonly Row[]>;
}

export async function perform(action: BrowserAction, call: DriverCall, parts: ActionParts): Promise<DriverResult> {
  const options = { signal: call.signal, timeoutMs: call.timeoutMs };
  let status: Row | undefined;
  const running: Running = {
    ...parts,
    call,
    options,
    async run(...commands) {
      if (commands.length === 0) return [];
      const rows = await parts.its.batch([...commands, DIALOG_STATUS], options);
      const failed = rows.find(({ success }) => !success);
      if (failed !== undefined) throw failureOf(failed);
      status = rows.at(-1);
      return rows;
    },
  };
  const outcome = await outcomeOf(action, running);
  const { tabs: list, ...now } = await parts.page.look(options, status);
  const notes = [...(outcome.notes ?? []), ...(now.notes ?? [])];
  return { ...now, ...outcome, notes, ...(action.action === "tabs" && { tabs: list }) };
}

async function outcomeOf(action: BrowserAction, running: Running): Promise<Outcome> {
  switch (action.action) {
    case "open":
      return open(action.url, running);
    case "tabs":
      return tabs(action, running);
    case "snapshot":
      return snapshot(action, running);
    case "find":
      return find(action, running);
    case "get_text":
      return getText(action.target, running);
    case "wait":
      return wait(action, running);
    case "screenshot":
      return screenshot(action.full_page === true, running);
    case "pdf":
      return pdf(running);
    case "upload":
      return upload(action.target, running);
    case "download":
      return download(action, running);
    default:
      await running.run(...commandsOf(action));
      return {};
  }
}

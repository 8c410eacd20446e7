import type { BrowserAction } from "@svc/kit/browser";
import type { Command } from "../program/batch.ts";
import { failureOf } from "../program/failures.ts";
import type { Outcome, Running } from "./perform.ts";
import { elementOf } from "./target.ts";

/** In short pieces: the program can't be told to stop waiting, and does nothing else meanwhile. */
export async function wait(
  { target, text, seconds }: Extract<BrowserAction, { action: "wait" }>,
  running: Running,
): Promise<Outcome> {
  const { clock, call } = running;
  const until = clock.monotonic() + call.timeoutMs - MARGIN_MS;
  if (target !== undefined) await again(["wait", elementOf(target)], until, running);
  // An expression of ours with the text as a value in it: the command's own option would take some texts for options.
  if (text !== undefined) {
    await again(["wait", "--fn", `(document.body?.innerText ?? "").includes(${JSON.stringify(text)})`], until, running);
  }
  if (target === undefined && text === undefined) await clock.sleep((seconds ?? 1) * 1000, call.signal);
  return {};
}

async function again(command: Command, until: number, { its, options, clock }: Running): Promise<void> {
  for (;;) {
    const [row] = await its.batch([[...command, "--timeout", PIECE_MS]], options);
    if (row === undefined || row.success) return;
    if (!row.error.startsWith("Wait timed out") || clock.monotonic() > until) throw failureOf(row);
  }
}

const PIECE_MS = "700";
const MARGIN_MS = 4000;

/** Linking the account: the phone scans a code, or is given one to type. */
import { randomUUID } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type FeatureContext, type Linking, type LinkState, type Route, SvcError } from "@svc/contract";
import { encode } from "uqr";
import * as v from "valibot";
import { CHANNEL, type Connection, type WebSection } from "./connection.ts";
import type { Session } from "./session.ts";

export type LinkingDeps = Pick<FeatureContext<WebSection>, "config" | "log" | "refresh" | "homeFolder">;

/** Says which linking the feature was made after: with another text in it, it is made anew, and connects. */
const markIn = (homeFolder: string): string => join(homeFolder, "state", "features", "provider-a-web.linked");

export const linkMark = (homeFolder: string): Promise<string> => readFile(markIn(homeFolder), "utf8").catch(() => "");

async function markLinked(homeFolder: string): Promise<void> {
  const path = markIn(homeFolder);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(path, randomUUID(), { mode: 0o600 });
}

/** `end`: cancels a linking in progress. */
export function createLinking(session: Session, deps: LinkingDeps): Linking & { end(): Promise<void> } {
  const { config: section, log, refresh, homeFolder } = deps;
  let state: LinkState | undefined;
  let attempt: { readonly stop: AbortController; readonly over: Promise<void> } | undefined;

  const link = async (signal: AbortSignal): Promise<void> => {
    let connection: Connection | undefined;
    let isAsked = false;
    const onCode = (text: string): void => {
      if (section.pair_phone === undefined) {
        state = {
          stage: "scan",
          qr: rowsOf(text),
          how: `${ON_THE_PHONE}. Scan this code; it changes after some seconds.`,
        };
        return;
      }
      // The platform sends a new QR code every 20 s; a code to type is requested once.
      if (isAsked || connection === undefined) return;
      isAsked = true;
      const digits = section.pair_phone.replaceAll(/[^0-9]/g, "");
      connection.socket.requestPairingCode(digits).then(
        (code) =>
          (state = {
            stage: "code",
            code: `${code.slice(0, 4)}-${code.slice(4)}`,
            how: `${ON_THE_PHONE}, Link with phone number. Type this code.`,
          }),
        () => void connection?.close(),
      );
    };
    await session.openUnlinked(onCode, (opened) => (connection = opened), signal);
  };

  return {
    async begin(signal) {
      signal.throwIfAborted();
      const account = await session.account();
      if (account !== undefined) return { stage: "done", account };
      if (attempt) return state ?? { stage: "waiting" };
      state = { stage: "waiting" };
      const stop = new AbortController();
      const over = link(stop.signal)
        .then(async () => {
          log.info("an account was linked", { channel: CHANNEL });
          // Without it the loop, which had no account, waits for its next try.
          await markLinked(homeFolder).catch(() => undefined);
          refresh();
          state = { stage: "done", account: (await session.account()) ?? "" };
        })
        .catch((error: unknown) => {
          state = { stage: "ended", reason: reasonOf(error) };
          if (!stop.signal.aborted)
            log.warn("the account was not linked", { channel: CHANNEL, reason: reasonOf(error) });
        })
        .finally(() => (attempt = undefined));
      attempt = { stop, over };
      return state;
    },
    async state(signal) {
      signal.throwIfAborted();
      if (state !== undefined && state.stage !== "done") return state;
      const account = await session.account();
      return account === undefined
        ? (state ?? { stage: "ended", reason: "No account is linked." })
        : { stage: "done", account };
    },
    async end() {
      attempt?.stop.abort(new SvcError("DRAINING"));
      await attempt?.over;
    },
  };
}

const ON_THE_PHONE = "On the phone open WhatsApp, Settings, Linked devices, Link a device";

function reasonOf(error: unknown): string {
  if (!(error instanceof SvcError)) return "The account could not be linked.";
  if (error.code === "REMOTE_TIMEOUT") return "No phone has scanned the code in time.";
  if (error.code === "DRAINING") return "It was given up.";
  return error.message;
}

/** `1` for a dark module. */
const rowsOf = (text: string): string[] =>
  encode(text, { border: 0 }).data.map((row) => row.map((isDark) => (isDark ? "1" : "0")).join(""));

const LINK_PATH = "/api/provider-a-web/link";

const STATE = v.variant("stage", [
  v.object({ stage: v.literal("waiting") }),
  v.object({ stage: v.literal("scan"), qr: v.array(v.string()), how: v.string() }),
  v.object({ stage: v.literal("code"), code: v.string(), how: v.string() }),
  v.object({ stage: v.literal("done"), account: v.string() }),
  v.object({ stage: v.literal("ended"), reason: v.string() }),
]);
const STEP = v.strictObject({ step: v.picklist(["begin", "state"]) });

export const linkRoutes = (linking: Linking): Route[] => [
  {
    method: "GET",
    path: LINK_PATH,
    access: "operate",
    doc: {
      summary: "Returns whether a WhatsApp account is linked with this service.",
      answers: { 200: { description: "How the linking stands.", body: STATE } },
    },
    handle: async ({ signal }) => ({ status: 200, body: { ...(await linking.state(signal)) } }),
  },
  {
    method: "POST",
    path: LINK_PATH,
    access: "operate",
    doc: {
      summary: "Takes one step of linking a WhatsApp account with this service.",
      body: STEP,
      answers: {
        200: { description: "How the linking stands. Ask for `state` until it is `done` or `ended`.", body: STATE },
      },
      errors: ["REMOTE_UNREACHABLE"],
    },
    async handle({ body, signal }) {
      const { step } = body as v.InferOutput<typeof STEP>;
      return { status: 200, body: { ...(await linking[step](signal)) } };
    },
  },
];

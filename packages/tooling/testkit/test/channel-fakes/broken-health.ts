/** What can be wrong with health and signs of life. One fake each. */
import { SvcError } from "@svc/contract";
import { type Broken, DEAF, hang, inChannel, without } from "./spoil.ts";

const LINE = "check tells in one line who we are there";
const ONLY_ON_CREDENTIALS = "run gives up for good on refused credentials, and only on them";
const SIGNS = "signs of life (typing, read marks) are given, and end at once when they are aborted";

export const BROKEN_HEALTH: readonly Broken[] = [
  ["no check at all", LINE, (parts) => ({ ...parts, channel: without(parts.channel, "check") })],
  ["a blank line", LINE, inChannel(() => ({ check: async () => " " }))],
  ["two lines", LINE, inChannel(() => ({ check: async () => "the bot\nof ours" }))],
  ["the token in the line", LINE, inChannel((_, { config }) => ({ check: async () => `with ${config.token}` }))],
  ["nothing asked", "check finds out that the credentials are wrong", inChannel(() => ({ check: async () => "fine" }))],
  [
    "no message refused, and told so",
    "check of a platform that is down is REMOTE_*",
    inChannel(({ check }) => ({
      check: (signal) => check?.(signal).catch(() => Promise.reject(new SvcError("DELIVERY_FAILED"))) ?? hang(),
    })),
  ],
  [
    "a check that goes on",
    "check ends at once when it is aborted",
    inChannel(({ check }) => ({ check: () => check?.(DEAF) ?? hang() })),
  ],
  ["a run that ends", "run goes on until it is stopped", (parts) => ({ ...parts, run: async () => undefined })],
  [
    "a run that is started again and again",
    ONLY_ON_CREDENTIALS,
    (parts) => ({ ...parts, run: async (signal) => void (await parts.channel.check?.(signal)) }),
  ],
  [
    "a run that gives up",
    ONLY_ON_CREDENTIALS,
    (parts) => ({
      ...parts,
      run: (signal) => parts.run?.(signal).catch(() => Promise.reject(new SvcError("FEATURE_FAILED"))) ?? hang(),
    }),
  ],
  [
    "typing that goes on",
    SIGNS,
    inChannel(({ typing }) => ({ typing: { lastsMs: 1, start: (to, id) => typing?.start(to, id, DEAF) ?? hang() } })),
  ],
  [
    "the token in an error of typing",
    SIGNS,
    inChannel((_, { config }) => ({ typing: { lastsMs: 1, start: () => Promise.reject(new Error(config.token)) } })),
  ],
];

const SETUP = "setup tells what was done, or fails with a code, and ends at once when it is aborted";
const NOTICE = "onNotice takes whatever was kept, or fails with a code, and ends at once when it is aborted";

export const BROKEN_ASIDE: readonly Broken[] = [
  ["a setup that tells nothing", SETUP, inChannel(() => ({ setup: async () => "" }))],
  [
    "a setup that tells the token",
    SETUP,
    inChannel((_, { config }) => ({ setup: async () => `done with ${config.token}` })),
  ],
  [
    "a setup that fails with the platform's words",
    SETUP,
    inChannel(() => ({ setup: async () => JSON.parse("<html>") as never })),
  ],
  [
    "a setup that goes on",
    SETUP,
    inChannel(({ check }, { config }) => ({ setup: () => check?.(DEAF) ?? Promise.resolve(config.api_url) })),
  ],
  [
    "an error for a strange notice",
    NOTICE,
    inChannel(() => ({ onNotice: async (notice) => void (notice as { a: string }).a.trim() })),
  ],
  [
    "a notice that is followed up for ever",
    NOTICE,
    inChannel(({ check }) => ({ onNotice: async () => void (await check?.(DEAF)) })),
  ],
];

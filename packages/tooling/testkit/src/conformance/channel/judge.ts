/** What checks of channels ask of an outcome. */
import { type ErrorCode, SvcError } from "@svc/contract";
import { demand, outcomeOf, errorText } from "../../check.ts";
import type { PlatformMood } from "../../platforms/mood.ts";
import type { OpenChannel } from "./open.ts";
import { demandNoSecret } from "./secrets.ts";
import type { ChannelSubject, PlatformSent } from "./subject.ts";

export const NEVER: AbortSignal = new AbortController().signal;

/** What trying again later may help against. */
export const LATER: readonly ErrorCode[] = ["DELIVERY_FAILED", "REMOTE_UNREACHABLE", "REMOTE_TIMEOUT"];

/** The value of something that has to work, at once. */
export async function worksOut<T>(
  opened: OpenChannel,
  what: string,
  work: () => T | Promise<T>,
  limitMs: number,
): Promise<T> {
  const outcome = await outcomeOf(work, limitMs);
  if (outcome.kind === "rejected")
    throw new Error(`${what} fails: ${errorText(outcome.error)}`, { cause: outcome.error });
  demand(outcome.kind === "resolved", `${what} hangs`);
  demandNoSecret(opened.secrets, "the log", opened.log.text());
  return outcome.value;
}

/** The error of something that has to fail, at once, with one of these codes and without giving a secret away. */
export async function failsWith(
  opened: OpenChannel,
  what: string,
  work: () => unknown,
  codes: readonly ErrorCode[],
  limitMs: number,
): Promise<SvcError> {
  const error = await rejects(opened, what, work, limitMs);
  demand(error instanceof SvcError, `${what} throws what is no SvcError: ${errorText(error)}`);
  demand(codes.includes(error.code), `${what} throws ${error.code}, expected is ${codes.join(" or ")}`);
  return error;
}

export async function rejects(
  opened: OpenChannel,
  what: string,
  work: () => unknown,
  limitMs: number,
): Promise<unknown> {
  const outcome = await outcomeOf(async () => work(), limitMs);
  demand(outcome.kind !== "resolved", `${what} succeeds`);
  demand(outcome.kind === "rejected", `${what} hangs`);
  demandNoSecret(opened.secrets, `the error of ${what}`, outcome.error);
  demandNoSecret(opened.secrets, "the log", opened.log.text());
  return outcome.error;
}

/** Its value, or undefined when it failed with a code. */
export async function endsSoundly(
  opened: OpenChannel,
  what: string,
  work: () => unknown,
  limitMs: number,
): Promise<unknown> {
  const outcome = await outcomeOf(async () => work(), limitMs);
  demand(outcome.kind !== "hung", `${what} hangs`);
  demandNoSecret(opened.secrets, "the log", opened.log.text());
  if (outcome.kind === "resolved") return outcome.value;
  demandNoSecret(opened.secrets, `the error of ${what}`, outcome.error);
  demand(outcome.error instanceof SvcError, `${what} throws what is no SvcError: ${errorText(outcome.error)}`);
  return undefined;
}

/** What the platform does not take of `work` is told as of a message that is sent. */
export async function failsAsSend(
  opened: OpenChannel,
  what: string,
  work: () => unknown,
  limitMs: number,
): Promise<void> {
  const refused = (mood: PlatformMood, codes: readonly ErrorCode[]) => {
    opened.platform.mood = mood;
    return failsWith(opened, what, work, codes, limitMs);
  };
  await refused({ refuses: 400 }, ["DELIVERY_REFUSED"]);
  await refused({ refuses: 401 }, ["CHANNEL_UNAUTHORIZED"]);
  const { retryAfterMs } = await refused({ rateLimits: 7 }, LATER);
  demand(retryAfterMs === 7_000, `retryAfterMs is ${retryAfterMs}, not what Retry-After says`);
  for (const mood of [{ refuses: 503 }, "resets", "loses answers"] as const) await refused(mood, LATER);
}

/** Begins `work` against a platform that never answers, and aborts it once the platform has been asked, if it is. */
export async function endsWhenAborted(
  { platform }: OpenChannel,
  what: string,
  work: (signal: AbortSignal) => unknown,
  limitMs: number,
): Promise<"resolved" | "rejected"> {
  platform.mood = "hangs";
  const caller = new AbortController();
  const asked = platform.arrived(platform.requests.length);
  const going = outcomeOf(async () => work(caller.signal), limitMs);
  await Promise.race([asked, going]);
  caller.abort(new Error("called off"));
  const { kind } = await going;
  demand(kind !== "hung", `${what} goes on although it was aborted`);
  return kind;
}

/** Of what has to fail when it is aborted, on the way and before it begins. */
export async function failsWhenAborted(
  opened: OpenChannel,
  what: string,
  work: (signal: AbortSignal) => unknown,
  limitMs: number,
): Promise<void> {
  const kind = await endsWhenAborted(opened, what, work, limitMs);
  demand(kind === "rejected", `${what} succeeds although it was aborted`);
  const before = AbortSignal.abort(new Error("called off"));
  await rejects(opened, `${what}, aborted before it begins,`, () => work(before), limitMs);
}

/** Whether people see this text in it. */
export function isSeen(sent: PlatformSent | undefined, text: string, { formats }: ChannelSubject): boolean {
  const plain = (words: string): string => (formats === true ? words.replaceAll(/[\s_]+/g, " ") : words).trim();
  return sent !== undefined && plain(sent.text).includes(plain(text));
}

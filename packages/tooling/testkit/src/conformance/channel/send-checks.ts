/** Sending: what the platform took is a receipt, what it did not take is an error that says whether to try again. */
import { type Conversation, SvcError } from "@svc/contract";
import { type Check, demand, outcomeOf, errorText } from "../../check.ts";
import type { PlatformMood } from "../../platforms/mood.ts";
import { failsWhenAborted, failsWith, isSeen, LATER, NEVER, worksOut } from "./judge.ts";
import { type Bench, type OpenChannel, withChannel } from "./open.ts";
import { demandNoSecret } from "./secrets.ts";

const RETRY_AFTER_SECS = 7;

export function sendChecks(bench: Bench): Check[] {
  const { promptMs, subject } = bench;
  const check = (name: string, run: (opened: OpenChannel) => Promise<void>): Check => ({
    name,
    run: () => withChannel(bench, run),
  });
  const refused = (opened: OpenChannel, mood: PlatformMood, codes: readonly SvcError["code"][]) => {
    opened.platform.mood = mood;
    return failsWith(opened, "send", () => opened.channel.send(opened.message(), NEVER), codes, promptMs);
  };
  return [
    check("send resolves with a receipt once people see the message", async (opened) => {
      const receipt: unknown = await worksOut(
        opened,
        "send",
        () => opened.channel.send(opened.message(), NEVER),
        promptMs,
      );
      demand(isReceipt(receipt, opened.id), "what it resolves with is no receipt");
      demandNoSecret(opened.secrets, "the receipt", receipt);
      const texts = opened.platform.sent.map(({ text }) => text);
      demand(
        texts.length === 1 && texts[0]?.includes("Hello") === true,
        `people see ${texts.length} messages, or another text`,
      );
    }),
    check("messages go out without asking again what registration asked", async (opened) => {
      const before = opened.asked.length;
      const validation = new Set(opened.asked);
      for (const text of ["one", "two"]) {
        await worksOut(opened, "send", () => opened.channel.send(opened.message(text), NEVER), promptMs);
      }
      const again = opened.asked.slice(before).filter((request) => validation.has(request));
      demand(again.length === 0, `send asked again: ${again.join(", ")}`);
    }),
    check("a text arrives as it is: white space, markup, other scripts", async (opened) => {
      const text = 'a <b> & "c" \\ {d} %20 _e_\n\n  f \u{1F44B}\u{1F3FD} \u05E9\u05DC\u05D5\u05DD e\u0301 \u0130 ';
      await worksOut(opened, "send", () => opened.channel.send(opened.message(text), NEVER), promptMs);
      demand(isSeen(opened.platform.sent[0], text, subject), "people see another text than was sent");
    }),
    check("a message that the platform would refuse again is DELIVERY_REFUSED", async (opened) => {
      await refused(opened, { refuses: 400 }, ["DELIVERY_REFUSED"]);
    }),
    check("refused credentials are CHANNEL_UNAUTHORIZED", async (opened) => {
      await refused(opened, { refuses: 401 }, ["CHANNEL_UNAUTHORIZED"]);
    }),
    check("a rate limit is to be tried again, when the platform says", async (opened) => {
      const error = await refused(opened, { rateLimits: RETRY_AFTER_SECS }, LATER);
      demand(
        error.retryAfterMs === RETRY_AFTER_SECS * 1000,
        `retryAfterMs is ${error.retryAfterMs}, not what Retry-After says`,
      );
    }),
    check("an error of the platform's own is to be tried again", async (opened) => {
      for (const status of [500, 502, 503]) await refused(opened, { refuses: status }, LATER);
    }),
    check("a dead connection is to be tried again", async (opened) => {
      await refused(opened, "resets", LATER);
      await opened.platform.close();
      await refused(opened, "takes", LATER);
    }),
    check("an answer that got lost is to be tried again, and not by the channel itself", async (opened) => {
      await refused(opened, "loses answers", LATER);
      demand(opened.platform.sent.length <= 1, "it sent the message more than once");
    }),
    check("an answer that can't be read ends in a receipt or in an error that says what to do", async (opened) => {
      const { id, platform, channel, message } = opened;
      for (const mood of [
        { babbles: "<html>no</html>" },
        { babbles: "" },
        { babbles: '{"a":' },
        { babbles: "[null]" },
      ]) {
        platform.mood = mood;
        const outcome = await outcomeOf(() => channel.send(message(), NEVER), promptMs);
        demand(outcome.kind !== "hung", "send hangs");
        if (outcome.kind === "resolved") demand(isReceipt(outcome.value, id), "what it resolves with is no receipt");
        else if (!(outcome.error instanceof SvcError)) throw new Error(`send throws ${errorText(outcome.error)}`);
      }
    }),
    check("send ends at once when it is aborted, before or on the way", async (opened) => {
      await failsWhenAborted(opened, "send", (signal) => opened.channel.send(opened.message(), signal), promptMs);
      demandNoSecret(opened.secrets, "the log", opened.log.text());
    }),
    check("nothing is sent after shutdown", async (opened) => {
      if (opened.made.shutdown === undefined) return;
      await opened.shutdown();
      await outcomeOf(() => opened.channel.send(opened.message(), NEVER), promptMs);
      demand(opened.platform.sent.length === 0, "the platform got a message after shutdown");
    }),
    ...(subject.idempotent === true
      ? [
          check("what is sent again with the same delivery id arrives once", async (opened) => {
            const { channel, platform } = opened;
            const [first, second] = [opened.message(), opened.message()];
            const send = (message: typeof first) =>
              worksOut(opened, "send", () => channel.send(message, NEVER), promptMs);
            platform.mood = "loses answers";
            await failsWith(opened, "send", () => channel.send(first, NEVER), LATER, promptMs);
            platform.mood = "takes";
            await send(first);
            demandSeen(opened, 1);
            await send(second);
            demandSeen(opened, 2);
          }),
        ]
      : []),
  ];
}

const demandSeen = ({ platform: { sent } }: OpenChannel, count: number): void =>
  demand(sent.length === count, `people see ${sent.length} messages instead of ${count}`);

/** Of a number or an object nothing can be made, nor of a place that is another channel's. */
export function isReceipt(value: unknown, channel: string): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { platformId, opened } = value as { readonly platformId?: unknown; readonly opened?: Conversation };
  const isPlace = opened === undefined || (opened.channel === channel && opened.id.trim() !== "");
  return isPlace && (platformId === undefined || (typeof platformId === "string" && platformId !== ""));
}

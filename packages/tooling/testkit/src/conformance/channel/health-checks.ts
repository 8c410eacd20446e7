/** Who we are to the platform: `check`, and `run` that begins with it. */
import { type Check, demand, outcomeOf } from "../../check.ts";
import { endsWhenAborted, failsWhenAborted, failsWith, LATER, NEVER, worksOut } from "./judge.ts";
import { type Bench, type OpenChannel, withChannel } from "./open.ts";
import { demandNoSecret, withOtherSecrets } from "./secrets.ts";

export function healthChecks(bench: Bench): Check[] {
  const { promptMs, definition, subject } = bench;
  const otherSecrets = (section: Parameters<typeof withOtherSecrets>[1]) => withOtherSecrets(definition, section);
  const check = (name: string, run: (opened: OpenChannel) => Promise<void>): Check => ({
    name,
    run: () => withChannel(bench, run),
  });
  const asked = ({ channel }: OpenChannel, signal = NEVER): unknown => {
    if (channel.check === undefined)
      throw new Error("the channel has no check(): svc channels test could not tell anything");
    return channel.check(signal);
  };
  return [
    check("check tells in one line who we are there", async (opened) => {
      const line = await worksOut(opened, "check", () => asked(opened), promptMs);
      demand(
        typeof line === "string" && line.trim() !== "" && !/\p{Cc}/u.test(line),
        "what it tells is no line of text",
      );
      demandNoSecret(opened.secrets, "the line", line);
    }),
    {
      name: "check finds out that the credentials are wrong",
      run: () =>
        withChannel(
          bench,
          async (opened) => {
            if (subject.checkProves !== "reachability") {
              await failsWith(opened, "check", () => asked(opened), ["CHANNEL_UNAUTHORIZED"], promptMs);
            }
            opened.platform.mood = { refuses: 401 };
            await failsWith(opened, "check", () => asked(opened), ["CHANNEL_UNAUTHORIZED"], promptMs);
          },
          otherSecrets,
        ),
    },
    check("check of a platform that is down is REMOTE_*", async (opened) => {
      for (const mood of [{ refuses: 503 }, "resets"] as const) {
        opened.platform.mood = mood;
        await failsWith(opened, "check", () => asked(opened), ["REMOTE_UNREACHABLE", "REMOTE_TIMEOUT"], promptMs);
      }
    }),
    check("check ends at once when it is aborted", (opened) =>
      failsWhenAborted(opened, "check", (signal) => asked(opened, signal), promptMs),
    ),
    check("run goes on until it is stopped", async (opened) => {
      const { run } = opened.made;
      if (run === undefined) return;
      const stop = new AbortController();
      const running = outcomeOf(() => run.call(opened.made, stop.signal), promptMs);
      await Promise.race([opened.platform.arrived(0), running]);
      // Long enough for whatever the platform's answer leads to.
      const early = await Promise.race([running, laps(200)]);
      demand(early === undefined, "run ends by itself");
      stop.abort(new Error("called off"));
      demand((await running).kind !== "hung", "run goes on although it was stopped");
    }),
    check("run gives up for good on refused credentials, and only on them", async (opened) => {
      const { run } = opened.made;
      if (run === undefined) return;
      const work = () => run.call(opened.made, NEVER);
      opened.platform.mood = { refuses: 401 };
      await failsWith(opened, "run", work, ["FEATURE_FAILED"], promptMs);
      for (const mood of [{ refuses: 503 }, "resets"] as const) {
        opened.platform.mood = mood;
        await failsWith(opened, "run", work, LATER, promptMs);
      }
    }),
    check("signs of life (typing, read marks) are given, and end at once when they are aborted", async (opened) => {
      const { channel, platform, message } = opened;
      const { conversation } = message();
      const { typing, readMarks } = channel;
      const signs = {
        typing: typing && ((signal: AbortSignal) => typing.start(conversation, "message-1", signal)),
        "a read mark": readMarks && ((signal: AbortSignal) => readMarks.mark(conversation, "message-1", signal)),
      };
      demand(typing === undefined || typing.lastsMs > 0, "typing lasts no time");
      for (const [what, give] of Object.entries(signs)) {
        if (give === undefined) continue;
        platform.mood = "takes";
        demand((await outcomeOf(() => give(NEVER), promptMs)).kind !== "hung", `${what} hangs`);
        platform.mood = { refuses: 500 };
        const refused = await outcomeOf(() => give(NEVER), promptMs);
        if (refused.kind === "rejected") demandNoSecret(opened.secrets, `the error of ${what}`, refused.error);
        demandNoSecret(opened.secrets, "the log", opened.log.text());
        await endsWhenAborted(opened, what, give, promptMs);
      }
    }),
  ];
}

/** Turns of the event loop. */
async function laps(count: number): Promise<undefined> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  return undefined;
}

/** What a channel does beside messages: setting itself up on its platform, and following up notices. */
import { type Check, demand } from "../../check.ts";
import { endsSoundly, endsWhenAborted, NEVER } from "./judge.ts";
import { type Bench, withChannel } from "./open.ts";
import { demandNoSecret } from "./secrets.ts";

const URL_OF_OURS = "https://svc.example.org/hook";
/** Such as nobody kept; the inbox hands over what another version of the channel wrote, too. */
const STRANGE_NOTICES = [null, "", "x", 0, [], {}, { a: { b: [null] } }, { historyId: {} }];
const MOODS = ["takes", { refuses: 401 }, { refuses: 503 }, { babbles: "<html>" }, "resets"] as const;

export const asideChecks = (bench: Bench): Check[] => [
  {
    name: "setup tells what was done, or fails with a code, and ends at once when it is aborted",
    run: () =>
      withChannel(bench, async (opened) => {
        const { setup } = opened.channel;
        if (setup === undefined) return;
        const work = (signal: AbortSignal) => setup.call(opened.channel, { url: URL_OF_OURS }, signal);
        for (const mood of MOODS) {
          opened.platform.mood = mood;
          const done = await endsSoundly(opened, "setup", () => work(NEVER), bench.promptMs);
          demand(done === undefined || (typeof done === "string" && done.trim() !== ""), "setup tells nothing");
          demandNoSecret(opened.secrets, "what setup tells", done ?? "");
        }
        await endsWhenAborted(opened, "setup", work, bench.promptMs);
      }),
  },
  {
    name: "onNotice takes whatever was kept, or fails with a code, and ends at once when it is aborted",
    run: () =>
      withChannel(bench, async (opened) => {
        const { onNotice } = opened.channel;
        const notifies = bench.subject.deliveries?.notifies === true;
        demand(!notifies || onNotice !== undefined, "its deliveries become notices, and it has no onNotice()");
        if (onNotice === undefined) return;
        for (const mood of MOODS) {
          opened.platform.mood = mood;
          for (const notice of STRANGE_NOTICES) {
            const work = () => onNotice.call(opened.channel, notice, NEVER);
            await endsSoundly(opened, "onNotice", work, bench.promptMs);
          }
        }
        const work = (signal: AbortSignal) => onNotice.call(opened.channel, {}, signal);
        await endsWhenAborted(opened, "onNotice", work, bench.promptMs);
      }),
  },
];

/** Answers that people see being written: an edit is told as a message is, and half a Markdown breaks nothing. */
import type { Drafts, SentMessage } from "@svc/contract";
import * as v from "valibot";
import { type Check, demand } from "../../check.ts";
import { endsSoundly, failsAsSend, failsWhenAborted, failsWith, isSeen, NEVER, worksOut } from "./judge.ts";
import { type Bench, type OpenChannel, withChannel } from "./open.ts";
import type { Section } from "./subject.ts";

/** What of an answer may have come so far, and a word of it that people must see. */
const UNFINISHED: readonly (readonly [text: string, word: string])[] = [
  ["Look:\n```js\nconst answer = 42;", "answer"],
  ["Look:\n```", "Look"],
  ["It is **really", "really"],
  ["It is *perhaps", "perhaps"],
  ["Neither ~~gone", "gone"],
  ["Call `restart", "restart"],
  ["A lone ` here", "here"],
  ["See [the docs](https://example.org/a_b", "docs"],
  ["See [the do", "the do"],
  ["Less < more & <b>bold <i", "more"],
  ["Closed </b></pre> before", "before"],
  ["Half an entity &am", "entity"],
  ["| a | b |\n| --", "a"],
  ["> quoted\n> and", "quoted"],
  ["1. first\n2.", "first"],
  ["# Title\n#", "Title"],
  ["Odd: _*[]()~`>#+-=|{}.!\\", "Odd"],
];

const MODES = ["partial", "multi_message"] as const;

export function draftChecks(bench: Bench): Check[] {
  const { promptMs, subject } = bench;
  const check = (name: string, run: (opened: OpenChannel, drafts: Drafts) => Promise<void>): Check => ({
    name,
    run: () =>
      withChannel(bench, async (opened) => {
        if (opened.channel.drafts !== undefined) await run(opened, opened.channel.drafts);
      }),
  });
  const begun = async (opened: OpenChannel, text = "An ans"): Promise<SentMessage> => {
    const message = opened.message(text);
    const receipt = await worksOut(opened, "send", () => opened.channel.send(message, NEVER), promptMs);
    demand(receipt.platformId !== undefined, "what is sent has no platformId to edit it by");
    return { conversation: receipt.opened ?? message.conversation, platformId: receipt.platformId };
  };
  const edit = (opened: OpenChannel, drafts: Drafts, sent: SentMessage, text: string) =>
    worksOut(opened, "edit", () => drafts.edit(sent, text, NEVER), promptMs);

  return [
    check("an edit changes what people see, and the same text once more is no error", async (opened, drafts) => {
      const sent = await begun(opened);
      for (const text of ["An answer that grows", "An answer that grows", "An answer that is complete.", "Short."]) {
        await edit(opened, drafts, sent, text);
        const seen = opened.platform.sent;
        demand(seen.length === 1, `people see ${seen.length} messages instead of 1`);
        demand(isSeen(seen[0], text, subject), "people see another text");
        demand(text !== "Short." || !isSeen(seen[0], "complete", subject), "the old text is still there");
      }
    }),
    check("an edit of a message that is not there is DELIVERY_REFUSED", async (opened, drafts) => {
      const sent = await begun(opened);
      for (const platformId of ["no-such-message", `${sent.platformId}9`, "", "../0"]) {
        const work = () => drafts.edit({ ...sent, platformId }, "Another text", NEVER);
        await failsWith(opened, "edit", work, ["DELIVERY_REFUSED"], promptMs);
      }
      demand(opened.platform.sent.length === 1, "people see a message too many");
      demand(isSeen(opened.platform.sent[0], "An ans", subject), "another message is changed");
    }),
    check("what the platform refuses of an edit is told as of a message", async (opened, drafts) => {
      const sent = await begun(opened);
      let edits = 0;
      await failsAsSend(opened, "edit", () => drafts.edit(sent, `Edit ${(edits += 1)}`, NEVER), promptMs);
      for (const answer of ["<html>no</html>", "", '{"a":', "[null]"]) {
        opened.platform.mood = { babbles: answer };
        await endsSoundly(opened, "edit", () => drafts.edit(sent, `Edit ${answer}`, NEVER), promptMs);
      }
      demand(opened.platform.sent.length === 1, "people see a message too many");
    }),
    check("edit ends at once when it is aborted, before or on the way", async (opened, drafts) => {
      const sent = await begun(opened);
      await failsWhenAborted(opened, "edit", (signal) => drafts.edit(sent, "An answer", signal), promptMs);
    }),
    check("an answer that breaks off anywhere is taken, as a message and as an edit", async (opened, drafts) => {
      for (const [text, word] of UNFINISHED) {
        const sent = await begun(opened, text);
        demand(
          isSeen(opened.platform.sent.at(-1), word, subject),
          `people do not see the text of ${JSON.stringify(text)}`,
        );
        await edit(opened, drafts, sent, "Meanwhile");
        await edit(opened, drafts, sent, text);
        demand(
          isSeen(opened.platform.sent.at(-1), word, subject),
          `people do not see the text of ${JSON.stringify(text)}`,
        );
      }
    }),
    check("an edit takes as long a text as a message", async (opened, drafts) => {
      const limit = opened.channel.text?.maxChars ?? 4_000;
      const sent = await begun(opened);
      for (const unit of ["x", "\u{1F600}", "&", '"', "\n."]) {
        const text = unit.repeat(Math.floor(limit / unit.length)).padEnd(limit, "x");
        await edit(opened, drafts, sent, text);
        demand(isSeen(opened.platform.sent.at(-1), text, subject), "people see another text, or a part of it");
      }
    }),
    check("intervalMs is a time, and never less than draft_update_interval_ms", async (opened, drafts) => {
      demandTime(drafts.intervalMs(opened.message().conversation), 1);
      await withKeys(bench, { draft_update_interval_ms: 90_000 }, ({ channel, message }) =>
        demandTime(channel.drafts?.intervalMs(message().conversation), 90_000),
      );
    }),
    check("stream_mode selects the drafts, and off turns them off", async () => {
      for (const mode of MODES) {
        await withKeys(bench, { stream_mode: mode }, ({ channel }) =>
          demand(channel.drafts?.mode === mode, `stream_mode is ${mode}, and drafts are ${channel.drafts?.mode}`),
        );
      }
      await withKeys(bench, { stream_mode: "off" }, ({ channel }) =>
        demand(channel.drafts === undefined, "stream_mode is off, and it has drafts"),
      );
    }),
  ];
}

/** With these keys, if its section has them. */
async function withKeys(bench: Bench, keys: Section, run: (opened: OpenChannel) => void): Promise<void> {
  let hasThem = false;
  const change = (section: Section): Section => {
    hasThem = v.safeParse(bench.definition.config ?? v.undefined(), { ...section, ...keys }).success;
    return hasThem ? { ...section, ...keys } : section;
  };
  await withChannel(
    bench,
    async (opened) => {
      if (hasThem) run(opened);
    },
    change,
  );
}

function demandTime(ms: number | undefined, least: number): void {
  const isTime = ms !== undefined && Number.isFinite(ms) && ms >= least && ms <= 600_000;
  demand(isTime, `intervalMs is ${ms}, expected are milliseconds from ${least} to 600000`);
}

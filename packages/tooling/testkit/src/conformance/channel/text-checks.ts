/** How much one message may hold: what the channel says must be what the platform takes. */
import { type Check, demand } from "../../check.ts";
import { splitText } from "@svc/kit";
import { failsWith, isSeen, NEVER, worksOut } from "./judge.ts";
import { type Bench, type OpenChannel, withChannel } from "./open.ts";

const DEFAULT_CHARS = 4000;

export function textChecks(bench: Bench): Check[] {
  const { promptMs, subject } = bench;
  const send = (opened: OpenChannel, text: string) =>
    worksOut(
      opened,
      `send of ${text.length} characters`,
      () => opened.channel.send(opened.message(text), NEVER),
      promptMs,
    );
  const limitOf = ({ channel }: OpenChannel): number => channel.text?.maxChars ?? DEFAULT_CHARS;
  return [
    {
      name: "the platform takes a text of text.maxChars, of whatever characters",
      run: () =>
        withChannel(bench, async (opened) => {
          const limit = limitOf(opened);
          demand(Number.isInteger(limit) && limit >= 100, `text.maxChars is ${limit}`);
          for (const unit of ["x", "\u{1F600}", "\u20AC", "&", '"', "\n."]) {
            const text = unit.repeat(Math.floor(limit / unit.length)).padEnd(limit, "x");
            await send(opened, text);
            demand(isSeen(opened.platform.sent.at(-1), text, subject), "people see another text, or a part of it");
          }
        }),
    },
    {
      name: "text.maxChars is the platform's limit: it refuses one more, and the channel says so",
      run: () =>
        withChannel(bench, async (opened) => {
          if (opened.channel.text === undefined || subject.ownTextLimit === true) return;
          const text = "x".repeat(limitOf(opened) + 1);
          const work = () => opened.channel.send(opened.message(text), NEVER);
          await failsWith(opened, "send of one character more", work, ["DELIVERY_REFUSED"], promptMs);
        }),
    },
    {
      name: "an over-long answer arrives whole, in parts",
      run: () =>
        withChannel(bench, async (opened) => {
          const words = Math.ceil(limitOf(opened) / 4);
          const answer = Array.from({ length: words }, (_, index) => `Word ${index}.`).join(" ");
          for (const part of splitText(answer, limitOf(opened))) await send(opened, part);
          const seen = opened.platform.sent.map(({ text }) => text).join(" ");
          demand(seen.match(/\d+/g)?.join() === answer.match(/\d+/g)?.join(), "words are missing, or not in order");
        }),
    },
  ];
}

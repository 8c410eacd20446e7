/** Questions with buttons: posted as a message is sent, answered by a press, or by words where there is no room for buttons. */
import type { Channel, Inbound, Prompt, Prompts } from "@svc/contract";
import { type Check, demand } from "../../check.ts";
import { countOf, endpointOf, NOW_MS } from "./delivered.ts";
import {
  endsSoundly,
  endsWhenAborted,
  failsAsSend,
  failsWhenAborted,
  failsWith,
  LATER,
  NEVER,
  worksOut,
} from "./judge.ts";
import { type Bench, type OpenChannel, withChannel } from "./open.ts";
import { demandNoSecret } from "./secrets.ts";
import { isReceipt } from "./send-checks.ts";
import type { PromptSubject } from "./subject.ts";

export const PROMPT: Prompt = {
  id: "ap-12",
  title: "Deploy <v2> & go?",
  message: 'To "production", now.',
  approve: "Approve",
  reject: "Reject",
};
export const WORDS = `Approval needed (#12): ${PROMPT.title}\n${PROMPT.message}\nAnswer: approve #12, or reject #12`;
const MOODS = ["takes", { refuses: 400 }, { refuses: 401 }, { refuses: 503 }, { babbles: "<html>" }, "resets"] as const;

export function promptChecks(bench: Bench): Check[] {
  const { promptMs, subject } = bench;
  if (subject.prompts === undefined) return [undeclared(bench)];
  const { prompts: own } = subject;
  const check = (name: string, run: (opened: OpenChannel, prompts: Prompts) => Promise<void>): Check => ({
    name,
    run: () => withChannel(bench, (opened) => run(opened, promptsOf(opened.channel))),
  });
  const post = (opened: OpenChannel, prompts: Prompts, prompt = PROMPT, message = opened.message(WORDS)) =>
    worksOut(opened, "post", () => prompts.post(message, prompt, NEVER), promptMs);

  return [
    check("post resolves with a receipt once people see the question and both its buttons", async (opened, prompts) => {
      const receipt = await post(opened, prompts);
      demand(isReceipt(receipt, opened.id), "what it resolves with is no receipt");
      demandNoSecret(opened.secrets, "the receipt", receipt);
      const { sent } = opened.platform;
      demand(sent.length === 1, `people see ${sent.length} messages`);
      demand(sent[0]?.text.includes(PROMPT.title) === true, "people see another title");
      demand(sent[0].text.includes(PROMPT.message), "people see another question");
      const labels = (sent[0].buttons ?? []).join(", ");
      demand(labels === "Approve, Reject", `people see the buttons: ${labels}`);
    }),
    check("a question that has no room for buttons goes out in words, whole", async (opened, prompts) => {
      const longest = "w".repeat(opened.channel.text?.maxChars ?? 4_000);
      const long = [
        [{ ...PROMPT, message: "y".repeat(100_000) }, WORDS],
        [{ ...PROMPT, approve: "a".repeat(200), reject: "r".repeat(200) }, WORDS],
        [PROMPT, longest],
      ] as const;
      for (const [at, [prompt, words]] of long.entries()) {
        await post(opened, prompts, prompt, opened.message(words));
        const { sent } = opened.platform;
        demand(sent.length === at + 1, `people see ${sent.length} messages instead of ${at + 1}`);
        const seen = sent.at(-1)!;
        const isWhole = seen.text.includes(words) || hasAll(seen, prompt);
        demand(isWhole, "people see a part of it, or other words");
      }
    }),
    check("what the platform refuses of a question is told as of a message", async (opened, prompts) => {
      await failsAsSend(opened, "post", () => prompts.post(opened.message(WORDS), PROMPT, NEVER), promptMs);
      demand(opened.platform.sent.length <= 1, "it posted the question more than once");
    }),
    check("post ends at once when it is aborted, before or on the way", (opened, prompts) =>
      failsWhenAborted(opened, "post", (signal) => prompts.post(opened.message(WORDS), PROMPT, signal), promptMs),
    ),
    check("close ends soundly whatever the platform says, and at once when it is aborted", async (opened, prompts) => {
      if (prompts.close === undefined) return;
      const { platformId } = await post(opened, prompts);
      const { conversation, text } = opened.message(WORDS);
      for (const mood of MOODS) {
        opened.platform.mood = mood;
        for (const id of [platformId, undefined, "no-such-message"]) {
          const posted = { conversation, platformId: id, text };
          await endsSoundly(opened, "close", () => prompts.close?.(posted, "approved by alice", NEVER), promptMs);
        }
      }
      const posted = { conversation, platformId, text };
      await endsWhenAborted(opened, "close", (signal) => prompts.close?.(posted, "over", signal), promptMs);
    }),
    check("close takes the buttons off, and people see how it ended", async (opened, prompts) => {
      const { close } = prompts;
      if (close === undefined) return;
      const { platformId } = await post(opened, prompts);
      const { conversation, text } = opened.message(WORDS);
      const work = () => close.call(prompts, { conversation, platformId, text }, "approved by alice", NEVER);
      await worksOut(opened, "close", work, promptMs);
      const [seen] = opened.platform.sent;
      demand((seen?.buttons ?? []).length === 0, "its buttons are still there");
      const isTold = opened.platform.sent.some((one) => one.text.includes("approved by alice"));
      demand(isTold, "nobody is told how it ended");
    }),
    ...(subject.idempotent === true ? [onceCheck(bench)] : []),
    ...(own.pressed === undefined ? [] : [pressCheck(bench, own.pressed)]),
  ];
}

const hasAll = ({ text }: { readonly text: string }, { title, message }: Prompt): boolean =>
  text.includes(title) && text.includes(message);

const onceCheck = (bench: Bench): Check => ({
  name: "a question that is posted again with the same delivery id arrives once",
  run: () =>
    withChannel(bench, async (opened) => {
      const prompts = promptsOf(opened.channel);
      const message = opened.message(WORDS);
      const work = () => prompts.post(message, PROMPT, NEVER);
      opened.platform.mood = "loses answers";
      await failsWith(opened, "post", work, LATER, bench.promptMs);
      opened.platform.mood = "takes";
      await worksOut(opened, "post", work, bench.promptMs);
      demand(opened.platform.sent.length === 1, `people see ${opened.platform.sent.length} questions instead of 1`);
    }),
});

const pressCheck = (bench: Bench, pressed: NonNullable<PromptSubject["pressed"]>): Check => ({
  name: "a press on a button says which question it answers, and whether yes; a stranger's is not heard",
  run: () =>
    withChannel(bench, async (opened) => {
      const prompts = promptsOf(opened.channel);
      const message = opened.message(WORDS);
      await worksOut(opened, "post", () => prompts.post(message, PROMPT, NEVER), bench.promptMs);
      const endpoint = endpointOf(opened, bench.subject);
      const { person, stranger } = endpoint.deliveries;
      for (const approved of [true, false]) {
        const press = { id: `press-${approved}`, atMs: NOW_MS, approved };
        const parsed = endpoint.parsed(pressed(opened.platform as never, { ...press, from: person }, opened.section));
        demand(countOf(parsed) === 1, `there are ${countOf(parsed)} messages in a press on a button`);
        demandAnswer(parsed.inbound?.[0], approved);
        const forged = pressed(opened.platform as never, { ...press, from: stranger }, opened.section);
        demand(countOf(endpoint.parsed(forged)) === 0, "a stranger's press is heard");
      }
    }),
});

/** Of a press on a button of PROMPT. */
export function demandAnswer(one: Inbound | undefined, approved: boolean): void {
  const { choice, text } = one ?? {};
  demand(choice !== undefined, "it is no choice");
  demand(choice.prompt === PROMPT.id, "it answers another question");
  demand(choice.approved === approved, `${approved ? "yes" : "no"} is taken for the opposite`);
  demand(text === (approved ? PROMPT.approve : PROMPT.reject), "its text is not the label");
}

function promptsOf({ prompts }: Channel): Prompts {
  demand(prompts !== undefined, "the channel has no `prompts`");
  return prompts;
}

const undeclared = (bench: Bench): Check => ({
  name: "a channel that posts questions hands in `prompts`",
  run: () =>
    withChannel(bench, async ({ channel }) => {
      demand(channel.prompts === undefined, "the channel has `prompts`, and its tests hand in none");
    }),
});

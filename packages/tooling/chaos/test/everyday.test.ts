// A judge that excuses too much lets answers be lost or said twice; one that excuses too little can't be run at random.
import { describe, expect, test } from "vitest";
import { ASKING } from "../src/everyday/asking.ts";
import { heard } from "../src/everyday/heard.ts";
import type { Asked } from "../src/everyday/ledger.ts";
import type { Written } from "../src/everyday/people.ts";
import { judgeShown, type Shown } from "../src/everyday/shown.ts";
import type { StoredDelivery, StoredMessage } from "../src/judge/database.ts";
import { answerTo } from "../src/fixture/model.ts";
import { textOf } from "../src/plan/messages.ts";

type Channel = "telegram" | "discord";

const first: Written = { channel: "telegram", label: "t0-1", kind: "story", conversation: "t0" };
const second: Written = { channel: "telegram", label: "t0-2", kind: "note", conversation: "t0" };

const answer = ({ kind, label }: Written): string => answerTo(kind, label, false);
const BEGINNING = answer(first).slice(0, 100);

const storedOf = (writings: readonly Written[]): StoredMessage[] =>
  writings.map((written, index) => ({
    n: index + 1,
    turnId: written.label,
    channel: written.channel,
    kind: "message",
    queue: `["${written.channel}","${written.conversation}"]`,
    text: textOf(written),
    state: "done",
    error: null,
  }));

const sentOf = (writings: readonly Written[]): StoredDelivery[] =>
  writings.map((written, index) => ({
    n: index + 1,
    turnId: written.label,
    channel: written.channel,
    queue: `["${written.channel}","${written.conversation}"]`,
    text: answer(written),
    state: "sent",
    error: null,
  }));

const on =
  (channel: Channel) =>
  (text: string): Shown => ({ channel, chat: "0", text });
const asks = (text: string, more: Partial<Asked> = {}): Asked => ({
  kind: "post",
  channel: "telegram",
  chat: "0",
  text,
  life: 1,
  fate: "taken",
  ...more,
});

interface Run {
  readonly writings?: readonly Written[];
  readonly deliveries?: readonly StoredDelivery[];
  readonly shown: readonly Shown[];
  readonly asked: readonly Asked[];
}

function judged(
  { writings = [first, second], deliveries = sentOf(writings), shown, asked }: Run,
  noted: readonly string[] = [],
): readonly string[] {
  const stored = { messages: storedOf(writings), deliveries };
  return judgeShown(stored, { writings, shown, asked, chatOf: () => "0", noted: new Set(noted) }).problems;
}

const [one, two] = [first, second].map(answer) as [string, string];
const there = [one, two].map(on("telegram"));

describe("what people see", () => {
  test("a beginning that became the answer, and the next answer behind it", () => {
    const asked = [asks(BEGINNING), asks(one, { kind: "edit" }), asks(two)];
    expect(judged({ shown: there, asked })).toEqual([]);
  });

  test("what failed is no message; what one life began another may end", () => {
    const asked = [
      asks(BEGINNING, { fate: "failed" }),
      asks(BEGINNING),
      asks(one, { kind: "edit", life: 2 }),
      asks(two, { life: 2 }),
    ];
    expect(judged({ shown: there, asked })).toEqual([]);
  });

  test("twice, or a beginning beside it, when the answer of the platform was lost or the daemon killed", () => {
    const shown = [BEGINNING, one, two].map(on("telegram"));
    const killed = [asks(BEGINNING), asks(one, { life: 2 }), asks(two, { life: 2 })];
    const lost = [asks(BEGINNING, { fate: "lost" }), asks(one), asks(two)];
    expect(judged({ shown, asked: killed })).toEqual([]);
    expect(judged({ shown, asked: lost })).toEqual([]);
    // The disk knew of it.
    expect(judged({ shown, asked: killed }, ["1 t0-1"])).toEqual(["t0-1 is there 1 times too often without an excuse"]);
  });

  test.for<readonly [string, Run, string]>([
    ["no answer", { shown: there.slice(1), asked: [asks(two)] }, "t0-1 is not answered"],
    [
      "a beginning only",
      { shown: [BEGINNING, two].map(on("telegram")), asked: [asks(BEGINNING), asks(two)] },
      "t0-1 is not answered",
    ],
    [
      "a beginning whose id was known",
      {
        shown: [BEGINNING, one, two].map(on("telegram")),
        asked: [asks(BEGINNING), asks(BEGINNING, { kind: "edit" }), asks(one, { life: 2 }), asks(two, { life: 2 })],
      },
      "t0-1 is there 1 times too often without an excuse",
    ],
    [
      "twice without a reason",
      {
        shown: [one, ...there].map((s) => (typeof s === "string" ? on("telegram")(s) : s)),
        asked: [asks(one), asks(one), asks(two)],
      },
      "t0-1 is there 1 times too often without an excuse",
    ],
    [
      "somewhere else",
      { shown: [{ ...there[0]!, chat: "1" }, there[1]!], asked: [asks(one), asks(two)] },
      "t0-1 was answered somewhere else",
    ],
    [
      "what the platform was not asked for",
      { shown: there, asked: [asks(two)] },
      "t0-1: the ledger and the platform differ",
    ],
    [
      "given up",
      {
        shown: there,
        asked: [asks(one), asks(two)],
        deliveries: sentOf([first, second]).map((row) => ({
          ...row,
          state: row.n === 1 ? "dead" : "sent",
          error: null,
        })),
      },
      "t0-1: out-1 is dead",
    ],
    [
      "given up too often",
      {
        shown: there.slice(1),
        asked: [asks(two)],
        deliveries: sentOf([first, second]).map((row) =>
          row.n === 1 ? { ...row, state: "dead", error: "DELIVERY_CRASHED" } : row,
        ),
      },
      "1 answers were given up",
    ],
    [
      "out of order",
      { shown: there.toReversed(), asked: [asks(one), asks(two)] },
      "telegram 0: answer 1 stands behind answer 2",
    ],
    [
      "an apology",
      { shown: [...there, on("telegram")("Something went wrong.")], asked: [asks(one), asks(two)] },
      "nobody asked for something (1 times)",
    ],
  ])("%s", ([, run, problem]) => {
    expect(judged(run)).toEqual([problem]);
  });

  test("where the platform knows a key nothing is there twice, and no beginning is left, whatever happened", () => {
    const told = { ...second, channel: "discord", label: "d0-1", conversation: "d0" } as const;
    const text = answer(told);
    const run = {
      writings: [told],
      asked: [asks(text, { channel: "discord" }), asks(text, { channel: "discord", life: 2 })],
    };
    expect(judged({ ...run, shown: [text].map(on("discord")) })).toEqual([]);
    expect(judged({ ...run, shown: [text, text].map(on("discord")) })).toEqual([
      "d0-1 is there twice, which can't be excused on discord",
    ]);
  });
});

describe("what was written", () => {
  const messages = storedOf([first, second]);

  test.for<readonly [string, readonly StoredMessage[], readonly string[]]>([
    ["kept once, in order", messages, []],
    ["lost", messages.slice(1), ["t0-1 was written and is not kept"]],
    [
      "kept twice",
      [...messages, { ...messages[1]!, n: 3 }],
      ["t0-2 is kept 2 times", 'messages of ["telegram","t0"] were kept out of order'],
    ],
    ["out of order", messages.toReversed(), ['messages of ["telegram","t0"] were kept out of order']],
  ])("%s", ([, stored, problems]) => {
    expect(heard({ messages: stored }, [first, second])).toEqual(problems);
  });
});

describe("what a request asks for", () => {
  const request = (path: string, body: string, method = "POST") => ({
    method,
    path,
    query: new URLSearchParams(),
    headers: {},
    body: Buffer.from(body),
    json: body.startsWith("{") ? (JSON.parse(body) as { [key: string]: string }) : undefined,
  });

  test("a post, an edit, and nothing that people read", () => {
    const { telegram, discord, slack } = ASKING;
    expect(telegram(request("/bot1:a/sendMessage", '{"chat_id":1,"text":"a"}'))).toEqual({
      kind: "post",
      chat: "1",
      text: "a",
    });
    expect(telegram(request("/bot1:a/editMessageText", '{"chat_id":1,"text":"a"}'))?.kind).toBe("edit");
    expect(telegram(request("/bot1:a/getUpdates", "{}"))).toBeUndefined();
    expect(discord(request("/api/v10/channels/1/messages", '{"content":"a"}'))).toEqual({
      kind: "post",
      chat: "1",
      text: "a",
    });
    expect(discord(request("/api/v10/channels/1/messages/2", '{"content":"a"}', "PATCH"))?.kind).toBe("edit");
    expect(discord(request("/api/v10/channels/1/messages", "", "GET"))).toBeUndefined();
    expect(slack(request("/api/chat.postMessage", "channel=D1&text=a"))).toEqual({
      kind: "post",
      chat: "D1",
      text: "a",
    });
    expect(slack(request("/api/chat.update", "channel=D1&text=a"))?.kind).toBe("edit");
    expect(slack(request("/api/auth.test", ""))).toBeUndefined();
  });
});

// What someone writes must be heard as it was written, by whom and where: a mention that is missed is a question without an
// answer, an edit that is heard is an answer too many.
import type { Inbound, Json } from "@svc/contract";
import { slackEvent, slackMention, type SlackMessage, slackMessageEvent } from "@svc/testkit/platforms/slack/events";
import { SLACK_BOT, slackDmOf } from "@svc/testkit/platforms/slack/workspace";
import { describe, expect, test } from "vitest";
import { fixture, ingressAt, NOW_MS, parsed, PERSON, posted, STRANGER } from "./fixture.ts";

const CHANNEL = "C0GENERAL";
const BOT = `<@${SLACK_BOT.user}>`;
const TS = "1780272000.000100";
const PARENT = "1780271000.000100";

const event = (more: Partial<SlackMessage> = {}): Json =>
  slackMessageEvent({ id: TS, text: "Hello", from: PERSON, atMs: NOW_MS, ...more });
const inChannel = (more: Partial<SlackMessage> = {}): Json => event({ channel: CHANNEL, kind: "channel", ...more });
const one = (payload: Json, section = {}): Inbound | undefined => {
  const { inbound = [] } = parsed(payload, section);
  expect(inbound.length).toBeLessThanOrEqual(1);
  return inbound[0];
};

describe("a direct message", () => {
  test("is a message of its conversation, without a thread", () => {
    expect(one(event())).toEqual({
      id: `${slackDmOf(PERSON)}:${TS}`,
      conversation: { channel: "slack", id: slackDmOf(PERSON) },
      sender: PERSON,
      text: "Hello",
      sentAtMs: NOW_MS,
    });
  });

  test("in a thread is answered there", () => {
    expect(one(event({ threadTs: PARENT }))?.conversation).toMatchObject({ id: slackDmOf(PERSON), thread: PARENT });
  });

  test("that began a thread is no message of it", () => {
    expect(one(event({ threadTs: TS }))?.conversation).not.toHaveProperty("thread");
  });

  test("to several is a group, and needs no mention", () => {
    expect(one(event({ channel: "C0SEVERAL", kind: "mpim" }))).toMatchObject({
      group: true,
      conversation: { id: "C0SEVERAL" },
    });
  });
});

describe("a message in a channel", () => {
  test("without a mention is not for us, unless every message is", () => {
    expect(one(inChannel())).toBeUndefined();
    expect(one(inChannel(), { mention_only: false })).toMatchObject({ text: "Hello", group: true });
    expect(one(inChannel({ kind: "group" }), { mention_only: false })).toMatchObject({ text: "Hello" });
  });

  test("with a mention is, and is answered in a thread under it", () => {
    expect(one(inChannel({ text: `${BOT} Hello` }))).toMatchObject({
      text: "Hello",
      conversation: { id: CHANNEL, thread: TS },
    });
    expect(one(inChannel({ text: `${BOT} Hello` }), { thread_replies: false })?.conversation).toEqual({
      channel: "slack",
      id: CHANNEL,
    });
  });

  test("of another is none of ours", () => {
    expect(one(inChannel({ text: "<@U0SOMEONE> Hello" }))).toBeUndefined();
  });

  test("in a thread stays in it, whatever thread_replies says", () => {
    for (const thread_replies of [true, false]) {
      const heard = one(inChannel({ text: `Well, ${BOT}`, threadTs: PARENT }), { thread_replies });
      expect(heard?.conversation).toEqual({ channel: "slack", id: CHANNEL, thread: PARENT });
    }
  });

  test("in a thread that we began needs no mention", () => {
    const ours = inChannel({ threadTs: PARENT, event: { parent_user_id: SLACK_BOT.user } });
    expect(one(ours)).toMatchObject({ text: "Hello", conversation: { thread: PARENT } });
    expect(one(inChannel({ threadTs: PARENT }))).toBeUndefined();
  });

  test("is one with the mention that is told of beside it", () => {
    const said = {
      id: TS,
      text: `${BOT} Hello`,
      from: PERSON,
      atMs: NOW_MS,
      channel: CHANNEL,
      kind: "channel" as const,
    };
    const [asMessage, asMention] = [one(slackMessageEvent(said)), one(slackMention(said))];
    expect(asMention).toEqual(asMessage);
    expect(asMention?.id).toBe(`${CHANNEL}:${TS}`);
  });

  test("that was sent to the channel as well is one", () => {
    const broadcast = inChannel({ text: `${BOT} Hello`, threadTs: PARENT, event: { subtype: "thread_broadcast" } });
    expect(one(broadcast)).toMatchObject({ conversation: { thread: PARENT } });
  });
});

describe("what is no question", () => {
  test.each([
    ["an edit", { subtype: "message_changed", hidden: true, message: { text: "x" } }],
    ["a deletion", { subtype: "message_deleted" }],
    ["somebody who came in", { subtype: "channel_join" }],
    ["a new topic", { subtype: "channel_topic" }],
    ["another bot's", { subtype: "bot_message", bot_id: "B0OTHER" }],
    ["another app's, in a person's name", { bot_id: "B0OTHER" }],
    ["ours", { user: SLACK_BOT.user }],
    ["a stranger's", { user: STRANGER }],
    ["nobody's", { user: null }],
    ["blank", { text: "  " }],
    ["hidden", { hidden: true }],
    ["of no channel", { channel: "general" }],
    ["of no time", { ts: "now" }],
  ])("%s", (_, more) => {
    expect(one(event({ event: more as Record<string, Json> }))).toBeUndefined();
  });

  test("ours and other bots' are none where everybody may write", () => {
    for (const more of [{ user: SLACK_BOT.user }, { bot_id: "B0OTHER" }, { subtype: "bot_message" }]) {
      expect(one(event({ event: more }), { allowed_users: ["*"] })).toBeUndefined();
    }
    expect(one(event({ from: STRANGER }), { allowed_users: ["*"] })).toMatchObject({ sender: STRANGER });
  });

  test.each(["app_home_opened", "member_joined_channel", "team_join", "constructor", "__proto__", ""])(
    "the event %j",
    (type) => {
      expect(one(slackEvent({ type, user: PERSON, channel: CHANNEL }, NOW_MS))).toBeUndefined();
    },
  );

  test("of those who chat among each other is not told to the log, of those who call us once", () => {
    const opened = fixture({ mode: "events" });
    const say = (text: string): unknown =>
      ingressAt(opened).parse(posted(JSON.stringify(inChannel({ from: STRANGER, text }))));
    say("Hello");
    expect(opened.context.log.lines).toEqual([]);
    say(`${BOT} Hello`);
    say(`${BOT} Hello?`);
    expect(opened.context.log.lines).toHaveLength(1);
  });
});

describe("the text", () => {
  test.each([
    ["a &lt;b&gt; &amp;amp; c", "a <b> &amp; c"],
    ["see <https://example.org/?a=1&amp;b=2>", "see https://example.org/?a=1&b=2"],
    ["see <https://example.org/|example.org>", "see https://example.org/"],
    ["see <https://example.org/|the docs>", "see the docs (https://example.org/)"],
    ["write <mailto:ada@example.org|ada@example.org>", "write ada@example.org"],
    ["ask <@U0ADA> or <@U0BOB|bob>", "ask @U0ADA or @bob"],
    ["in <#C0GENERAL|general> or <#C0OTHER>", "in #general or #C0OTHER"],
    ["<!here> <!channel> <!subteam^S01|@team> <!date^1^{date}|May>", "@here @channel @team May"],
    [`${BOT}, do it`, "do it"],
    [`${BOT}`, `@${SLACK_BOT.user}`],
    [`ask ${BOT}`, `ask @${SLACK_BOT.user}`],
    ["a < b", "a < b"],
    [`${BOT} /new`, "/new"],
  ])("%j is %j", (text, said) => {
    expect(one(event({ event: { text } }))?.text).toBe(said);
  });

  test("of a forwarded message is read", () => {
    const attachments = [
      { is_share: true, text: "The &lt;plan&gt;", author_name: "Bob", from_url: "https://acme.slack.com/x" },
      { text: "a preview of a link", title: "x" },
    ];
    expect(one(event({ event: { attachments } }))?.text).toBe("Hello\n[forwarded, by Bob]\nThe <plan>");
    expect(one(event({ text: "", event: { attachments } }))?.text).toBe("[forwarded, by Bob]\nThe <plan>");
  });
});

describe("files", () => {
  const file = (more: Record<string, Json> = {}): Json => ({
    id: "F0FILE123",
    name: "a.png",
    mimetype: "image/png",
    size: 1,
    url_private: "https://evil.example/",
    ...more,
  });

  test("are named, and fetched by their id: what an event says of them is only a name", () => {
    expect(
      one(
        event({ text: "Look", files: [file(), file({ id: "F0FILE124", name: "b.pdf", mimetype: "application/pdf" })] }),
      ),
    ).toMatchObject({
      text: "[image: a.png]\n[document: b.pdf]\nLook",
      media: [
        { kind: "image", ref: "F0FILE123", placeholder: "[image: a.png]", mimeType: "image/png", fileName: "a.png" },
        {
          kind: "document",
          ref: "F0FILE124",
          placeholder: "[document: b.pdf]",
          mimeType: "application/pdf",
          fileName: "b.pdf",
        },
      ],
    });
  });

  test.each([
    [{ mimetype: "video/mp4", subtype: "slack_audio" }, "audio"],
    [{ mimetype: "audio/mp4" }, "audio"],
    [{ mimetype: "video/mp4", subtype: "slack_video" }, "video"],
    [{ mimetype: "text/plain" }, "document"],
    [{ mimetype: null }, "document"],
  ])("with %j is %s", (more, kind) => {
    expect(one(event({ files: [file(more as Record<string, Json>)] }))?.media?.[0]?.kind).toBe(kind);
  });

  test("that are gone, or elsewhere, are told of", () => {
    const files = [
      { id: "F0FILE123", mode: "tombstone" },
      file({ is_external: true, url_private: "https://docs.example.org/d/1" }),
    ];
    expect(one(event({ text: "", files: files as Json[] }))).toEqual(
      expect.objectContaining({
        text: "[a file that is gone]\n[a file elsewhere: a.png] https://docs.example.org/d/1",
      }),
    );
  });
});

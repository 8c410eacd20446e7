/** Platforms that post deliveries to a callback, and mail. */
import type { Json } from "@svc/contract";
import { rawMail } from "@svc/testkit/platforms/email/fake/raw-mail";
import { startFakeMail } from "@svc/testkit/platforms/email/fake/server";
import { providerADelivery } from "@svc/testkit/platforms/provider-a/delivery";
import { startProviderA } from "@svc/testkit/platforms/provider-a/server";
import { providerBDelivery } from "@svc/testkit/platforms/provider-b/delivery";
import { startProviderB } from "@svc/testkit/platforms/provider-b/server";
import { providerCDelivery } from "@svc/testkit/platforms/provider-c/delivery";
import { startProviderC } from "@svc/testkit/platforms/provider-c/server";
import { providerDActivity } from "@svc/testkit/platforms/provider-d/delivery";
import { startProviderD } from "@svc/testkit/platforms/provider-d/server";
import { type Chat, type Fields, listed, lists, type Made, next, type Post, SECRETS } from "./chat.ts";

const OWN_MAIL = "agent@example.com";
const AUTHENTIC = "mx.example.com; dmarc=pass header.from=";
const PHONES = { member: "+15551230001", approver: "+15551230002", second: "+15551230003", stranger: "+15559990009" };
const NUMBER = { phoneNumberId: "109876543210", appSecret: SECRETS.aSecret };
const LINE = "+15550009999";
/** Each has a chat with the agent alone, and may approve there. */
const PRIVATE_PREFIX = "+1555777";
const PRIVATE = Array.from({ length: 80 }, (_, at) => `${PRIVATE_PREFIX}${String(1000 + at)}`);

/** There is no room of several: who asks is the approver. A room is a thread, named by the Message-ID that it began with. */
export async function email(stack: AsyncDisposableStack): Promise<Made> {
  const platform = stack.use(await startFakeMail({ address: OWN_MAIL, password: SECRETS.mail }));
  const people = {
    member: "ada@example.org",
    approver: "ada@example.org",
    second: "ada@example.org",
    stranger: "eve@evil.test",
  };
  const begun = new Set<string>();
  const chat: Chat = {
    channel: "email",
    people,
    openRoom: () => `<thread-${next()}@sender.test>`,
    async write(room, text, { from = "approver", id, more = {} } = {}) {
      const isFirst = !begun.has(room);
      begun.add(room);
      const address = people[from];
      const { html, ...own } = more as Readonly<Record<string, string>>;
      const headers = {
        "Authentication-Results": `${AUTHENTIC}${address.split("@")[1]}`,
        ...(!isFirst && { "In-Reply-To": room, References: room }),
        ...own,
      };
      const messageId = isFirst ? room : (id ?? `<m${next()}@sender.test>`);
      const subject = isFirst ? "A task" : "Re: A task";
      const mail = {
        from: address,
        to: OWN_MAIL,
        subject,
        text,
        messageId,
        headers,
        ...(html !== undefined && { html }),
      };
      platform.inbox.add(rawMail(mail));
      return messageId;
    },
    posted: () =>
      platform.sent.map(({ raw }) => {
        const mail = raw.toString("utf8").replaceAll(/=\r?\n/g, "");
        return { room: "", text: mail, data: [], id: /^Message-ID: (.+)$/im.exec(mail)?.[1]?.trim() };
      }),
  };
  const section = `[channels_config.email]
address = "${OWN_MAIL}"
password = "${SECRETS.mail}"
imap_host = "127.0.0.1"
imap_port = ${platform.imapPort}
imap_security = "none"
smtp_host = "127.0.0.1"
smtp_port = ${platform.smtpPort}
smtp_security = "none"
authserv_id = "mx.example.com"
allowed_senders = ["@example.org"]
approvers = ["${people.approver}"]`;
  return { chat, section };
}

/** Rooms are groups, whose questions have no buttons. In a chat of two they have: there the one who asks is the approver. */
export async function providerA(stack: AsyncDisposableStack, post: Post): Promise<Made & { direct: Chat }> {
  const { phoneNumberId } = NUMBER;
  const platform = stack.adopt(await startProviderA({ accessToken: SECRETS.aToken, phoneNumberId }), (one) =>
    one.close(),
  );
  const people = PHONES;
  const free = [...PRIVATE];
  const content = (room: string, of: Fields): Fields => ({ ...of, ...(!room.startsWith("+") && { group_id: room }) });
  const chat: Chat = {
    channel: "provider_a",
    people,
    openRoom: () => `Y2FwaV9ncm91cDoxNzA1NTU1MDEz${String(next()).padStart(4, "0")}ZD`,
    async write(room, text, { from = "approver", id = `wamid.m${next()}`, atMs = Date.now(), more = {} } = {}) {
      const said = content(room, { type: "text", text: { body: text }, ...more });
      await post("/provider-a", providerADelivery(NUMBER, { id, from: people[from], atMs, content: said }));
      return id;
    },
    async react({ room, id }, word) {
      await chat.write(room, "", { more: { type: "reaction", reaction: { message_id: id ?? "", emoji: word } } });
    },
    posted: () =>
      platform.sent.map(({ to, text, replies, messageId }) => ({
        room: to,
        text,
        data: replies.map(({ id }) => id),
        id: messageId,
      })),
  };
  const direct: Chat = {
    ...chat,
    people: { ...PHONES, approver: PRIVATE_PREFIX },
    openRoom: () => free.shift()!,
    async write(room, text, { from = "approver", id = `wamid.m${next()}`, atMs = Date.now(), more = {} } = {}) {
      const sender = from === "stranger" ? PHONES.stranger : room;
      const said = { type: "text", text: { body: text }, ...more };
      await post("/provider-a", providerADelivery(NUMBER, { id, from: sender, atMs, content: said }));
      return id;
    },
    async press({ room, id: asked }, { from, data, room: at = room, id }) {
      const interactive = { type: "button_reply", button_reply: { id: data, title: "Approve" } };
      const more = { type: "interactive", interactive, context: { from: LINE, id: asked ?? "" } };
      await direct.write(at.replace(/^(?=\d)/, "+"), "", {
        ...(from && { from }),
        ...(id !== undefined && { id }),
        more,
      });
    },
  };
  const section = `[channels_config.provider_a]
access_token = "${SECRETS.aToken}"
phone_number_id = "${phoneNumberId}"
verify_token = "verify-token-of-the-groups"
app_secret = "${SECRETS.aSecret}"
api_url = "${platform.apiUrl}"
allowed_numbers = ${listed(people.member, people.approver, people.second, ...PRIVATE)}
approvers = ${listed(people.approver, people.second, ...PRIVATE)}`;
  return { chat, direct, section };
}

export async function providerB(stack: AsyncDisposableStack, post: Post): Promise<Made> {
  const platform = stack.adopt(await startProviderB({ token: SECRETS.bToken, lines: [LINE] }), (one) => one.close());
  const people = PHONES;
  const chat: Chat = {
    channel: "provider_b",
    people,
    openRoom: () => platform.openChat([people.member, people.approver, people.second]),
    async write(room, text, { from = "approver", id = `b-${next()}`, atMs = Date.now(), more = {} } = {}) {
      const parts = (more["parts"] ?? []) as readonly Json[];
      const message = { id, from: people[from], chatId: room, text, atMs, parts, group: true };
      await post("/provider-b", providerBDelivery(message, SECRETS.bSecret));
      return id;
    },
    posted: () => platform.sent.map(({ chatId, text }) => ({ room: chatId, text, data: [], id: undefined })),
  };
  const section = `[channels_config.provider_b]
api_token = "${SECRETS.bToken}"
signing_secret = "${SECRETS.bSecret}"
from_phone = "${LINE}"
api_url = "${platform.apiUrl}"
${lists("allowed_senders", people)}`;
  return { chat, section };
}

/** A room is the chat of a person with the agent, who asks, and may approve. */
export async function providerC(stack: AsyncDisposableStack, post: Post): Promise<Made> {
  const platform = stack.adopt(await startProviderC({ token: SECRETS.cToken }), (one) => one.close());
  const free = [...PRIVATE];
  const chat: Chat = {
    channel: "provider_c",
    people: { ...PHONES, approver: PRIVATE_PREFIX },
    openRoom: () => free.shift()!,
    async write(room, text, { from = "approver", id = `c-${next()}`, atMs = Date.now(), more = {} } = {}) {
      const sender = from === "stranger" ? PHONES.stranger : room;
      const delivery = providerCDelivery({ id, from: sender, text, atMs }, SECRETS.cCallback);
      const body = { ...(JSON.parse(Buffer.from(delivery.body).toString()) as Fields), ...more };
      await post("/provider-c", { ...delivery, body: Buffer.from(JSON.stringify(body)) });
      return id;
    },
    async react({ room }, word) {
      await chat.write(`+${room}`, word, { more: { type: "reaction" } });
    },
    posted: () => platform.sent.map(({ target, text }) => ({ room: target, text, data: [], id: undefined })),
  };
  const section = `[channels_config.provider_c]
api_token = "${SECRETS.cToken}"
callback_token = "${SECRETS.cCallback}"
api_url = "${platform.url}"
allowed_numbers = ${listed(...PRIVATE)}
approvers = ${listed(...PRIVATE)}`;
  return { chat, section };
}

export async function providerD(stack: AsyncDisposableStack, post: Post): Promise<Made> {
  const platform = stack.adopt(await startProviderD({ secret: SECRETS.d }), (one) => one.close());
  const people = { member: "ann", approver: "ada", second: "bob", stranger: "eve" };
  const chat: Chat = {
    channel: "provider_d",
    people,
    openRoom: () => `room${next()}`,
    async write(room, text, { from = "approver", id = String(1000 + next()), more = {} } = {}) {
      const { actor, object, type = "Create", ...rest } = more as Record<string, Json>;
      const payload = {
        type,
        actor: { type: "Person", id: `users/${people[from]}`, name: people[from], ...(actor as Fields) },
        object: {
          type: "Note",
          id,
          name: "message",
          content: JSON.stringify({ message: text, parameters: [] }),
          mediaType: "text/markdown",
          ...(object as Fields),
        },
        target: { type: "Collection", id: room, name: "Room" },
        ...rest,
      };
      await post("/provider-d", providerDActivity(payload, SECRETS.d));
      return id;
    },
    async react({ room }, word) {
      await chat.write(room, "a question", { more: { type: "Like", content: word } });
    },
    posted: () => platform.sent.map(({ room, text }) => ({ room, text, data: [], id: undefined })),
  };
  const section = `[channels_config.provider_d]
base_url = "${platform.url}"
webhook_secret = "${SECRETS.d}"
app_token = "${SECRETS.d}"
${lists("allowed_users", people)}`;
  return { chat, section };
}

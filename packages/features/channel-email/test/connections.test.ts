// Connections: to whom, how many, for how long; and what is said of those that fail.
import { SvcError } from "@svc/contract";
import { createGuardedResolve } from "@svc/kit";
import { afterEach, expect, test } from "vitest";
import { hostOf, type Server } from "../src/account.ts";
import { headersIn } from "../src/headers.ts";
import { imapFailure, UnreadableAnswer } from "../src/imap.ts";
import { smtpFailure } from "../src/smtp.ts";
import { closeAll, eventually, mailFrom, never, open, PASSWORD, PERSON, portsOf, startMail } from "./open.ts";

afterEach(closeAll);

const conversation = { channel: "email", id: PERSON };
const loginsOf = (mail: { readonly requests: readonly { readonly line: string }[] }): number =>
  mail.requests.filter(({ line }) => line.startsWith("AUTHENTICATE")).length;

async function withFile() {
  const mail = await startMail();
  const opened = open({ ...portsOf(mail), processed_mailbox: "Done" });
  const files = [{ name: "a.txt", mimeType: "text/plain", bytes: Buffer.from("inside") }];
  const { uid } = mail.inbox.add(mailFrom(PERSON, { text: "x", messageId: "<m@example.org>", files }));
  const file = {
    kind: "document" as const,
    ref: `${mail.inbox.uidValidity}/${uid}/2/<m@example.org>`,
    placeholder: "x",
  };
  const fetched = async (): Promise<string> => {
    const got: Uint8Array[] = [];
    await opened.channel.media!.fetch(file, async (chunk) => void got.push(chunk), never);
    return Buffer.concat(got).toString();
  };
  return { ...opened, mail, uid, fetched };
}

test("what is asked of the mailbox within half a minute is asked over one connection, and the next one is new", async () => {
  const { mail, fetched, channel, context } = await withFile();
  expect(await Promise.all([fetched(), fetched()])).toEqual(["inside", "inside"]);
  await context.clock.advance(29_000);
  await channel.readMarks!.mark(conversation, "<m@example.org>", never);
  expect(loginsOf(mail)).toBe(1);
  await context.clock.advance(30_000);
  expect(await fetched()).toBe("inside");
  expect(loginsOf(mail)).toBe(2);
});

test("a connection that the server ended meanwhile is made anew, once", async () => {
  const { mail, fetched } = await withFile();
  await fetched();
  mail.disconnect();
  expect(await fetched()).toBe("inside");
  expect(loginsOf(mail)).toBe(2);
});

test("a server that does not answer over it is given up, and asked over another one", async () => {
  const { mail, fetched, context } = await withFile();
  await fetched();
  mail.mood = "hangs";
  const asked = mail.requests.length;
  const hanging = fetched();
  hanging.catch(() => undefined);
  await mail.arrived(asked);
  await context.clock.advance(60_000);
  await mail.arrived(asked + 1);
  await context.clock.advance(120_000);
  await expect(hanging).rejects.toMatchObject({ code: "REMOTE_TIMEOUT" });
  mail.mood = "takes";
  expect(await fetched()).toBe("inside");
});

test("what came after the connection was made is found over it", async () => {
  const { mail, fetched, channel } = await withFile();
  await fetched();
  const later = mail.inbox.add(mailFrom(PERSON, { text: "later", messageId: "<later@example.org>" }));
  await channel.readMarks!.mark(conversation, "<later@example.org>", never);
  expect([...later.flags]).toEqual(["\\Seen"]);
});

test("a file of a mail that was moved is found by the mail's id, in both mailboxes; one that is gone is refused", async () => {
  const { mail, fetched, channel } = await withFile();
  await channel.readMarks!.clear!(conversation, "<m@example.org>", never);
  expect(mail.inbox.mails).toEqual([]);
  expect(await fetched()).toBe("inside");
  mail.rebuild();
  mail.mailbox("Done").remove(1);
  await expect(fetched()).rejects.toMatchObject({ code: "MEDIA_REFUSED" });
});

test("marks of mails that are nowhere are no error; what the config does not want is not done", async () => {
  const { mail, channel } = await withFile();
  for (const id of ["<gone@example.org>", "1:1", "1000:99", "nonsense", ""]) {
    await channel.readMarks!.mark(conversation, id, never);
    await channel.readMarks!.clear!(conversation, id, never);
  }
  expect(open({ ...portsOf(mail), mark_seen: false }).channel.readMarks).toBeUndefined();
  const only = open({ ...portsOf(mail), mark_seen: false, processed_mailbox: "Done" }).channel.readMarks!;
  await only.mark(conversation, "<m@example.org>", never);
  expect([...mail.inbox.mails[0]!.flags]).toEqual([]);
  expect(open(portsOf(mail)).channel.readMarks).not.toHaveProperty("clear");
});

test("who gives up while a connection is made leaves none behind; after shutdown there is none at all", async () => {
  const { mail, channel, made, fetched } = await withFile();
  mail.mood = "hangs";
  const caller = new AbortController();
  const marking = channel.readMarks!.mark(conversation, "<m@example.org>", caller.signal);
  await mail.arrived(0);
  caller.abort(new Error("called off"));
  await expect(marking).rejects.toThrow("called off");
  mail.mood = "takes";
  expect(await fetched()).toBe("inside");
  await made.shutdown!();
  await expect(fetched()).rejects.toMatchObject({ code: "CHANNEL_DOWN" });
  const message = { conversation, text: "x", deliveryId: "d" };
  await expect(channel.send(message, never)).rejects.toMatchObject({ code: "CHANNEL_DOWN" });
});

const server = (host: string, security: Server["security"] = "none"): Server => ({ host, port: 1143, security });
const resolve = (...allowPrivate: string[]) =>
  createGuardedResolve({
    allowPrivate,
    exempt: [],
    lookup: async (name) => (name === "mail.lan" ? ["10.0.0.5"] : ["93.184.216.34"]),
  });

test("without encryption only this machine is spoken to, or what the operator allowed", async () => {
  for (const host of ["localhost", "127.0.0.1", "127.9.9.9", "::1"])
    expect(await hostOf(server(host), resolve())).toBe(host);
  await expect(hostOf(server("mail.lan"), resolve())).rejects.toMatchObject({ code: "ADDRESS_REFUSED" });
  await expect(hostOf(server("10.0.0.5"), resolve())).rejects.toMatchObject({ code: "ADDRESS_REFUSED" });
  expect(await hostOf(server("mail.lan"), resolve("mail.lan:1143"))).toBe("10.0.0.5");
  expect(await hostOf(server("10.0.0.5"), resolve("10.0.0.5:1143"))).toBe("10.0.0.5");
  for (const host of ["mail.example.com", "93.184.216.34"]) {
    await expect(hostOf(server(host), resolve())).rejects.toMatchObject({ code: "ADDRESS_REFUSED" });
  }
  // The operator's own words, with encryption.
  expect(await hostOf(server("mail.lan", "tls"), resolve())).toBe("mail.lan");
  expect(await hostOf(server("10.0.0.5", "starttls"), resolve())).toBe("10.0.0.5");
});

test("an address that may not be reached in the open keeps the channel off, and says which key", async () => {
  const { made, channel } = open({ imap_host: "10.0.0.5", imap_port: 1143, smtp_port: 1 });
  await expect(made.register!(never)).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    hint: /security\.net\.allow_private/,
  });
  await expect(channel.check!(never)).rejects.toMatchObject({ code: "ADDRESS_REFUSED" });
});

test("that approvers are not checked is told at the start", async () => {
  const { made, context } = open({ imap_port: 1, smtp_port: 1, require_authenticated: false, approvers: [PERSON] });
  await made.register!(never);
  expect(context.log.lines).toMatchObject([{ level: "warn", message: /approver's address/ }]);
});

const told = (error: SvcError): string => [error.code, error.message, error.hint].join(" ");
const libraryError = (fields: object): Error => Object.assign(new Error(`secret words ${PASSWORD}`), fields);

test.each<[object, string]>([
  [{ authenticationFailed: true, serverResponseCode: "AUTHENTICATIONFAILED" }, "CHANNEL_UNAUTHORIZED"],
  [{ authenticationFailed: true }, "CHANNEL_UNAUTHORIZED"],
  [{ authenticationFailed: true, serverResponseCode: "UNAVAILABLE" }, "REMOTE_UNREACHABLE"],
  [{ authenticationFailed: true, serverResponseCode: "LIMIT" }, "REMOTE_UNREACHABLE"],
  [{ code: "CONNECT_TIMEOUT" }, "REMOTE_TIMEOUT"],
  [{ code: "ETIMEOUT" }, "REMOTE_TIMEOUT"],
  [{ code: "ECONNREFUSED" }, "REMOTE_UNREACHABLE"],
  [{ code: "DEPTH_ZERO_SELF_SIGNED_CERT" }, "REMOTE_UNREACHABLE"],
  [{ tlsFailed: true }, "REMOTE_UNREACHABLE"],
  [{ mailboxMissing: true }, "CHANNEL_CANNOT"],
  [{ code: "ETHROTTLE", throttleReset: 5000 }, "REMOTE_UNREACHABLE"],
  [{ code: `x ${PASSWORD}` }, "REMOTE_UNREACHABLE"],
  [{}, "REMOTE_UNREACHABLE"],
])("IMAP: %j is %s", (fields, code) => {
  const error = imapFailure(libraryError(fields));
  expect(error.code).toBe(code);
  expect(told(error)).not.toMatch(/secret|password-of/);
  expect(error.cause).toBeUndefined();
});

test("IMAP: an answer that can't be read is told from a lost connection; a wait that the server asks for is kept", () => {
  expect(imapFailure(libraryError({ code: "ParserError12" }))).toBeInstanceOf(UnreadableAnswer);
  expect(imapFailure(libraryError({ code: "LiteralTooLarge" }))).toBeInstanceOf(UnreadableAnswer);
  expect(imapFailure(libraryError({ code: "ECONNRESET" }))).not.toBeInstanceOf(UnreadableAnswer);
  expect(imapFailure(libraryError({ code: "ETHROTTLE", throttleReset: 5000 })).retryAfterMs).toBe(5000);
  expect(imapFailure(undefined).code).toBe("REMOTE_UNREACHABLE");
});

test.each<[object, string, number?]>([
  [{ code: "EAUTH", responseCode: 535, command: "AUTH PLAIN" }, "CHANNEL_UNAUTHORIZED"],
  [{ code: "EAUTH" }, "CHANNEL_UNAUTHORIZED"],
  [{ code: "EAUTH", responseCode: 454, command: "AUTH PLAIN" }, "REMOTE_UNREACHABLE"],
  [{ code: "EENVELOPE", responseCode: 530, command: "MAIL FROM" }, "CHANNEL_UNAUTHORIZED"],
  [{ code: "EENVELOPE", responseCode: 550, command: "RCPT TO" }, "DELIVERY_REFUSED"],
  [{ code: "EENVELOPE", responseCode: 553, command: "MAIL FROM" }, "DELIVERY_REFUSED"],
  [{ code: "EMESSAGE", responseCode: 554, command: "DATA" }, "DELIVERY_REFUSED"],
  [{ code: "EMESSAGE", responseCode: 552, command: "DATA" }, "DELIVERY_REFUSED"],
  [{ code: "EMESSAGE" }, "DELIVERY_REFUSED"],
  [
    {
      code: "EENVELOPE",
      responseCode: 451,
      command: "RCPT TO",
      response: "451 4.7.1 Greylisted, try again in 300 seconds",
    },
    "DELIVERY_FAILED",
    300_000,
  ],
  [
    { code: "EENVELOPE", responseCode: 450, command: "RCPT TO", response: "450 4.2.0 Greylisted for 5 minutes" },
    "DELIVERY_FAILED",
    300_000,
  ],
  [
    { code: "EENVELOPE", responseCode: 450, command: "RCPT TO", response: "450 4.2.0 wait 99999 h" },
    "DELIVERY_FAILED",
    86_400_000,
  ],
  [{ code: "EMESSAGE", responseCode: 451, command: "DATA", response: "451 4.3.0 in 2026 nobody" }, "DELIVERY_FAILED"],
  [{ code: "EPROTOCOL", responseCode: 421, command: "CONN" }, "DELIVERY_FAILED"],
  [{ code: "EPROTOCOL", responseCode: 554, command: "CONN" }, "REMOTE_UNREACHABLE"],
  [{ code: "EPROTOCOL" }, "REMOTE_UNREACHABLE"],
  [{ code: "ESOCKET", originalCode: "ECONNREFUSED" }, "REMOTE_UNREACHABLE"],
  [{ code: "ESOCKET", originalCode: "UNABLE_TO_VERIFY_LEAF_SIGNATURE" }, "REMOTE_UNREACHABLE"],
  [{ code: "ETLS" }, "REMOTE_UNREACHABLE"],
  [{ code: "EDNS" }, "REMOTE_UNREACHABLE"],
  [{ code: "ETIMEDOUT" }, "REMOTE_TIMEOUT"],
])("SMTP: %j is %s", (fields, code, retryAfterMs) => {
  const error = smtpFailure(libraryError(fields));
  expect(error).toMatchObject({ code, retryAfterMs });
  expect(told(error)).not.toMatch(/secret|password-of|Greylisted/);
  expect(error.cause).toBeUndefined();
});

test.each([
  ["Subject: a\r\n b\r\n\tc\r\nX: y\r\n\r\nbody: no\r\n", { subject: "a b c", x: "y", body: "" }],
  ["Subject: a\nX: y\n\n", { subject: "a", x: "y" }],
  ["no field\r\n continued\r\nX: y\r\n", { x: "y" }],
  ["Subject : spaced\r\n: nothing\r\nX:y", { subject: "spaced", x: "y" }],
  [" begins folded\r\nX: y", { x: "y" }],
  ["", { x: "" }],
])("of the header %j", (block, fields) => {
  const headers = headersIn(Buffer.from(block));
  for (const [name, value] of Object.entries(fields)) expect(headers.get(name)).toBe(value);
});

test("a header in UTF-8 is read as that, another one as Latin-1; a carriage return alone ends a line", () => {
  expect(headersIn(Buffer.from("Subject: Grüße\r\n")).get("subject")).toBe("Grüße");
  expect(headersIn(Buffer.from("Subject: Grüße\r\n", "latin1")).get("subject")).toBe("Grüße");
  expect(headersIn(Buffer.from("Subject: a\rBcc: b\r\n")).get("subject")).toBe("a");
});

test("SMTP that is away when the channel starts does not stop the reading; a password that it refuses does", async () => {
  const mail = await startMail();
  mail.mood = ({ protocol }) => (protocol === "smtp" ? { refuses: 503 } : "takes");
  const away = open(portsOf(mail));
  away.run();
  await eventually(async () => (await away.context.state.get("place")) !== undefined);
  expect(away.context.log.lines.some(({ level }) => level === "warn")).toBe(true);
  mail.mood = ({ protocol }) => (protocol === "smtp" ? { refuses: 401 } : "takes");
  await expect(open(portsOf(mail)).run()).rejects.toMatchObject({ code: "FEATURE_FAILED" });
});

// Access tokens: got, renewed and refused, without a message being blamed for it.
import { startTokenServer } from "@svc/testkit/platforms/email/fake/token-server";
import { afterEach, expect, test } from "vitest";
import { closeAll, fetchTo, never, open, OWN, PERSON, portsOf, startMail } from "./open.ts";

afterEach(closeAll);

const conversation = { channel: "email", id: PERSON };

test("a token opens both servers; one that ended is renewed, one that is refused for good is told so", async () => {
  const mail = await startMail();
  mail.tokens.add("token-1");
  const { channel } = open({ ...portsOf(mail), password: undefined, access_token: "token-1" });
  await channel.check!(never);
  await channel.send({ conversation, text: "x", deliveryId: "d" }, never);
  mail.tokens.clear();
  await expect(channel.check!(never)).rejects.toMatchObject({ code: "CHANNEL_UNAUTHORIZED" });
});

test("a token that is refused is renewed, once, and what waited for it is done", async () => {
  const mail = await startMail();
  const grant = { refresh_token: "refresh-1", client_id: "client-1", client_secret: "secret-1" };
  const owner = { refreshToken: "refresh-1", clientId: "client-1", clientSecret: "secret-1", user: OWN };
  await using tokens = await startTokenServer(owner);
  const section = { ...portsOf(mail), ...grant, token_url: `${tokens.url}/token`, password: undefined };
  const { channel } = open(section, { fetch: fetchTo(new URL(tokens.url).host) });
  const send = (deliveryId: string) => channel.send({ conversation, text: "x", deliveryId }, never);
  mail.tokens.add("access-token-1");
  await send("d1");
  // It ended sooner than it said.
  mail.tokens.clear();
  mail.tokens.add("access-token-2");
  await send("d2");
  await channel.check!(never);
  expect(mail.sent).toHaveLength(2);
  expect(tokens.requests).toHaveLength(2);
  mail.tokens.clear();
  await expect(send("d3")).rejects.toMatchObject({ code: "CHANNEL_UNAUTHORIZED" });
  expect(tokens.requests).toHaveLength(3);
});

test("what answers at token_url and is none says nothing of the message", async () => {
  const mail = await startMail();
  const grant = {
    refresh_token: "r",
    client_id: "i",
    client_secret: "s",
    token_url: `http://127.0.0.1:${mail.smtpPort}/token`,
  };
  const given = { fetch: fetchTo(`127.0.0.1:${mail.smtpPort}`) };
  const { channel } = open({ ...portsOf(mail), password: undefined, ...grant }, given);
  const sending = channel.send({ conversation, text: "x", deliveryId: "d" }, never);
  await expect(sending).rejects.toMatchObject({ code: /^REMOTE_/ });
});

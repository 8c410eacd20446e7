// Against a real Dovecot and a real Postfix with an authority of their own: TLS as it is configured or not at all, and tokens.
import { startTokenServer, type TokenServer } from "@svc/testkit/platforms/email/fake/token-server";
import { type MailServers, missingMailServers } from "@svc/testkit/platforms/email/real/mail-servers";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { closeAll, eventually, fetchTo, never, open, OWN, PERSON } from "./open.ts";
import { arrived, demandServers, startServers, write } from "./real.ts";

const GRANT = { refresh_token: "refresh-token-1", client_id: "client-1", client_secret: "client-secret-1" };

let servers: MailServers;
let tokens: TokenServer;
beforeAll(async () => {
  if (missingMailServers() !== undefined) return;
  tokens = await startTokenServer({
    refreshToken: GRANT.refresh_token,
    clientId: GRANT.client_id,
    clientSecret: GRANT.client_secret,
    user: OWN,
  });
  servers = await startServers({ tls: true, introspectionUrl: `${tokens.url}/introspect`, withoutIdle: true });
});
afterAll(async () => {
  await servers?.close();
  await tokens?.close();
});
beforeEach((context) => demandServers(context));
afterEach(closeAll);

const tls = () => ({
  imap_port: servers.dovecot.imapsPort,
  smtp_port: servers.postfix.smtpsPort,
  imap_security: "tls",
  smtp_security: "tls",
});
const starttls = () => ({
  imap_port: servers.dovecot.imapPort,
  smtp_port: servers.postfix.smtpPort,
  imap_security: "starttls",
  smtp_security: "starttls",
});
const message = (deliveryId: string) => ({
  conversation: { channel: "email", id: PERSON },
  text: `Sent as ${deliveryId}.`,
  deliveryId,
});

test.each([
  ["tls", tls],
  ["starttls", starttls],
])("%s: with the authority both ways work, without it neither", async (name, security) => {
  const trusting = open({ ...security(), tls_ca_file: servers.authority!.caFile });
  expect(await trusting.channel.check!(never)).toContain("looked at every 60 s");
  await trusting.channel.send(message(name), never);
  await arrived(servers, PERSON, `Sent as ${name}.`);

  const usual = open(security());
  await expect(usual.channel.check!(never)).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE", hint: /tls_ca_file/ });
  await expect(usual.channel.send(message("untrusted"), never)).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE" });
  await expect(usual.run()).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE" });
});

test("a certificate for another name is refused", async () => {
  // The same machine under an address that is not in it.
  const host = "::ffff:127.0.0.1";
  const other = { ...tls(), imap_host: host, smtp_host: host, tls_ca_file: servers.authority!.caFile };
  const { channel, run } = open(other);
  await expect(run()).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE", hint: /tls_ca_file/ });
  await expect(channel.send(message("misnamed"), never)).rejects.toMatchObject({ hint: /tls_ca_file/ });
});

test("a server that does not offer STARTTLS gets neither the password nor a mail", async () => {
  const plain = await startServers();
  try {
    const ports = { imap_port: plain.dovecot.imapPort, smtp_port: plain.postfix.smtpPort };
    const channel = open({ ...starttls(), ...ports });
    await expect(channel.run()).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE" });
    await expect(channel.channel.send(message("stripped"), never)).rejects.toMatchObject({
      code: "REMOTE_UNREACHABLE",
    });
    expect(plain.dovecot.log()).not.toContain(`user=<${OWN}>`);
    expect(plain.postfix.log()).not.toContain("sasl_username");
  } finally {
    await plain.close();
  }
});

test("a file that holds no authority keeps the channel off", async () => {
  const { made } = open({ ...tls(), tls_ca_file: servers.authority!.keyFile });
  await expect(made.register!(never)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
});

test("without IDLE the mailbox is looked at again and again", async () => {
  const { run, context } = open({ ...tls(), tls_ca_file: servers.authority!.caFile, poll_interval_secs: 5 });
  run();
  await eventually(async () => (await context.state.get("place")) !== undefined);
  await write(servers, { text: "found by looking", subject: "Poll" });
  await arrived(servers, OWN, "found by looking");
  await eventually(async () => {
    // Slowly: what is under way is called off after a minute.
    await context.clock.advance(250);
    return context.received.length > 0;
  });
  expect(context.received[0]?.text).toContain("found by looking");
  expect(context.log.lines).toContainEqual(expect.objectContaining({ fields: { account: OWN, push: false } }));
});

test("XOAUTH2: a token is got, renewed when it is refused, and opens both servers", async () => {
  const oauth = { ...GRANT, token_url: `${tokens.url}/token`, password: undefined };
  const secure = { ...tls(), tls_ca_file: servers.authority!.caFile };
  const { channel, run, context } = open({ ...secure, ...oauth }, { fetch: fetchTo(new URL(tokens.url).host) });
  await channel.check!(never);
  expect(tokens.tokens).toEqual(new Set(["access-token-1"]));
  await channel.send(message("token"), never);
  tokens.expire();
  await channel.send(message("token-renewed"), never);
  expect(tokens.tokens).toEqual(new Set(["access-token-2"]));
  run();
  await eventually(async () => (await context.state.get("place")) !== undefined);
  await arrived(servers, PERSON, "Sent as token.");
  await arrived(servers, PERSON, "Sent as token-renewed.");
});

test("XOAUTH2: a refresh token that is refused keeps the channel off", async () => {
  const oauth = { ...GRANT, refresh_token: "revoked", token_url: `${tokens.url}/token`, password: undefined };
  const { run, channel } = open({ ...tls(), ...oauth }, { fetch: fetchTo(new URL(tokens.url).host) });
  await expect(run()).rejects.toMatchObject({ code: "FEATURE_FAILED" });
  await expect(channel.send(message("revoked"), never)).rejects.toMatchObject({ code: "CHANNEL_UNAUTHORIZED" });
});

// E-mail with the real binary, a real Dovecot and a real Postfix: from a person's mail to the answer in its thread, over a kill.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { rawMail } from "@svc/testkit/platforms/email/fake/raw-mail";
import { type MailServers, missingMailServers, startMailServers } from "@svc/testkit/platforms/email/real/mail-servers";
import { requireReal } from "@svc/testkit/require-real";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";

const OWN = "agent@example.com";
const ADA = "ada@example.org";
const MALLORY = "mallory@evil.test";
const PASSWORD = "password-of-the-mailbox";
const WAIT = { timeout: 60_000, interval: 50 };
const MISSING = missingMailServers();

let home: ReturnType<typeof temporaryHome>;
let servers: MailServers;
let daemon: RunningBinary;

beforeAll(async () => {
  if (MISSING) return;
  servers = await startMailServers({
    users: { [OWN]: PASSWORD, [ADA]: "password-of-ada", [MALLORY]: "password-of-mallory" },
    // What a provider adds that judges who it is from by the server that brought it.
    prepends: [
      {
        sender: /@example\.org$/,
        header: "Authentication-Results: mx.example.com; spf=pass smtp.mailfrom=example.org",
      },
      { sender: /./, header: "Authentication-Results: mx.example.com; spf=fail" },
    ],
  });
  home = temporaryHome();
  writeFileSync(
    join(home.path, "config.toml"),
    `[channels_config.email]
address = "${OWN}"
password = "${PASSWORD}"
imap_host = "127.0.0.1"
imap_port = ${servers.dovecot.imapPort}
imap_security = "none"
smtp_host = "127.0.0.1"
smtp_port = ${servers.postfix.smtpPort}
smtp_security = "none"
authserv_id = "mx.example.com"
allowed_senders = ["@example.org"]
`,
    { mode: 0o600 },
  );
  daemon = await startBinary({ home: home.path });
  await daemon.waitFor(/the platform knows this channel/);
});

beforeEach((context) => {
  if (MISSING) requireReal(context, MISSING);
});

afterAll(async () => {
  await daemon?.close();
  await servers?.close();
  home?.remove();
});

/** Somebody outside sends it. `envelope`: who the server that brings it says it is. */
const write = (text: string, more: { from?: string; envelope?: string; subject?: string; messageId?: string } = {}) => {
  const { from = ADA, envelope = from, subject = "A question", messageId } = more;
  const mail = rawMail({ from, to: OWN, subject, text, ...(messageId && { messageId }) });
  return servers.deliver(mail, { from: envelope, to: OWN });
};

/** Those in Ada's mailbox that say this. */
const answers = (text: string): string[] => servers.dovecot.mails(ADA).filter((mail) => mail.includes(text));
const comes = (text: string) => vi.waitFor(() => expect(answers(text)).toHaveLength(1), WAIT);

test("a mail is answered in its thread, as a program's mail", async () => {
  await write("Is anybody there?", { messageId: "<first@sender.test>" });
  await comes("Is anybody there?");
  const [answer = ""] = answers("Is anybody there?");
  expect(answer).toMatch(/^In-Reply-To: <first@sender\.test>\r?$/m);
  expect(answer).toMatch(/^Subject: Re: A question\r?$/m);
  expect(answer).toMatch(/^Auto-Submitted: auto-replied\r?$/m);
});

test("who is not on the list, and who only says that he is, is not answered", async () => {
  await write("Let me in", { from: MALLORY });
  await write("I am Ada, send me all", { from: ADA, envelope: MALLORY });
  await write("Are you still there?");
  await comes("Are you still there?");
  expect(servers.dovecot.mails(MALLORY)).toEqual([]);
  expect(answers("send me all")).toEqual([]);
});

test("what comes while the daemon is down is answered when it is back, and nothing is answered again", async () => {
  await daemon.kill9();
  await write("Good morning");
  daemon = await startBinary({ home: home.path });
  await comes("Good morning");
  expect(answers("Is anybody there?")).toHaveLength(1);
});

test("svc send begins a thread; an address that nobody has is a refusal", async () => {
  const sent = await runBinary(["send", "email", ADA, "The report is ready."], { home: home.path });
  expect([sent.code, sent.stdout]).toEqual([0, expect.stringMatching(/^out-\d+ sent/)]);
  await comes("The report is ready.");
  const refused = await runBinary(["send", "email", "nobody@example.com", "Hello"], { home: home.path });
  expect(refused.code).not.toBe(0);
  expect(refused.stderr + refused.stdout).toContain("DELIVERY_REFUSED");
});

test("the password is in no line of the log", async () => {
  const { stdout } = await runBinary(["logs", "--json"], { home: home.path });
  expect(stdout).not.toContain(PASSWORD);
});

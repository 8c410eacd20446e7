/** The everyday channels under measurement: each with its platform on loopback, and the section that leads there. */
import { startFakeMail } from "@svc/testkit/platforms/email/fake/server";
import { EVERYDAY } from "@svc/testkit/platforms/everyday";
import { startVoicePlatform } from "@svc/testkit/platforms/voice-call/server";
import { startWebhookReceiver } from "@svc/testkit/platforms/webhook/receiver";

export interface ChannelCase {
  readonly id: string;
  readonly section: string;
  /** How much its platform was asked. */
  asked(): number;
  close(): Promise<void>;
}

const SECRET = "secret-of-the-bench-0123456789";
const ACCOUNT = "AC0123456789abcdef0123456789abcdef";
const NUMBER = "+15550009999";

export async function channelCases(): Promise<ChannelCase[]> {
  const everyday = await Promise.all(Object.values(EVERYDAY).map((start) => start()));
  const mail = await startFakeMail({ address: "agent@example.com", password: SECRET });
  const voice = await startVoicePlatform({
    accountSid: ACCOUNT,
    authToken: SECRET,
    number: NUMBER,
    routeTo: (url) => url,
  });
  const receiver = await startWebhookReceiver();
  return [
    ...everyday.map((platform) => ({
      id: platform.id,
      section: platform.section(),
      asked: () => platform.requests.length,
      close: () => platform.close(),
    })),
    {
      id: "email",
      section: `[channels_config.email]
address = "agent@example.com"
password = "${SECRET}"
imap_host = "127.0.0.1"
imap_port = ${mail.imapPort}
imap_security = "none"
smtp_host = "127.0.0.1"
smtp_port = ${mail.smtpPort}
smtp_security = "none"`,
      asked: () => mail.requests.length,
      close: () => mail.close(),
    },
    {
      id: "voice_call",
      section: `[channels_config.voice_call]
account_sid = "${ACCOUNT}"
auth_token = "${SECRET}"
from_number = "${NUMBER}"
webhook_url = "https://svc.example.org"
api_url = "${voice.url}"`,
      asked: () => voice.requests.length,
      close: () => voice.close(),
    },
    // It asks nobody anything before it has something to say.
    {
      id: "webhook",
      section: `[channels_config.webhook]\nurl = "${receiver.hook}"`,
      asked: () => 1,
      close: () => receiver.close(),
    },
  ];
}

/** The channel as the kernel makes it, and mail providers that end with the test. */
import { createGuardedFetch } from "@svc/kit";
import { fakeFeatureContext } from "@svc/testkit/feature-context";
import { openChannel, type OpenedChannel } from "@svc/testkit/open-channel";
import { rawMail, type RawMail } from "@svc/testkit/platforms/email/fake/raw-mail";
import { type FakeMail, type FakeMailOptions, startFakeMail } from "@svc/testkit/platforms/email/fake/server";
import type { Config } from "../src/config.ts";
import { create } from "../src/email.ts";
import definition from "../src/index.ts";

export const OWN = "agent@example.com";
export const PASSWORD = "password-of-the-mailbox";
export const PERSON = "ada@example.org";
export const never: AbortSignal = new AbortController().signal;

/** A server that says of anyone who writes that it is he. */
export const PROVEN = "mx.example.com; dmarc=pass header.from=";

export const section = {
  address: OWN,
  password: PASSWORD as string | undefined,
  imap_host: "127.0.0.1",
  imap_security: "none",
  smtp_host: "127.0.0.1",
  smtp_security: "none",
  authserv_id: "mx.example.com" as string | undefined,
  allowed_senders: [PERSON, "@example.net"] as readonly string[],
};

export const portsOf = (mail: Pick<FakeMail, "imapPort" | "smtpPort">) => ({
  imap_port: mail.imapPort,
  smtp_port: mail.smtpPort,
});

const ends: (() => Promise<void>)[] = [];

/** For an `afterEach`. */
export async function closeAll(): Promise<void> {
  for (const end of ends.splice(0).toReversed()) await end();
}

export async function startMail(options: Partial<FakeMailOptions> = {}): Promise<FakeMail> {
  const mail = await startFakeMail({ address: OWN, password: PASSWORD, ...options });
  ends.push(() => mail.close());
  return mail;
}

type Given = NonNullable<Parameters<typeof openChannel<Config>>[2]>;

export interface Opened extends OpenedChannel<Config> {
  /** The loop, until the test is over. */
  run(): Promise<void>;
}

export function open(changes: Record<string, unknown>, given: Given = {}): Opened {
  const opened = openChannel<Config>({ definition, create }, { ...section, ...changes }, given);
  ends.push(async () => opened.made.shutdown?.());
  return {
    ...opened,
    run() {
      const stop = new AbortController();
      const running = opened.made.run!(stop.signal);
      running.catch(() => undefined);
      ends.push(async () => {
        stop.abort();
        await running.catch(() => undefined);
      });
      return running;
    },
  };
}

/** Requests to this host and port of loopback go out, too. */
export const fetchTo = (hostPort: string) =>
  createGuardedFetch({ allowPrivate: [hostPort], log: fakeFeatureContext(undefined).log });

/** A mail that the provider has checked. */
export const mailFrom = (from: string, mail: Omit<RawMail, "from"> = {}): Buffer => {
  const domain = /@([^>]+)>?$/.exec(from)?.[1] ?? "";
  const headers = { "Authentication-Results": `${PROVEN}${domain}`, ...mail.headers };
  return rawMail({ from, ...mail, headers });
};

/** Resolves once it is so, however long real servers take. */
export async function eventually(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let lap = 0; !(await isSo()); lap += 1) {
    if (lap > 5000) throw new Error("it never came to be so");
    await new Promise((resolve) => setTimeout(resolve, 4));
  }
}

/** A channel that reads the fake's mailbox, from now on. */
export async function connected(
  changes: Record<string, unknown> = {},
  options: Partial<FakeMailOptions> = {},
  given: Given = {},
): Promise<Opened & { mail: FakeMail; running: Promise<void> }> {
  const mail = await startMail(options);
  const opened = open({ ...portsOf(mail), ...changes }, given);
  const running = opened.run();
  await eventually(async () => (await opened.context.state.get("place")) !== undefined);
  return { ...opened, mail, running };
}

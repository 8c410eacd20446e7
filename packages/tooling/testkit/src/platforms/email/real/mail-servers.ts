/** A real mail provider on loopback: Dovecot and Postfix together, below one temporary folder. */
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { MissingPart } from "../../../require-real.ts";
import { temporaryHome } from "../../../temporary-home.ts";
import { createAuthority, type TestAuthority } from "./authority.ts";
import { createDovecot, type Dovecot, type DovecotOptions, isDovecotThere } from "./dovecot.ts";
import { createPostfix, isPostfixThere, type Postfix, type PostfixOptions } from "./postfix.ts";

export interface MailServersOptions
  extends Pick<DovecotOptions, "users" | "introspectionUrl" | "withoutIdle">, Pick<PostfixOptions, "prepends"> {
  /** With an authority of its own: STARTTLS, and ports of TLS. */
  readonly tls?: boolean;
  /** Addresses that Postfix takes mail for, and whose mail then bounces. */
  readonly lost?: readonly string[];
}

export interface MailServers extends AsyncDisposable {
  readonly dovecot: Dovecot;
  readonly postfix: Postfix;
  readonly authority: TestAuthority | undefined;
  /** Sends this mail from outside, unchanged, by SMTP. Resolves when Postfix took it. */
  deliver(raw: string | Uint8Array, envelope: { readonly from: string; readonly to: string }): Promise<void>;
  close(): Promise<void>;
}

/** Undefined: all is there. */
export function missingMailServers(): MissingPart | undefined {
  const install = "apt-get install dovecot-imapd dovecot-lmtpd postfix";
  if (!isDovecotThere()) return { name: "dovecot", reason: `not in /usr/sbin; ${install}` };
  if (!isPostfixThere()) return { name: "postfix", reason: `not in /usr/lib/postfix; ${install}` };
  if (process.getuid?.() !== 0) return { name: "postfix", reason: "its master starts as root only", tier: "B" };
  return undefined;
}

export async function startMailServers(options: MailServersOptions): Promise<MailServers> {
  const { users, introspectionUrl, withoutIdle, prepends, lost = [] } = options;
  const home = temporaryHome();
  const folder = (name: string): string => {
    const path = join(home.path, name);
    mkdirSync(path, { mode: 0o755 });
    return path;
  };
  // `home` itself is for its owner only, and the servers change to other users.
  chmodSync(home.path, 0o755);
  const authority = options.tls ? createAuthority(folder("tls")) : undefined;
  const dovecot = await createDovecot({ folder: folder("dovecot"), users, authority, introspectionUrl, withoutIdle });
  const { lmtpPort, saslPort } = dovecot;
  const postfix = await createPostfix({
    folder: folder("postfix"),
    hostname: "mx.example.com",
    mailboxes: [...Object.keys(users), ...lost],
    lmtpPort,
    saslPort,
    authority,
    prepends,
  });
  const close = async (): Promise<void> => {
    await Promise.all([dovecot.stop(), postfix.stop()]);
    home.remove();
  };
  try {
    await Promise.all([dovecot.start(), postfix.start()]);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    dovecot,
    postfix,
    authority,
    async deliver(raw, envelope) {
      const { createTransport } = await import("nodemailer");
      const transport = createTransport({
        host: "127.0.0.1",
        port: postfix.smtpPort,
        ignoreTLS: true,
        name: "sender.test",
      });
      await transport.sendMail({ envelope: { ...envelope }, raw: typeof raw === "string" ? raw : Buffer.from(raw) });
      transport.close();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A real Dovecot on loopback: IMAP for the channel, LMTP and SASL for Postfix. All that it writes is below its folder. */
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import type { TestAuthority } from "./authority.ts";
import { startDaemon } from "../../../real/daemon.ts";
import { freePorts } from "../../../real/free-ports.ts";

export interface DovecotOptions {
  /** Absolute; exists. */
  readonly folder: string;
  /** Passwords by address. */
  readonly users: Readonly<Record<string, string>>;
  /** Then there are STARTTLS and a port of TLS from the start. */
  readonly authority?: TestAuthority | undefined;
  /** Asked who an access token is of (RFC 7662). */
  readonly introspectionUrl?: string | undefined;
  /** As a server without IDLE. */
  readonly withoutIdle?: boolean | undefined;
}

export interface Dovecot {
  readonly imapPort: number;
  readonly imapsPort: number;
  readonly lmtpPort: number;
  readonly saslPort: number;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Ends the processes of the connections of this user as the kernel would: at once, without a word. */
  killConnections(user: string): void;
  /** The mails in the inbox of this user, as they are on disk, in no order. */
  mails(user: string): string[];
  log(): string;
}

const PROGRAM = "/usr/sbin/dovecot";
/** What the processes that hold mail run as: it refuses to do so as root. */
const MAIL_USER = "nobody";

export const isDovecotThere = (): boolean => existsSync(PROGRAM) && existsSync("/usr/lib/dovecot/lmtp");

export async function createDovecot(options: DovecotOptions): Promise<Dovecot> {
  const { folder, users } = options;
  const path = (name: string): string => join(folder, name);
  const [imapPort = 0, imapsPort = 0, lmtpPort = 0, saslPort = 0] = await freePorts(4);
  for (const name of ["run", "state", "mail", "home"]) mkdirSync(path(name));
  if (process.getuid?.() === 0) {
    // Mail is read and written by another user, who must get to it.
    chmodSync(folder, 0o755);
    const [uid, gid] = ["-u", "-g"].map((which) =>
      Number(execFileSync("id", [which, MAIL_USER], { encoding: "utf8" })),
    );
    for (const name of ["mail", "home"]) chownSync(path(name), uid as number, gid as number);
  }
  const lines = Object.entries(users).map(([user, password]) => `${user}:{PLAIN}${password}::::::\n`);
  writeFileSync(path("users"), lines.join(""));
  writeFileSync(path("oauth2"), oauth2Config(options.introspectionUrl ?? "http://127.0.0.1:9/"));
  const ports = { imapPort, imapsPort, lmtpPort, saslPort };
  writeFileSync(path("dovecot.conf"), config(options, ports, path));
  const log = (): string => (existsSync(path("log")) ? readFileSync(path("log"), "utf8") : "");
  let stop: (() => Promise<void>) | undefined;
  return {
    ...ports,
    async start() {
      const daemon = await startDaemon(PROGRAM, ["-F", "-c", path("dovecot.conf")], {
        ports: [imapPort, lmtpPort, saslPort],
        logs: log,
      });
      stop = daemon.stop;
    },
    stop: async () => stop?.(),
    killConnections(user) {
      const args = ["-c", path("dovecot.conf"), "-f", "tab", "who", "-1", user];
      const [, ...rows] = execFileSync("doveadm", args, { encoding: "utf8" }).trim().split("\n");
      for (const row of rows) process.kill(Number(row.split("\t")[2]), "SIGKILL");
    },
    mails: (user) =>
      ["new", "cur"]
        .map((name) => join(path("mail"), user, name))
        .filter((name) => existsSync(name))
        .flatMap((name) => readdirSync(name).map((file) => readFileSync(join(name, file), "utf8"))),
    log,
  };
}

const oauth2Config = (url: string): string => `
introspection_mode = post
introspection_url = ${url}
username_attribute = username
active_attribute = active
active_value = true
`;

type Ports = Pick<Dovecot, "imapPort" | "imapsPort" | "lmtpPort" | "saslPort">;

/** https://doc.dovecot.org/2.3/settings/core/ */
function config({ authority, withoutIdle }: DovecotOptions, ports: Ports, path: (name: string) => string): string {
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? MAIL_USER : userInfo().username;
  return `
base_dir = ${path("run")}
state_dir = ${path("state")}
log_path = ${path("log")}
protocols = imap lmtp
listen = 127.0.0.1
${isRoot ? "" : `default_internal_user = ${user}\ndefault_login_user = ${user}\ndefault_internal_group =\n`}
mail_uid = ${user}
mail_gid = ${isRoot ? execFileSync("id", ["-gn", MAIL_USER], { encoding: "utf8" }).trim() : String(process.getgid?.())}
first_valid_uid = 1
mail_location = maildir:${path("mail")}/%u
shutdown_clients = yes
disable_plaintext_auth = no
auth_mechanisms = plain login xoauth2 oauthbearer
auth_failure_delay = 0
ssl = ${authority === undefined ? "no" : "yes"}
${authority === undefined ? "" : `ssl_cert = <${authority.certFile}\nssl_key = <${authority.keyFile}\n`}
passdb {
  driver = passwd-file
  mechanisms = plain login
  args = ${path("users")}
}
passdb {
  driver = oauth2
  mechanisms = xoauth2 oauthbearer
  args = ${path("oauth2")}
}
userdb {
  driver = passwd-file
  args = ${path("users")}
  default_fields = home=${path("home")}/%u
}
namespace inbox {
  inbox = yes
  mailbox Sent {
    special_use = \\Sent
    auto = subscribe
  }
  mailbox Done {
    auto = subscribe
  }
}
protocol imap {
  mail_max_userip_connections = 50
  ${withoutIdle ? "imap_capability = IMAP4rev1 SASL-IR ID ENABLE NAMESPACE UIDPLUS MOVE SPECIAL-USE LITERAL+" : ""}
}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${ports.imapPort}
  }
  inet_listener imaps {
    port = ${authority === undefined ? 0 : ports.imapsPort}
    ssl = yes
  }
}
service lmtp {
  inet_listener lmtp {
    port = ${ports.lmtpPort}
  }
}
service auth {
  inet_listener {
    port = ${ports.saslPort}
  }
}
service anvil {
  chroot =
  unix_listener anvil-auth-penalty {
    mode = 00
  }
}
`;
}

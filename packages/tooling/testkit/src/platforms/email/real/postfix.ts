/** A real Postfix on loopback. Its master is started as it is, which needs root; all that it writes is below its folder. */
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestAuthority } from "./authority.ts";
import { startDaemon } from "../../../real/daemon.ts";
import { freePorts } from "../../../real/free-ports.ts";

export interface PostfixOptions {
  /** Absolute; exists. */
  readonly folder: string;
  readonly hostname: string;
  /** Addresses that it takes mail for, and hands it over to `lmtpPort`. */
  readonly mailboxes: readonly string[];
  readonly lmtpPort: number;
  /** Dovecot's SASL. */
  readonly saslPort: number;
  readonly authority?: TestAuthority | undefined;
  /** Headers that it writes on top of mail from an envelope sender: a line of a regexp table each. */
  readonly prepends?: readonly { readonly sender: RegExp; readonly header: string }[] | undefined;
}

export interface Postfix {
  /** Accepts mail for `mailboxes` from anyone, and other mail after a sign-in. STARTTLS if it has an authority. */
  readonly smtpPort: number;
  /** TLS from the start. */
  readonly smtpsPort: number;
  start(): Promise<void>;
  stop(): Promise<void>;
  log(): string;
}

const DAEMONS = "/usr/lib/postfix/sbin";

export const isPostfixThere = (): boolean => existsSync(join(DAEMONS, "master"));

export async function createPostfix(options: PostfixOptions): Promise<Postfix> {
  const { folder, mailboxes, prepends = [] } = options;
  const path = (...names: string[]): string => join(folder, ...names);
  const [smtpPort = 0, smtpsPort = 0] = await freePorts(2);
  chmodSync(folder, 0o755);
  makeQueue(path);
  mkdirSync(path("etc"));
  writeFileSync(path("etc", "mailboxes"), mailboxes.map((address) => `${address} x\n`).join(""));
  const tableOf = prepends.map(({ sender, header }) => `/${sender.source}/ PREPEND ${header}\n`);
  writeFileSync(path("etc", "prepends"), tableOf.join(""));
  writeFileSync(path("etc", "main.cf"), mainConfig(options, path));
  writeFileSync(path("etc", "master.cf"), masterConfig(smtpPort, options.authority && smtpsPort));
  const log = (): string => (existsSync(path("log")) ? readFileSync(path("log"), "utf8") : "");
  let stop: (() => Promise<void>) | undefined;
  return {
    smtpPort,
    smtpsPort,
    async start() {
      const daemon = await startDaemon(join(DAEMONS, "master"), ["-c", path("etc"), "-d"], {
        ports: [smtpPort],
        logs: log,
      });
      stop = daemon.stop;
    },
    stop: async () => stop?.(),
    log,
  };
}

/** The folders that `postfix start` would create, with their owners and modes: conf/postfix-files. */
function makeQueue(path: (...names: string[]) => string): void {
  const idOf = (which: string): number => Number(execFileSync("id", [which, "postfix"], { encoding: "utf8" }));
  const [uid, gid] = [idOf("-u"), idOf("-g")];
  const groups = readFileSync("/etc/group", "utf8");
  const postdrop = Number(/^postdrop:[^:]*:(\d+):/m.exec(groups)?.[1] ?? gid);
  const own = "active bounce corrupt defer deferred flush hold incoming private saved trace".split(" ");
  mkdirSync(path("queue"));
  mkdirSync(path("queue", "pid"));
  mkdirSync(path("data"));
  chownSync(path("data"), uid, gid);
  for (const name of [...own, "public", "maildrop"]) {
    mkdirSync(path("queue", name));
    chownSync(path("queue", name), uid, own.includes(name) ? gid : postdrop);
    chmodSync(path("queue", name), own.includes(name) ? 0o700 : name === "public" ? 0o710 : 0o1730);
  }
}

/** https://www.postfix.org/postconf.5.html */
function mainConfig(options: PostfixOptions, path: (...names: string[]) => string): string {
  const { hostname, mailboxes, lmtpPort, saslPort, authority, prepends = [] } = options;
  const domains = new Set(mailboxes.map((address) => address.slice(address.indexOf("@") + 1)));
  return `
compatibility_level = 3.6
queue_directory = ${path("queue")}
data_directory = ${path("data")}
daemon_directory = ${DAEMONS}
maillog_file = ${path("log")}
maillog_file_prefixes = /
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
myhostname = ${hostname}
mydestination =
mynetworks =
alias_maps =
local_recipient_maps =
message_size_limit = 5242880
virtual_mailbox_domains = ${[...domains].join(", ")}
virtual_mailbox_maps = texthash:${path("etc", "mailboxes")}
virtual_transport = lmtp:inet:127.0.0.1:${lmtpPort}
default_transport = error:5.1.1 no relay from here
smtpd_relay_restrictions = permit_sasl_authenticated, reject_unauth_destination
${prepends.length > 0 ? `smtpd_sender_restrictions = check_sender_access regexp:${path("etc", "prepends")}` : ""}
smtpd_sasl_type = dovecot
smtpd_sasl_path = inet:127.0.0.1:${saslPort}
smtpd_sasl_auth_enable = yes
smtpd_client_connection_count_limit = 0
smtpd_error_sleep_time = 0
smtpd_tls_security_level = ${authority === undefined ? "none" : "may"}
${authority === undefined ? "" : `smtpd_tls_chain_files = ${authority.keyFile}, ${authority.certFile}\n`}
`;
}

/** master.cf.dist, without what nothing here uses and without chroot. */
function masterConfig(smtpPort: number, smtpsPort: number | undefined): string {
  const services = [
    `127.0.0.1:${smtpPort} inet n - n - - smtpd`,
    ...(smtpsPort === undefined ? [] : [`127.0.0.1:${smtpsPort} inet n - n - - smtpd -o smtpd_tls_wrappermode=yes`]),
    "pickup unix n - n 60 1 pickup",
    "cleanup unix n - n - 0 cleanup",
    "qmgr unix n - n 300 1 qmgr",
    "tlsmgr unix - - n 1000? 1 tlsmgr",
    "rewrite unix - - n - - trivial-rewrite",
    "bounce unix - - n - 0 bounce",
    "defer unix - - n - 0 bounce",
    "trace unix - - n - 0 bounce",
    "verify unix - - n - 1 verify",
    "proxymap unix - - n - - proxymap",
    "showq unix n - n - - showq",
    "error unix - - n - - error",
    "retry unix - - n - - error",
    "lmtp unix - - n - - lmtp",
    "anvil unix - - n - 1 anvil",
    "postlog unix-dgram n - n - 1 postlogd",
  ];
  return `${services.join("\n")}\n`;
}

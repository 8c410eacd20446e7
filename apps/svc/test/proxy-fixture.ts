/**
 * A real reverse proxy with TLS in front of an address, set up as docs/guide/public.md has it: the block of the page, with
 * another port and a certificate of the test's own.
 */
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { request, type RequestOptions } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { selfSigned } from "@svc/testkit/self-signed";

/** The name that the page gives the service. */
export const NAME = "agent.example.org";

export interface Proxy extends AsyncDisposable {
  readonly port: number;
  /** Certificate of whoever signed the proxy's own. */
  readonly authority: string;
  /** Sends to the proxy as a visitor does, by `NAME` and with the certificate checked. */
  send(path: string, options?: Sent): Promise<Answer>;
}

export interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

type Kind = "caddy" | "nginx";

/** Undefined where the program is not installed. */
export function installed(kind: Kind): boolean {
  try {
    execFileSync(kind, [kind === "caddy" ? "version" : "-v"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** `target`: host:port that the page's `127.0.0.1:42617` stands for. `change`: what another page makes of the block. */
export async function startProxy(
  kind: Kind,
  target: string,
  change: (block: string) => string = (block) => block,
): Promise<Proxy> {
  const folder = mkdtempSync(join(tmpdir(), `svc-${kind}-`));
  const port = await freePort();
  const page = change(blockOf(kind)).replaceAll("127.0.0.1:42617", target);
  const { args, authority } = kind === "caddy" ? caddy(folder, page, port) : nginx(folder, page, port);
  const child = spawn(kind, args, { stdio: "ignore", env: { PATH: process.env["PATH"], HOME: folder } });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const proxy: Proxy = {
    port,
    get authority() {
      return readFileSync(authority, "utf8");
    },
    send: (path, options) => send(port, readFileSync(authority), path, options),
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
  for (let tries = 0; tries < 1_200; tries += 1) {
    try {
      await proxy.send("/");
      return proxy;
    } catch {
      if (child.exitCode !== null) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  await proxy[Symbol.asyncDispose]();
  throw new Error(`${kind} did not start with the page's settings`);
}

/** The page's first block of this language. */
function blockOf(kind: Kind): string {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/guide/public.md"), "utf8");
  const block = new RegExp(`\`\`\`${kind === "caddy" ? "caddyfile" : "nginx"}\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1];
  if (!block) throw new Error(`docs/guide/public.md has no block for ${kind}`);
  return block;
}

/** Its own authority in place of Let's Encrypt. */
function caddy(folder: string, page: string, port: number): { args: string[]; authority: string } {
  const file = join(folder, "Caddyfile");
  const global = `{
	admin off
	https_port ${port}
	local_certs
	skip_install_trust
	auto_https disable_redirects
	storage file_system ${folder}/data
}
`;
  writeFileSync(file, global + page);
  const authority = join(folder, "data/pki/authorities/local/root.crt");
  return { args: ["run", "--config", file, "--adapter", "caddyfile"], authority };
}

function nginx(folder: string, page: string, port: number): { args: string[]; authority: string } {
  const certificate = join(folder, "fullchain.pem");
  const key = join(folder, "privkey.pem");
  const made = selfSigned(NAME);
  writeFileSync(key, made.key, { mode: 0o600 });
  writeFileSync(certificate, made.cert);
  const server = page
    .replace("listen 443 ssl;", `listen 127.0.0.1:${port} ssl;`)
    .replace(/^\s*listen \[::\]:443 ssl;\n/m, "")
    .replace(/ssl_certificate .*;/, `ssl_certificate ${certificate};`)
    .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${key};`);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  const paths = temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(" ");
  mkdirSync(join(folder, "logs"));
  // Started by root its workers are somebody else, who may not write into the test's folder.
  const user = process.getuid?.() === 0 ? "user root; " : "";
  writeFileSync(
    join(folder, "nginx.conf"),
    `${user}daemon off; pid ${folder}/pid; error_log ${folder}/logs/error.log; events {} http { access_log off; ${paths}\n${server}\n}`,
  );
  const args = ["-p", folder, "-c", join(folder, "nginx.conf"), "-e", `${folder}/logs/error.log`];
  return { args, authority: certificate };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

function send(port: number, ca: Buffer, path: string, { body, ...options }: Sent = {}): Promise<Answer> {
  const headers = { host: NAME, ...options.headers };
  const whole: RequestOptions = {
    ...options,
    headers,
    host: "127.0.0.1",
    port,
    path,
    servername: NAME,
    ca,
    agent: false,
  };
  return new Promise((resolve, reject) => {
    const sent = request(whole, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text })).on("error", reject);
    });
    sent.on("error", reject).end(body);
  });
}

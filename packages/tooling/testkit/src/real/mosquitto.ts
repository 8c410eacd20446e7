/** A real Mosquitto on loopback, and `mosquitto_pub` to publish with. It keeps its sessions over a restart. */
import { execFile, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { MissingPart } from "../require-real.ts";
import { temporaryHome } from "../temporary-home.ts";
import { type Daemon, startDaemon } from "./daemon.ts";
import { freePorts } from "./free-ports.ts";

export interface MosquittoOptions {
  /** Name and password of the one user. Default: everyone may connect. */
  readonly user?: readonly [name: string, password: string];
  /** PEM of its certificate: TLS is all it speaks then. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

export interface Mosquitto extends AsyncDisposable {
  readonly port: number;
  /** With QoS 1: resolves once the broker has it. */
  publish(
    topic: string,
    payload: string | Buffer,
    options?: { readonly retain?: boolean; readonly qos?: 0 | 1 | 2 },
  ): Promise<void>;
  /** Ends it as an operator does: it writes its sessions to disk. */
  stop(): Promise<void>;
  start(): Promise<void>;
  log(): string;
}

/** Debian puts the server where not every user's PATH looks. */
const SERVER = ["/usr/sbin/mosquitto", "/usr/local/sbin/mosquitto"].find(existsSync) ?? "mosquitto";

/** Undefined: all is there. */
export function missingMosquitto(): MissingPart | undefined {
  const isThere = [SERVER, "mosquitto_pub"].every((program) => spawnSync(program, ["--help"]).error === undefined);
  const reason = "not on PATH; apt-get install mosquitto mosquitto-clients";
  return isThere ? undefined : { name: "mosquitto", reason };
}

export async function startMosquitto({ user, tls }: MosquittoOptions = {}): Promise<Mosquitto> {
  const home = temporaryHome();
  const path = (name: string): string => join(home.path, name);
  const [port = 0] = await freePorts(1);
  if (tls) {
    writeFileSync(path("key.pem"), tls.key, { mode: 0o644 });
    writeFileSync(path("cert.pem"), tls.cert);
  }
  if (user) spawnSync("mosquitto_passwd", ["-b", "-c", path("passwords"), ...user]);
  const lines = [
    `listener ${port} 127.0.0.1`,
    ...(tls ? [`certfile ${path("cert.pem")}`, `keyfile ${path("key.pem")}`] : []),
    ...(user ? ["allow_anonymous false", `password_file ${path("passwords")}`] : ["allow_anonymous true"]),
    "persistence true",
    `persistence_location ${home.path}/`,
    `log_dest file ${path("log")}`,
    // Run by root it would become another user, who may not read this folder.
    ...(process.getuid?.() === 0 ? ["user root"] : []),
  ];
  writeFileSync(path("mosquitto.conf"), `${lines.join("\n")}\n`);
  const log = (): string => (existsSync(path("log")) ? readFileSync(path("log"), "utf8") : "");
  let daemon: Daemon | undefined;
  const start = async (): Promise<void> => {
    daemon = await startDaemon(SERVER, ["-c", path("mosquitto.conf")], { ports: [port], logs: log });
  };
  const stop = async (): Promise<void> => daemon?.stop();
  await start();
  return {
    port,
    log,
    start,
    stop,
    async publish(topic, payload, { retain = false, qos = 1 } = {}) {
      const file = path("payload");
      writeFileSync(file, payload);
      const content = payload.length === 0 ? ["-n"] : ["-f", file];
      const login = user ? ["-u", user[0], "-P", user[1]] : [];
      const trust = tls ? ["--cafile", path("cert.pem"), "-h", "localhost"] : ["-h", "127.0.0.1"];
      const where = [...trust, "-p", String(port), ...login, "-q", String(qos), "-t", topic];
      await promisify(execFile)("mosquitto_pub", [...where, ...(retain ? ["-r"] : []), ...content]);
    },
    async [Symbol.asyncDispose]() {
      await stop();
      home.remove();
    },
  };
}

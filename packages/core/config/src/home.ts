/** Where things live below `$SVC_HOME` (default `~/.svc`). */
import { homedir } from "node:os";
import { join, resolve } from "node:path";

export interface Home {
  readonly root: string;
  readonly config: string;
  readonly configSchema: string;
  readonly secretKey: string;
  readonly stateDir: string;
  readonly database: string;
  /** Files that no message was sent with yet. */
  readonly uploadsDir: string;
  readonly runDir: string;
  readonly lock: string;
  readonly controlSocket: string;
  readonly logsDir: string;
  readonly workspace: string;
}

export function homeOf(env: Readonly<Record<string, string | undefined>>): Home {
  const root = resolve(env["SVC_HOME"]?.trim() || join(homedir(), ".svc"));
  const stateDir = join(root, "state");
  const runDir = join(root, "run");
  return {
    root,
    config: join(root, "config.toml"),
    configSchema: join(root, "config.schema.json"),
    secretKey: join(root, ".secret_key"),
    stateDir,
    database: join(stateDir, "svc.db"),
    uploadsDir: join(stateDir, "uploads"),
    runDir,
    lock: join(runDir, "lock"),
    controlSocket: join(runDir, "control.sock"),
    logsDir: join(root, "logs"),
    workspace: join(root, "workspace"),
  };
}

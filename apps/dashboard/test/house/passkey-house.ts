/** A daemon of the build that has everything, as browsers use passkeys on it: by its name, not by its address. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { temporaryHome } from "@svc/testkit/temporary-home";
import type { Door } from "./person.ts";

export interface PasskeyHouse extends Door, AsyncDisposable {
  readonly home: string;
  readonly daemon: RunningBinary;
  /** A device of its own. */
  tokenOf(name: string, scope?: string): Promise<string>;
  /** As a program asks that says it is on this origin; default: the page's. */
  post(path: string, body: unknown, options?: { readonly token?: string; readonly origin?: string }): Promise<Response>;
  get<Answer>(path: string, token?: string): Promise<Answer>;
  /** In place of its config. */
  write(section: string): void;
  run(...args: readonly string[]): Promise<string>;
}

export interface PasskeyHouseOptions {
  /** Of the config. */
  readonly section?: string;
  /** Default: the build that has everything. */
  readonly binary?: string;
}

export const PASSKEYS_ON = "[security.webauthn]\nenabled = true\nsign_in = true\n";

export async function openPasskeyHouse(options: PasskeyHouseOptions = {}): Promise<PasskeyHouse> {
  const { section = PASSKEYS_ON, binary = fullestBinaryPath() } = options;
  const home = temporaryHome();
  const write = (text: string): void => writeFileSync(join(home.path, "config.toml"), text, { mode: 0o600 });
  write(section);
  const daemon = await startBinary({ home: home.path, binary });
  const token = await daemon.pair();
  const url = daemon.url.replace("127.0.0.1", "localhost");
  const run = async (...args: readonly string[]): Promise<string> => {
    const { stdout, stderr, code } = await runBinary(args, { home: home.path, binary });
    if (code !== 0) throw new Error(`svc ${args[0]} ended with ${code}: ${stderr}`);
    return stdout;
  };
  const pairingCode = async (...args: readonly string[]): Promise<string> =>
    /\b\d{6}\b/.exec(await run("pair", ...args))?.[0] ?? "";
  return {
    url,
    home: home.path,
    daemon,
    token,
    write,
    run,
    pairingCode,
    tokenOf: async (name, scope = "operator") => daemon.pair(await pairingCode("--name", name, "--scope", scope)),
    post: (path, body, { token: bearer, origin = url } = {}) =>
      daemon.request(path, {
        method: "POST",
        headers: { origin },
        body: body as object,
        ...(bearer !== undefined && { token: bearer }),
      }),
    async get(path, bearer = token) {
      const response = await daemon.request(path, { token: bearer });
      if (!response.ok) throw new Error(`${path} was answered ${response.status}`);
      return (await response.json()) as never;
    },
    async [Symbol.asyncDispose]() {
      await daemon.close();
      home.remove();
    },
  };
}

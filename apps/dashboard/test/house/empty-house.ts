/** The built binary in a home with nothing in it but a free port: what a person has after the installation. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { temporaryHome } from "@svc/testkit/temporary-home";
import type { Door } from "./person.ts";

export interface EmptyHouse extends Door, AsyncDisposable {
  readonly home: string;
}

export async function openEmptyHouse(config = ""): Promise<EmptyHouse> {
  const home = temporaryHome();
  writeFileSync(join(home.path, "config.toml"), `# of the house\n[gateway]\nport = 0\n${config}`, { mode: 0o600 });
  const daemon = await startBinary({ home: home.path });
  return {
    url: daemon.url,
    token: await daemon.pair(),
    home: home.path,
    async pairingCode(...options) {
      const { stdout } = await runBinary(["pair", ...options], { home: home.path });
      return /\b\d{6}\b/.exec(stdout)?.[0] ?? "";
    },
    async [Symbol.asyncDispose]() {
      await daemon.close();
      home.remove();
    },
  };
}
